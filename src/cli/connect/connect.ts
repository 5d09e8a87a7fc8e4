import { plainText } from '../../core/plain-text.js'
import { EXIT, Stop } from '../exit.js'
import { findAgentCli, requireVersion } from '../launch/find-agent-cli.js'
import { findProgramName } from '../program-name.js'
import { mustConfirm, print, printJson } from '../terminal/terminal.js'
import { type ConfigPlan, ConfigProblem } from './config-entry.js'
import { addEntries, checkWritable, nameFile, readConfigFile, removeEntries, writeConfigFile } from './config-file.js'
import type { ConnectKind, ConnectPlace } from './connect-kind.js'
import { findConnectKind } from './connect-kinds.js'
import { type ConnectOptions, chooseMode, chooseProgram, findConnectStateDir, findWorkspace } from './connect-place.js'
import { formatChanges } from './connect-text.js'
import {
  type ConnectionRecord,
  type RecordedFile,
  readConnectionRecord,
  writeConnectionRecord,
} from './connection-record.js'

/** A file as it is and as it shall be. */
export interface FileChange {
  readonly plan: ConfigPlan
  readonly before: string | null
  readonly after: string | null
}

/** Binds an agent CLI in this repository by its configuration. The difference is shown first. */
export async function runConnect(name: string, options: ConnectOptions): Promise<void> {
  const kind = findConnectKind(name)
  const mode = chooseMode(kind, options)
  const isManaged = options.managed === true
  if (isManaged && kind.managedFolder === null)
    throw new Stop(EXIT.refused, `${kind.title} has no managed configuration that holds this binding.`)
  const found = findAgentCli(kind)
  requireVersion(kind, found, { least: kind.least[mode], what: `the binding --${mode}` })
  const workspace = findWorkspace(options)
  const { program, isPortable } = chooseProgram()
  const place: ConnectPlace = { workspace, program, mode, isManaged }
  const stateDir = findConnectStateDir(options, workspace)
  const record = readConnectionRecord(stateDir, kind.name)
  const changes = planChanges(kind, place, record)
  const changed = changes.filter(({ before, after }) => before !== after)
  if (options.json !== true) print(formatChanges(changed, workspace, `${kind.title} is connected already`))
  if (options.dryRun === true || changed.length === 0) return report(options, { kind, place, changed, isDone: false })
  if (options.yes !== true)
    await mustConfirm(`Write ${changed.length === 1 ? 'this file' : `these ${changed.length} files`}?`, {
      unasked: 'Nobody can be asked here, and nothing was written. Look at the changes with --dry-run, then add --yes.',
      no: 'Nothing was written.',
    })
  const files = writeChanges(changes, { workspace, record })
  writeConnectionRecord(stateDir, {
    ...{ cli: kind.name, mode, isManaged, version: found.version, at: new Date().toISOString(), files },
  })
  report(options, { kind, place, changed, isDone: true })
  if (options.json === true) return
  if (!isPortable) print(`phaselock is not on the PATH: the entries name ${program}, which works on this machine only.`)
  for (const note of kind.notes(place)) print(note)
  print(`Try it: ${findProgramName()} doctor --agents   Undo it: ${findProgramName()} disconnect ${kind.name}`)
}

function planChanges(kind: ConnectKind, place: ConnectPlace, record: ConnectionRecord | null): readonly FileChange[] {
  return kind.plan(place).map((plan) => {
    const root = place.isManaged ? '/' : place.workspace
    return explain(plan.file, place.workspace, () => {
      const before = readConfigFile(plan.file, root)
      // Entries of an earlier binding go first: another mode has others.
      const known = record?.files.find((one) => one.file === plan.file)
      const clean = before === null || known === undefined ? before : undo(known, before)
      const after = addEntries(plan, clean)
      if (before !== after) checkWritable(plan.file)
      return { plan, before, after }
    })
  })
}

/** The text without the entries that were written earlier: as it was before, unless somebody changed it since. */
function undo(known: RecordedFile, now: string): string | null {
  return now === known.after ? known.before : removeEntries(known, now, known.before)
}

/** Runs work on a file; its problem ends the command with one line that names the file. */
export function explain<T>(file: string, workspace: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof ConfigProblem)) throw error
    throw new Stop(EXIT.refused, `${plainText(nameFile(file, workspace))} ${error.message}. Nothing was written.`)
  }
}

function writeChanges(
  changes: readonly FileChange[],
  { workspace, record }: { readonly workspace: string; readonly record: ConnectionRecord | null },
): readonly RecordedFile[] {
  return changes.map(({ plan, before, after }) => {
    const known = record?.files.find((one) => one.file === plan.file)
    const text = after ?? ''
    const made = before === after ? [] : explain(plan.file, workspace, () => writeConfigFile(plan.file, text))
    const { file, format, entries } = plan
    return {
      ...{ file, format, entries, after: text },
      before: known === undefined || before === null ? before : undo(known, before),
      made: made.length > 0 ? made : (known?.made ?? []),
    }
  })
}

function report(
  options: ConnectOptions,
  done: { kind: ConnectKind; place: ConnectPlace; changed: readonly FileChange[]; isDone: boolean },
): void {
  const { kind, place, changed, isDone } = done
  if (options.json === true)
    printJson({
      ...{ cli: kind.name, mode: place.mode, managed: place.isManaged, workspace: place.workspace, written: isDone },
      files: changed.map(({ plan }) => plan.file),
    })
  else if (isDone)
    print(`${kind.title} is connected in ${place.workspace} (--${place.mode}${place.isManaged ? ', managed' : ''}).`)
}
