import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { writeFileAtomically } from '../../base/atomic-file.js'
import { isObject, type Json } from '../../core/json.js'
import type { ConfigEntry, ConfigFormat } from './config-entry.js'
import type { BindingMode } from './connect-kind.js'

/** One file as `connect` found it and left it. */
export interface RecordedFile {
  readonly file: string
  readonly format: ConfigFormat
  /** The text before; null: there was no file. */
  readonly before: string | null
  readonly after: string
  /** Folders that were made for it, outermost first. */
  readonly made: readonly string[]
  readonly entries: readonly ConfigEntry[]
}

/** What `connect` wrote, so that it can be undone and compared. */
export interface ConnectionRecord {
  readonly cli: string
  readonly mode: BindingMode
  readonly isManaged: boolean
  readonly version: string
  readonly at: string
  readonly files: readonly RecordedFile[]
}

/** In the state directory: the agent cannot reach it with Phaselock's tools. */
function getRecordFile(stateDir: string, cli: string): string {
  return join(stateDir, 'connected', `${cli}.json`)
}

export function writeConnectionRecord(stateDir: string, record: ConnectionRecord): void {
  const file = getRecordFile(stateDir, record.cli)
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  writeFileAtomically(file, `${JSON.stringify(record)}\n`)
}

/** Null: there is none, or it cannot be read. */
export function readConnectionRecord(stateDir: string, cli: string): ConnectionRecord | null {
  try {
    const value = JSON.parse(readFileSync(getRecordFile(stateDir, cli), 'utf8')) as Json
    return isObject(value) && value.cli === cli && Array.isArray(value.files)
      ? (value as unknown as ConnectionRecord)
      : null
  } catch {
    // Missing or damaged: then only what is recognised in the files counts.
    return null
  }
}

export function removeConnectionRecord(stateDir: string, cli: string): void {
  rmSync(getRecordFile(stateDir, cli), { force: true })
}
