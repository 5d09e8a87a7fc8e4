import { plainLine } from '../../core/plain-text.js'
import { print, printJson } from '../terminal/terminal.js'
import { ConfigProblem } from './config-entry.js'
import { nameFile, readConfigFile, removeEntries } from './config-file.js'
import { CONNECT_KINDS } from './connect-kinds.js'
import { type ConnectOptions, findConnectStateDir, findWorkspace } from './connect-place.js'
import { type ConnectionRecord, type RecordedFile, readConnectionRecord } from './connection-record.js'

type FileState = 'as_written' | 'changed' | 'removed' | 'missing' | 'unreadable'

/** How an agent CLI is bound in a repository by its configuration. */
export interface ConnectStatus {
  readonly cli: string
  /** Null: not connected from here. */
  readonly binding: 'project' | 'managed' | null
  readonly mode: string | null
  readonly since: string | null
  readonly version: string | null
  /** `changed`: somebody changed the file, and our entries are still in it. `removed`: they are not. */
  readonly files: readonly { readonly file: string; readonly state: FileState }[]
}

export function showConnectStatus(options: ConnectOptions): void {
  const workspace = findWorkspace(options)
  const all = listConnectStatus(workspace, findConnectStateDir(options, workspace))
  if (options.json === true) printJson({ workspace, connections: all })
  else print(all.map((status) => formatStatus(status, workspace)).join('\n'))
}

export function listConnectStatus(workspace: string, stateDir: string): readonly ConnectStatus[] {
  return CONNECT_KINDS.map(({ name }) => {
    const record = readConnectionRecord(stateDir, name)
    if (record === null) return { cli: name, binding: null, mode: null, since: null, version: null, files: [] }
    return {
      cli: name,
      binding: record.isManaged ? 'managed' : 'project',
      ...{ mode: record.mode, since: record.at, version: record.version },
      files: record.files.map((file) => ({ file: file.file, state: findFileState(record, file, workspace) })),
    }
  })
}

function findFileState(record: ConnectionRecord, recorded: RecordedFile, workspace: string): FileState {
  try {
    const now = readConfigFile(recorded.file, record.isManaged ? '/' : workspace)
    if (now === null) return 'missing'
    if (now === recorded.after) return 'as_written'
    // Entries that could be removed are there, and all of them: adding them again would change nothing.
    const without = removeEntries(recorded, now, recorded.before)
    return without === now ? 'removed' : 'changed'
  } catch (error) {
    if (error instanceof ConfigProblem) return 'unreadable'
    throw error
  }
}

const WORDS: Readonly<Record<FileState, string>> = {
  as_written: 'as written',
  changed: 'changed by somebody',
  removed: 'changed by somebody; the entries of Phaselock are gone',
  missing: 'missing',
  unreadable: 'cannot be read',
}

function formatStatus({ cli, binding, mode, since, files }: ConnectStatus, workspace: string): string {
  if (binding === null) return `${cli}: not connected`
  const lines = files.map(({ file, state }) => `  ${plainLine(nameFile(file, workspace))}: ${WORDS[state]}`)
  return [`${cli}: ${binding}, ${mode}, since ${since}`, ...lines].join('\n')
}
