import { stat } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import type { Contract } from '../../core/contract/contract.js'
import type { Json, JsonObject } from '../../core/json.js'
import { checkEvidence } from '../check/check-evidence.js'
import { checkGates } from '../check/check-gates.js'
import { checkGraph } from '../check/check-graph.js'
import { checkOpenable } from '../check/check-openable.js'
import { checkPrompts } from '../check/check-prompts.js'
import { checkTools } from '../check/check-tools.js'
import { compileDocument } from '../compile/compile-document.js'
import { type Diagnostic, type Place, sortDiagnostics } from '../diagnostic.js'
import type { ContractDocument } from '../document.js'
import { attachDocuments, attachSources } from '../documents/attach.js'
import { isWorkflowText } from '../documents/detect.js'
import { readWorkflowFolder, readWorkflowText, type Workflow } from '../documents/workflow.js'
import { type BaseFile, extendContract } from '../extend/extend-contract.js'
import { expandToolGroups } from '../extend/tool-groups.js'
import { hashJson, toCanonicalJson } from '../fingerprint.js'
import { findUnenforced } from '../not-enforced.js'
import { type ReadContract, readContract } from '../read/read-contract.js'
import { Reading } from '../read/reading.js'
import { type FileLookup, getCodeOfReason, makeFileLookup, readBounded } from './bounded-files.js'
import { mapPositions } from './positions.js'
import { resolveGuides } from './resolve-guides.js'
import { resolveSchemas } from './resolve-schemas.js'
import { parseSource } from './yaml.js'

export type { Diagnostic } from '../diagnostic.js'

export interface LoadedContract {
  readonly ok: true
  readonly contract: Contract
  /** The canonical document: what is stored, hashed and compiled again. */
  readonly document: JsonObject
  readonly warnings: Diagnostic[]
  readonly file: string
  /** The position of each part of the document in the file, by its path in the document. */
  readonly positions: ReadonlyMap<string, Place>
  /** Schemas and guides that were looked up next to the file, relative to its folder, including missing ones. */
  readonly parts: readonly string[]
  /** What it extends, directly or not. */
  readonly bases: readonly BaseFile[]
}

interface RefusedContract {
  readonly ok: false
  /** All errors and warnings, in the order of the file. */
  readonly diagnostics: Diagnostic[]
}

export type LoadResult = LoadedContract | RefusedContract

interface LoadOptions {
  /** The name that diagnostics carry. */
  readonly file: string
  /** Where schema and guide files are looked up; null: nowhere (for a contract sent to the server). */
  readonly baseDir: string | null
}

/**
 * Loads a contract: a YAML or JSON file, a Markdown file with phases, or the folder of a workflow of documents. Schemas
 * are looked up next to it, then inline, then in `schemas_dir`, then among the built-in ones.
 */
export async function loadContractFile(path: string): Promise<LoadResult> {
  if (await isFolder(path)) return loadFolder(path)
  const file = await readBounded(path)
  if (file.status === 'text') return loadContractText(file.text, { file: path, baseDir: dirname(path) })
  const reading = new Reading(path)
  const reason = file.status === 'refused' ? file.reason : 'there is no such file'
  reading.report({
    code: getCodeOfReason(reason),
    at: { line: 1, column: 1, path: '' },
    message: `${basename(path)} cannot be loaded: ${reason}.`,
  })
  return { ok: false, diagnostics: reading.diagnostics }
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory()
  } catch {
    // Opening it reports the reason.
    return false
  }
}

async function loadFolder(path: string): Promise<LoadResult> {
  const reading = new Reading(path)
  const workflow = await readWorkflowFolder(path, reading.report)
  const draft = workflow === null ? null : await interpretWorkflow(reading, workflow, path)
  return toLoadResult(reading, draft)
}

/** Loads a contract from its text. Never throws because of the text. */
export async function loadContractText(text: string, options: LoadOptions): Promise<LoadResult> {
  const reading = new Reading(options.file)
  return toLoadResult(reading, await interpretText(reading, text, options.baseDir))
}

function toLoadResult(reading: Reading, draft: ContractDocument | null): LoadResult {
  const diagnostics = sortDiagnostics(reading.diagnostics)
  if (draft === null || reading.hasErrors) return { ok: false, diagnostics }
  const document = JSON.parse(toCanonicalJson(draft as unknown as Json)) as JsonObject
  return {
    ok: true,
    contract: compileDocument(document, hashJson(document)),
    document,
    warnings: diagnostics,
    file: reading.file,
    positions: mapPositions(reading, draft),
    parts: [...reading.lookups],
    bases: reading.bases,
  }
}

async function interpretText(reading: Reading, text: string, baseDir: string | null): Promise<ContractDocument | null> {
  if (isWorkflowText(text, reading.file)) {
    const workflow = readWorkflowText(text, reading.file, reading.report)
    return workflow === null ? null : interpretWorkflow(reading, workflow, baseDir)
  }
  const source = parseSource(text, reading.report)
  const whole = source === null ? null : await extendContract(reading, source, baseDir)
  const read = whole === null ? null : readContract(reading, whole)
  if (read === null) return null
  await attachSources(reading, read.document, baseDir)
  return complete(reading, read, baseDir)
}

async function interpretWorkflow(
  reading: Reading,
  workflow: Workflow,
  baseDir: string | null,
): Promise<ContractDocument | null> {
  const read = readContract(reading, expandToolGroups(workflow.root, reading.report))
  if (read === null) return null
  await attachDocuments(reading, read.document, workflow.phases)
  return complete(reading, read, baseDir)
}

async function complete(reading: Reading, read: ReadContract, baseDir: string | null): Promise<ContractDocument> {
  const beside = makeFileLookup(baseDir)
  const files: FileLookup = (path) => {
    reading.lookups.add(path)
    return beside(path)
  }
  await resolveSchemas(reading, read, files)
  await resolveGuides(reading, read, files)
  const { document } = read
  checkGraph(reading, document)
  checkGates(reading, document)
  checkEvidence(reading, document)
  checkOpenable(reading, document)
  checkTools(reading, document)
  checkPrompts(reading, document)
  for (const { made, key, feature } of findUnenforced(document)) {
    const message = `This version reads ${feature} but does not enforce it.`
    reading.reportAt('contract.not_enforced_yet', [made, key], message)
  }
  return document
}
