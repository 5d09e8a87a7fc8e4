import { readFileSync, statSync } from 'node:fs'
import { CONTRACT_CODES, type Place, type Report } from '../../contract/diagnostic.js'
import { BYTES_MAX, parseSource, type SourceNode } from '../../contract/load/yaml.js'
import { findNearest } from '../../contract/nearest.js'
import { isObject, type Json, type JsonObject } from '../../core/json.js'
import { plainLine } from '../../core/plain-text.js'
import { EXIT, problemOf, Stop } from '../exit.js'

const KEYS = ['agents', 'options'] as const
const PROBLEMS_MAX = 100

/** A council file: its content and the positions in it. */
export interface Council {
  readonly file: string
  readonly agents: Json
  readonly options: JsonObject
  readonly placeOf: (path: string) => Place | null
}

/** One problem of a council, and how to fix it. */
interface CouncilProblem {
  readonly path: string
  readonly message: string
  readonly remedy: string
}

/** The problem in the server's words. */
type Found = Partial<CouncilProblem> & { readonly field?: string }

/** Reads a council file. The server validates its agents and options. */
export function readCouncil(file: string): Council {
  const problems: (CouncilProblem & { readonly at: Place })[] = []
  const report = (one: Report): void => {
    if (problems.length >= PROBLEMS_MAX) return
    const remedy = one.remedy ?? CONTRACT_CODES[one.code].remedy
    problems.push({
      at: one.at,
      path: one.at.path,
      message: rewordForCouncils(one.message),
      remedy: rewordForCouncils(remedy),
    })
  }
  const root = parseSource(readFileText(file), report)
  if (root !== null && root.kind !== 'map')
    report({ code: 'contract.wrong_type', at: root.at, message: 'Expected a map with agents and options.' })
  if (root?.kind === 'map')
    for (const [key, { keyAt }] of root.entries) {
      if (KEYS.some((known) => known === key) || key.startsWith('x-')) continue
      const meant = findNearest(key, KEYS)
      const hint = meant === null ? '' : ` Did you mean '${meant}'?`
      report({ code: 'contract.unknown_key', at: keyAt, message: `The key '${key}' is not known here.${hint}` })
    }
  if (root === null || problems.length > 0) throw stopWithProblems(file, problems)
  const said = toJson(root) as JsonObject
  return {
    file,
    agents: said.agents ?? null,
    options: requireObject(said.options, file),
    placeOf: (path) => findPlace(root, path),
  }
}

/**
 * The problems that the server found in the council, each with its place in the file; null when the answer is about
 * something else.
 */
export function explainCouncilStop(council: Council, stop: Stop): Stop | null {
  const { errors = [], problems: more = [] } = (problemOf(stop) ?? {}) as Readonly<Record<string, readonly Found[]>>
  const problems = [...errors, ...more].slice(0, PROBLEMS_MAX).map(({ path: named, field, message, remedy }) => {
    const path = named || field || ''
    return { path, message: message ?? '', remedy: remedy ?? '', at: council.placeOf(path) }
  })
  if (problems.length === 0 || !problems.some(({ path }) => /^(agents|options)\b/.test(path))) return null
  return stopWithProblems(council.file, problems)
}

function readFileText(file: string): string {
  try {
    const { size } = statSync(file)
    if (size > BYTES_MAX) throw new Stop(EXIT.usage, `${file} is larger than ${BYTES_MAX} bytes.`)
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(file))
  } catch (error) {
    if (error instanceof Stop) throw error
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') throw new Stop(EXIT.usage, `${file} is not UTF-8 text.`)
    throw new Stop(EXIT.usage, `The council file ${file} cannot be read (${code ?? 'fault'}).`)
  }
}

function requireObject(value: Json | undefined, file: string): JsonObject {
  if (value === undefined || value === null) return {}
  if (isObject(value)) return value
  throw new Stop(EXIT.usage, `${file}: options must be a map such as {novelty: balanced}.`)
}

function stopWithProblems(file: string, problems: readonly (CouncilProblem & { readonly at: Place | null })[]): Stop {
  const lines = problems.map(({ at, path, message, remedy }) => {
    const where = at === null ? file : `${file}:${at.line}:${at.column}`
    const what = path === '' ? message : `${path}: ${message}`
    return plainLine(`${where}: ${what} ${remedy}`)
  })
  const told = problems.map(({ at, path, message, remedy }) => ({
    ...{ file, line: at?.line ?? null, column: at?.column ?? null },
    ...{ path, message, remedy },
  }))
  return new Stop(EXIT.usage, lines.join('\n'), { problems: told })
}

// The YAML reader's messages mention contracts, because it was made for them.
function rewordForCouncils(text: string): string {
  return text
    .replace('Write a contract with name, version and phases.', 'Write agents: and a list of them.')
    .replaceAll('The contract', 'The council file')
    .replaceAll('the contract', 'the council file')
    .replaceAll('contracts are', 'council files are')
    .replaceAll('one contract per file', 'one council per file')
}

function toJson(node: SourceNode): Json {
  if (node.kind === 'scalar') return node.value
  if (node.kind === 'list') return node.items.map(toJson)
  return Object.fromEntries([...node.entries].map(([key, { value }]) => [key, toJson(value)]))
}

/** The place of `agents[0].script` or `agents.0.script`, or of the nearest existing parent. */
function findPlace(root: SourceNode, path: string): Place | null {
  const parts = path.replace(/\[(\d+)\]/g, '.$1').split('.')
  let node: SourceNode | undefined = root
  let place: Place | null = null
  for (const part of parts.filter((one) => one !== '')) {
    if (node?.kind === 'map') {
      const entry = node.entries.get(part)
      place = entry?.keyAt ?? place
      node = entry?.value
    } else if (node?.kind === 'list') {
      node = node.items[Number(part)]
      place = node?.at ?? place
    } else break
    if (node === undefined) break
  }
  return place
}
