import { EXIT, Stop } from '../exit.js'
import { mustConfirm, print, printJson } from '../terminal/terminal.js'
import type { ConfigEntry } from './config-entry.js'
import {
  checkConfig,
  checkWritable,
  nameFile,
  readConfigFile,
  removeConfigFile,
  removeEntries,
  writeConfigFile,
} from './config-file.js'
import { explain, type FileChange } from './connect.js'
import type { ConnectKind } from './connect-kind.js'
import { findConnectKind } from './connect-kinds.js'
import { type ConnectOptions, chooseProgram, findConnectStateDir, findWorkspace } from './connect-place.js'
import { formatChanges } from './connect-text.js'
import { type ConnectionRecord, readConnectionRecord, removeConnectionRecord } from './connection-record.js'

/** Takes Phaselock out of the configuration again: the files as they were, or without our entries. */
export async function runDisconnect(name: string, options: ConnectOptions): Promise<void> {
  const kind = findConnectKind(name)
  const workspace = findWorkspace(options)
  const stateDir = findConnectStateDir(options, workspace)
  const record = readConnectionRecord(stateDir, kind.name)
  const changes = (record === null ? planWithoutRecord(kind, workspace) : planFromRecord(record, workspace)).filter(
    ({ before, after }) => before !== after,
  )
  if (changes.length === 0 && record === null)
    throw new Stop(EXIT.refused, `${kind.title} is not connected in ${workspace}.`)
  if (options.json !== true)
    print(formatChanges(changes, workspace, `Nothing of Phaselock is left in the files of ${kind.title}`))
  if (options.dryRun === true) return report(options, { kind, workspace, changes, isDone: false })
  if (options.yes !== true && changes.length > 0)
    await mustConfirm('Change these files?', {
      unasked: 'Nobody can be asked here, and nothing was changed. Look at the changes with --dry-run, then add --yes.',
      no: 'Nothing was changed.',
    })
  for (const { plan, after } of changes) {
    const made = record?.files.find((one) => one.file === plan.file)?.made ?? []
    explain(plan.file, workspace, () =>
      after === null ? removeConfigFile(plan.file, made) : writeConfigFile(plan.file, after),
    )
  }
  removeConnectionRecord(stateDir, kind.name)
  report(options, { kind, workspace, changes, isDone: true })
}

function planFromRecord({ files, isManaged }: ConnectionRecord, workspace: string): readonly FileChange[] {
  return files.map((recorded) =>
    explain(recorded.file, workspace, () => {
      const now = readConfigFile(recorded.file, isManaged ? '/' : workspace)
      const plan = recorded
      if (now === null) return { plan, before: null, after: null }
      if (now === recorded.after) {
        if (now !== recorded.before) checkWritable(recorded.file)
        return { plan, before: now, after: recorded.before }
      }
      // Somebody changed it since: only our entries go.
      checkConfig(recorded, now)
      checkWritable(recorded.file)
      return { plan, before: now, after: removeEntries(recorded, now, recorded.before) }
    }),
  )
}

// Another clone, or another machine: what Phaselock writes is recognised; lists of names stay, they may be the team's.
function planWithoutRecord(kind: ConnectKind, workspace: string): readonly FileChange[] {
  const { program } = chooseProgram()
  const plans = [false, true].flatMap((isManaged) =>
    isManaged && kind.managedFolder === null
      ? []
      : kind.modes.flatMap((mode) => kind.plan({ workspace, program, mode, isManaged })),
  )
  const files = [...new Set(plans.map(({ file }) => file))]
  return files.map((file) => {
    const ofFile = plans.filter((plan) => plan.file === file)
    const entries = ofFile.flatMap((plan) => plan.entries).filter(isRecognisable)
    const plan = { file, format: ofFile[0]?.format ?? 'json', entries } as const
    return explain(file, workspace, () => {
      const before = readConfigFile(file, file.startsWith('/etc/') ? '/' : workspace)
      if (before === null) return { plan, before, after: before }
      checkConfig(plan, before)
      const after = removeEntries(plan, before, undefined)
      if (after !== before) checkWritable(file)
      return { plan, before, after }
    })
  })
}

function isRecognisable(entry: ConfigEntry): boolean {
  return entry.kind === 'add' ? entry.mark !== null : JSON.stringify(entry).includes('phaselock')
}

function report(
  options: ConnectOptions,
  done: { kind: ConnectKind; workspace: string; changes: readonly FileChange[]; isDone: boolean },
): void {
  const { kind, workspace, changes, isDone } = done
  if (options.json === true)
    printJson({ cli: kind.name, workspace, written: isDone, files: changes.map(({ plan }) => plan.file) })
  else if (isDone)
    print(
      `${kind.title} is disconnected in ${workspace}.${changes.length === 0 ? '' : ` Changed: ${changes.map(({ plan }) => nameFile(plan.file, workspace)).join(', ')}`}`,
    )
}
