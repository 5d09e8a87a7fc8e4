import { observe } from '../../checks/observed-runs/observe.js'
import type { ShownPlace } from '../../checks/observed-runs/run-in-view.js'
import { judgeRed, type RedInputs } from '../../checks/red-green/red-run.js'
import { parseInlineKey } from '../../checks/test-files/inline-tests.js'
import { isTestLike } from '../../checks/test-files/test-files.js'
import type { ViewEntry } from '../../confinement/confinement.js'
import type { Contract } from '../../core/contract/contract.js'
import { makeBlocker } from '../../core/gates/blockers.js'
import type { JsonObject } from '../../core/json.js'
import { findSetupKind } from '../../core/paths/test-setup-names.js'
import type { TaskState } from '../../core/task/state.js'
import { NOT_THE_PROJECT, type WorkTree } from '../../tree/work-tree.js'
import type { App } from '../app.js'
import { toBlockerView } from '../tasks/views.js'
import { composeFilesAtStart } from '../trees/files-at-start.js'
import { WORK_BEGAN } from '../trees/trees.js'
import { makeIgnoredMatcher } from './compose-view.js'
import { addInlineTests } from './inline-view.js'
import { findTestFiles } from './pin-tests.js'
import { startOfWork } from './start-of-work.js'
import type { PinnedFiles } from './task-views.js'

/**
 * Whether RED recorded the tests of this task without their contents: by an older version, or because they were lost.
 */
export function needsRedAgain(app: Pick<App, 'views'>, contract: Contract, state: TaskState): boolean {
  if (state.pinnedTests === null || contract.tests.allowChanges) return false
  return !app.views.hasPins(state.id, app.views.findPinsOfRerun(state) ?? state.pinnedTests)
}

/** The message for an agent that resumes such a task. */
export function buildRedAgainWarnings(app: App, contract: Contract, state: TaskState): readonly JsonObject[] {
  if (!needsRedAgain(app, contract, state) || !contract.commands.has('tests')) return []
  const message =
    'The tests of this task were recorded at RED without their contents. RED is run again before the next gate that runs commands, with the code as it was when work began.'
  return [toBlockerView(makeBlocker('check_error', { message, remedy: 'Leave the tests as they are and go on.' }))]
}

/**
 * Runs RED again for a task whose tests were recorded without their contents: the current tests, which must have the
 * recorded hashes, with the code of the start of work. Stores them when new ones among them fail; otherwise returns why
 * not.
 */
export async function runRedAgain(
  app: App,
  contract: Contract,
  state: TaskState,
  about: {
    readonly tree: WorkTree
    readonly place: ShownPlace
    readonly treeHash: string
    readonly base: Pick<RedInputs, 'baseline' | 'noBaseline'>
  },
): Promise<string | null> {
  const { tree, place, treeHash } = about
  const recorded = state.pinnedTests ?? new Map<string, string>()
  for (const [path, hash] of recorded)
    if (parseInlineKey(path) === null && (await tree.hash(path)) !== hash)
      return `${path} changed since RED. ${WAY_OUT}`
  const files = {
    ...(await findTestFiles(contract, tree, makeIgnoredMatcher(app, state.workspace))),
    ...Object.fromEntries(recorded),
  }
  const command = contract.commands.get('tests')
  if (command !== undefined) {
    const view = await composeCodeAtStart(app, contract, state, { tree, files })
    if (typeof view === 'string') return `${view}. ${WAY_OUT}`
    const composition = { ...view, pinned: Object.keys(files), isGuarded: () => false }
    const run = await observe({ ...place, view: { composition, leftOut: [] } }, 'tests', command, { treeHash })
    const start = startOfWork(app, contract, state)
    const red = await judgeRed(run, { contract, tree, start, all: new Map(), ...about.base })
    if (red.result !== 'holds') return `RED was run again, and ${red.found}. ${WAY_OUT}`
  }
  await app.fence.run(async () => {
    await app.views.keepPins(state.id, state.workspace, files)
    app.views.keepPinsAgain(state, files)
  })
  return null
}

const WAY_OUT =
  'The tests of this task were recorded without their contents. Put them back, or ask an operator to rewind the task to the phase before RED'

async function composeCodeAtStart(
  app: App,
  contract: Contract,
  state: TaskState,
  { tree, files }: { readonly tree: WorkTree; readonly files: PinnedFiles },
): Promise<{ readonly put: readonly ViewEntry[]; readonly leftOut: readonly string[] } | string> {
  const start = app.trees.readMark(state.workspace, state.id, WORK_BEGAN)
  if (start === null) return 'The code as it was when work began was not recorded'
  const isIgnored = makeIgnoredMatcher(app, state.workspace)
  const isCode = (path: string): boolean =>
    files[path] === undefined && !isTestLike(contract, path) && findSetupKind(path) === null && !isIgnored(path)
  const now = (await tree.list(NOT_THE_PROJECT)).map(({ path }) => path)
  const leftOut = now.filter((path) => start.entries[path] === undefined && isCode(path))
  const moved: string[] = []
  for (const [path, entry] of Object.entries(start.entries))
    if (entry.startsWith('file ') && isCode(path) && (await tree.hash(path)) !== entry.slice('file '.length))
      moved.push(path)
  const { put, unknown } = await composeFilesAtStart(app, contract, state, { start, paths: moved })
  if (unknown[0] !== undefined) return `The content of ${unknown[0]} when work began was not recorded`
  return {
    put: await addInlineTests(tree, put),
    leftOut: [...leftOut, ...((await app.views.findDependencyChanges(state.id, state.workspace)) ?? [])],
  }
}
