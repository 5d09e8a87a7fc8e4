import { basename, dirname } from 'node:path'
import type { Contract, Json, JsonObject } from '../core/contract.js'
import { checkGates } from './check-gates.js'
import { checkGraph } from './check-graph.js'
import { checkPrompts } from './check-prompts.js'
import { checkTools } from './check-tools.js'
import { compileDocument } from './compile.js'
import type { ContractCode, Diagnostic, Place } from './diagnostic.js'
import { inFileOrder } from './diagnostic.js'
import type { ContractDocument } from './document.js'
import { filesBelow, readBounded } from './files.js'
import { canonicalJson, fingerprint } from './fingerprint.js'
import { findUnenforced } from './not-enforced.js'
import { positionsOf } from './positions.js'
import { readContract } from './read-contract.js'
import { Reading } from './reading.js'
import { resolveGuides } from './resolve-guides.js'
import { resolveSchemas } from './resolve-schemas.js'
import { parseSource } from './yaml.js'

export type { Diagnostic } from './diagnostic.js'

export interface LoadedContract {
  readonly ok: true
  readonly contract: Contract
  /** The canonical document: what is stored, hashed and compiled again. */
  readonly document: JsonObject
  readonly warnings: Diagnostic[]
  readonly file: string
  /** Where each part of the document stands in the file, by its path in the document. */
  readonly positions: ReadonlyMap<string, Place>
}

export interface RefusedContract {
  readonly ok: false
  /** All errors and warnings, in the order of the file. */
  readonly diagnostics: Diagnostic[]
}

export type LoadResult = LoadedContract | RefusedContract

export interface LoadOptions {
  /** The name that diagnostics carry. */
  readonly file: string
  /** Where schema and guide files are looked up; null: nowhere (a contract that came over the wire). */
  readonly baseDir: string | null
}

/** Loads a contract file. Schemas are looked up beside it, then inline, then in `schemas_dir`, then among the built-in ones. */
export async function loadContractFile(path: string): Promise<LoadResult> {
  const file = await readBounded(path)
  if (file.status === 'text') return loadContractText(file.text, { file: path, baseDir: dirname(path) })
  const reading = new Reading(path)
  const reason = file.status === 'refused' ? file.reason : 'there is no such file'
  reading.report({
    code: codeOfReason(reason),
    at: { line: 1, column: 1, path: '' },
    message: `${basename(path)} cannot be loaded: ${reason}.`,
  })
  return { ok: false, diagnostics: reading.diagnostics }
}

function codeOfReason(reason: string): ContractCode {
  if (reason.includes('larger')) return 'contract.too_large'
  return reason.includes('UTF-8') ? 'contract.not_utf8' : 'contract.unreadable'
}

/** Loads a contract from its text. Never throws for anything the text says. */
export async function loadContractText(text: string, options: LoadOptions): Promise<LoadResult> {
  const reading = new Reading(options.file)
  const draft = await understand(reading, text, options.baseDir)
  const diagnostics = inFileOrder(reading.diagnostics)
  if (draft === null || reading.hasErrors) return { ok: false, diagnostics }
  const document = JSON.parse(canonicalJson(draft as unknown as Json)) as JsonObject
  return {
    ok: true,
    contract: compileDocument(document, fingerprint(document)),
    document,
    warnings: diagnostics,
    file: options.file,
    positions: positionsOf(reading, draft),
  }
}

async function understand(reading: Reading, text: string, baseDir: string | null): Promise<ContractDocument | null> {
  const source = parseSource(text, reading.report)
  if (source === null) return null
  const read = readContract(reading, source)
  if (read === null) return null
  const files = filesBelow(baseDir)
  await resolveSchemas(reading, read, files)
  await resolveGuides(reading, read, files)
  const { document } = read
  checkGraph(reading, document)
  checkGates(reading, document)
  checkTools(reading, document)
  checkPrompts(reading, document)
  for (const { made, key, feature } of findUnenforced(document)) {
    const message = `This version reads ${feature} but does not enforce it.`
    reading.report({ ...reading.about(made, key, 'contract.not_enforced_yet'), message })
  }
  return document
}
