import { join } from 'node:path'
import { NO_CHANGES } from '../../confinement/confined.js'
import type { Composition, Confinement } from '../../confinement/confinement.js'
import { type CommandRun, runCommand } from '../../confinement/run-command.js'
import { ViewRefused } from '../../confinement/view/compose-view.js'
import { GO_CACHE_INSIDE } from '../../confinement/view/go-cache.js'
import type { ObservedCommand } from '../../core/contract/contract.js'
import { GoEvents } from '../reports/languages/go-events.js'
import { OUTPUT_CHARS_MAX } from '../reports/report.js'
import { collectReport } from './collect-report.js'
import { openSecondChannel, type SecondReport } from './second-report.js'
import type { OpenServices } from './services.js'
import { addGuards, buildGuardedArgv, excludeSources, GUARDS_FOLDER } from './test-guards.js'

/** Maximum output of a command. One that writes more is stopped, and its run counts as cut off. */
export const OBSERVED_OUTPUT_BYTES_MAX = 64 * 1024 * 1024
const OUTPUT_KEPT = {
  headBytes: OUTPUT_CHARS_MAX / 2,
  tailBytes: OUTPUT_CHARS_MAX / 2,
  bytesMax: OBSERVED_OUTPUT_BYTES_MAX,
}

/** Where a command of the contract is run. */
export interface ObservePlace {
  readonly confinement: Pick<Confinement, 'start' | 'provider'>
  readonly tree: string
  readonly hidden: readonly string[]
  readonly signal: AbortSignal
}

/** A place to run a command whose output may be shown to people. */
export interface ShownPlace extends ObservePlace {
  readonly redact: (text: string) => string
  /** Receives the output of the command while it runs. */
  readonly onOutput?: (chunk: Buffer) => void
  /** Folders of Go build caches; absent or empty: none. */
  readonly goCache?: readonly string[]
  /** A folder to lay over the tree, with crates that cargo has compiled. */
  readonly layer?: string | null
  /** How the view is composed, and what it leaves out. */
  readonly view?: { readonly composition: Composition; readonly leftOut: readonly string[] }
  /** Source files to remove while compiled test programs run, and whether they all belong to one package. */
  readonly without?: { readonly sources: readonly string[]; readonly isOnePackage: boolean }
}

export interface StartedRun {
  readonly run: CommandRun
  readonly problem: string | null
  readonly told: readonly SecondReport[]
  readonly goEvents: GoEvents
}

/** Runs the command. `problem` says why the run does not count; null if it does. */
export async function runInView(
  place: ShownPlace,
  about: {
    readonly line: string
    readonly command: ObservedCommand
    readonly services: OpenServices | string
  },
): Promise<StartedRun> {
  const { line, command, services } = about
  const goEvents = new GoEvents()
  if (typeof services === 'string') return { run: NOT_RUN, problem: null, told: [], goEvents }
  // Only sandboxed commands get sockets.
  const channel = place.confinement.provider === 'none' ? null : await openSecondChannel()
  const cached = command.env.GOCACHE === undefined ? (place.goCache ?? []) : []
  const env = excludeSources(
    addGuards({ CI: '1', ...(cached.length === 0 ? {} : { GOCACHE: GO_CACHE_INSIDE }), ...command.env }),
    {
      isOnePackage: false,
      ...place.without,
      sources: (place.without?.sources ?? []).map((path) => join(place.tree, path)),
    },
  )
  const job = {
    tree: place.tree,
    argv: services.wrap(buildGuardedArgv(line, cached), env),
    cwd: '.',
    env,
    shown: [GUARDS_FOLDER, ...services.shown, ...cached],
    sockets: [...(channel === null ? [] : [channel.socket]), ...services.sockets],
    network: false,
    writes: 'discard',
    git: 'read',
    isObserved: command.allowsSigusr1 !== true,
    hidden: place.hidden,
    layer: place.layer ?? null,
    signal: place.signal,
    timeoutMs: command.timeoutSeconds * 1000,
    ...collectReport(command),
    ...(place.view === undefined ? {} : { composition: place.view.composition }),
  } as const
  try {
    const onStderr = (chunk: Buffer): void => place.onOutput?.(chunk)
    const onStdout = (chunk: Buffer): void => {
      goEvents.take(chunk)
      onStderr(chunk)
    }
    const run = await runCommand(place.confinement, job, { ...OUTPUT_KEPT, onStdout, onStderr })
    const told = (await channel?.told()) ?? []
    return { run, problem: run.written.length === 0 ? null : formatWritten(run.written), told, goEvents }
  } catch (error) {
    if (!(error instanceof ViewRefused)) throw error
    return { run: NOT_RUN, problem: `its view of the tree could not be created: ${error.message}`, told: [], goEvents }
  } finally {
    channel?.close()
    await services.close()
  }
}

const NOT_RUN: CommandRun = {
  ...{ exitCode: 1, stdout: '', stderr: '', truncated: false, stopped: null, durationMs: 0, written: [] },
  ...{ changes: NO_CHANGES, files: new Map() },
}
const WRITTEN_NAMED_MAX = 5

function formatWritten(written: readonly string[]): string {
  const more = written.length > WRITTEN_NAMED_MAX ? ` and ${written.length - WRITTEN_NAMED_MAX} more` : ''
  return `${written.slice(0, WRITTEN_NAMED_MAX).join(', ')}${more}: written while the command ran. A run must not write tests, files beside them, or the test setup, even if it restores them`
}
