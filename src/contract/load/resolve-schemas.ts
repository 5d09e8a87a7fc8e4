import { basename, join } from 'node:path/posix'
import type { Json, JsonObject } from '../../core/json.js'
import { findBuiltInSchemas } from '../bundled-contracts.js'
import { findSchemaProblems } from '../check/schema-problems.js'
import type { Place } from '../diagnostic.js'
import type { ArtifactDocument } from '../document.js'
import type { ReadContract } from '../read/read-contract.js'
import type { Reading } from '../read/reading.js'
import { type FileLookup, type FileText, makeFileLookup } from './bounded-files.js'
import type { SourceNode } from './yaml.js'

const DEPTH_MAX = 64

/**
 * Puts every schema that an artifact names into the document: from next to the contract, inline, from schemas_dir, or
 * built in.
 */
export async function resolveSchemas(reading: Reading, read: ReadContract, files: FileLookup): Promise<void> {
  const { document } = read
  const schemas: Record<string, JsonObject | boolean> = Object.create(null)
  const seen = new Set<string>()
  const usedInline = new Set<string>()
  for (const artifact of document.phases.flatMap((phase) => phase.required_artifacts)) {
    const name = artifact.schema
    if (name === undefined || name === '' || seen.has(name)) continue
    seen.add(name)
    const found = await findSchema(reading, read, files, artifact)
    if (found === null) continue
    schemas[name] = found.schema
    if (found.inlineName !== null) usedInline.add(found.inlineName)
  }
  document.schemas = schemas
  for (const [name, node] of read.inlineSchemas) {
    if (usedInline.has(name)) continue
    reportInline(reading, node)
    const named = [...seen].some((path) => path === name || basename(path) === name)
    const message = named
      ? `A schema file of that name is used instead of this one.`
      : `No artifact names the schema '${name}'.`
    reading.report({ code: 'contract.effect_differs', at: node.at, message })
  }
}

interface FoundSchema {
  readonly schema: JsonObject | boolean
  readonly inlineName: string | null
}

async function findSchema(
  reading: Reading,
  read: ReadContract,
  files: FileLookup,
  artifact: ArtifactDocument,
): Promise<FoundSchema | null> {
  const path = artifact.schema ?? ''
  const at = reading.place(artifact, 'schema')
  const beside = await files(path)
  if (beside.status !== 'absent') return readFileSchema(reading, at, path, beside)
  const inlineName = [path, basename(path)].find((name) => read.inlineSchemas.has(name))
  const inline = inlineName === undefined ? undefined : read.inlineSchemas.get(inlineName)
  if (inline !== undefined && inlineName !== undefined) {
    const schema = reportInline(reading, inline)
    return schema === null ? null : { schema, inlineName }
  }
  if (read.schemasDir !== null) {
    for (const candidate of [join(read.schemasDir, path), join(read.schemasDir, basename(path))]) {
      const file = await files(candidate)
      if (file.status !== 'absent') return readFileSchema(reading, at, candidate, file)
    }
  }
  const builtIn = await makeFileLookup(findBuiltInSchemas())(basename(path))
  if (builtIn.status === 'text') return readFileSchema(reading, at, path, builtIn)
  reading.report({
    code: 'contract.missing_schema',
    at,
    message: `The schema '${path}' does not exist.`,
    remedy:
      'Add the file beside the contract, or an entry under schemas. Built in: plan, scope, tests, test_result, implementation, review and completion.json.',
  })
  return null
}

function readFileSchema(reading: Reading, at: Place, path: string, file: FileText): FoundSchema | null {
  if (file.status === 'refused')
    reading.report({ code: 'contract.missing_schema', at, message: `The schema '${path}' is refused: ${file.reason}.` })
  if (file.status !== 'text') return null
  const parsed = parseJson(file.text)
  if (!parsed.ok) {
    reading.report({
      code: 'contract.invalid_schema',
      at,
      message: `The schema '${path}' is not JSON: ${parsed.reason}.`,
    })
    return null
  }
  const problems = findSchemaProblems(parsed.value)
  for (const problem of problems) {
    const pointer = problem.path.map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
    reading.report({
      code: problem.code,
      at,
      message: `In ${path}${pointer === '' ? '' : `#${pointer}`}: ${problem.message}`,
    })
  }
  return problems.length > 0 ? null : { schema: parsed.value as JsonObject | boolean, inlineName: null }
}

function reportInline(reading: Reading, node: SourceNode): JsonObject | boolean | null {
  const schema = reading.toJson(node)
  const problems = findSchemaProblems(schema)
  for (const problem of problems)
    reading.report({ code: problem.code, at: placeBelow(node, problem.path), message: problem.message })
  return problems.length > 0 ? null : (schema as JsonObject | boolean)
}

function placeBelow(node: SourceNode, path: readonly string[]): Place {
  let current = node
  for (const key of path) {
    const next: SourceNode | undefined =
      current.kind === 'map'
        ? current.entries.get(key)?.value
        : current.kind === 'list'
          ? current.items[Number(key)]
          : undefined
    if (next === undefined) break
    current = next
  }
  return current.at
}

type ParsedJson = { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly reason: string }

function parseJson(text: string): ParsedJson {
  try {
    const value = JSON.parse(text.startsWith('\uFEFF') ? text.slice(1) : text) as Json
    return isTooDeep(value, 0) ? { ok: false, reason: `nested more than ${DEPTH_MAX} levels` } : { ok: true, value }
  } catch (cause) {
    return { ok: false, reason: cause instanceof Error ? cause.message : String(cause) }
  }
}

function isTooDeep(value: Json, depth: number): boolean {
  if (depth > DEPTH_MAX) return true
  if (value === null || typeof value !== 'object') return false
  return Object.values(value).some((member) => isTooDeep(member, depth + 1))
}
