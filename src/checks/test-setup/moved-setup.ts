import { matchesGlob } from '../../contract/glob.js'
import type { ObservedCommand } from '../../core/contract/contract.js'
import type { PinnedHarness, PinnedRun } from '../../core/evidence/observed-run.js'
import { isTestName } from '../../core/paths/test-setup-names.js'
import { getWritable } from '../../core/paths/writable.js'
import type { CheckInputs } from '../check-inputs.js'
import { listGateCommands } from '../observed-runs/gate-commands.js'
import { isTestPath } from '../test-files/test-files.js'
import type { Parts } from './file-parts.js'
import type { Scope } from './scope.js'
import { isPartOfSetup, listSetupChanges, type SetupChange } from './setup-changes.js'
import { readHarness, readTestSetup, testScope } from './test-setup.js'

const NAMED_MAX = 5

/** What is needed to compare. */
type SetupInputs = Pick<CheckInputs, 'contract' | 'tree' | 'pinnedRun' | 'pinnedTests' | 'start' | 'task'>

/**
 * Descriptions of test setup that changed since RED. Without a RED run it is compared with the start of the task,
 * except for files that a phase of the contract opens by name.
 */
export async function findChangedTestSetup(inputs: SetupInputs): Promise<readonly string[]> {
  if (inputs.pinnedRun === null) return findChangedSinceStart(inputs, testScope(inputs.contract))
  return (await findChangedSinceRed(inputs, inputs.pinnedRun)).map(({ text }) => `${text} since the RED run`)
}

async function findChangedSinceRed(inputs: SetupInputs, { harness }: PinnedRun): Promise<readonly SetupChange[]> {
  // An older version recorded the RED run without it.
  if (harness === undefined) return []
  const tests = [...(inputs.pinnedTests?.keys() ?? [])]
  const scope = testScope(inputs.contract)
  const moved = await compareSetup(inputs, {
    before: harness,
    scope,
    isCounted: (path, parts) => isPartOfSetup(path, tests, parts),
  })
  // An older version may have recorded fewer kinds of files.
  const counted: SetupChange[] = []
  for (const change of moved) if (!(await isAsAtStart(inputs, inputs.start, change))) counted.push(change)
  return counted
}

/**
 * Setup that a later RED run would pin again although the test phase may not change it: it was changed in the phase
 * that makes the tests pass. Files that the test phase may write are exempt, as in its first visit.
 */
export async function findChangedBeforeRed(
  inputs: SetupInputs,
  red = String(inputs.task.phase),
): Promise<readonly string[]> {
  const { contract, pinnedRun } = inputs
  if (pinnedRun === null) return []
  const phase = contract.phases.get(red)
  const { allowed, forbidden } = phase === undefined ? { allowed: [], forbidden: [] } : getWritable(phase)
  const matches = (patterns: readonly string[], path: string): boolean =>
    patterns.some((pattern) => matchesGlob(pattern, path))
  const isOwn = (path: string): boolean => matches(allowed, path) && !matches(forbidden, path)
  const moved = (await findChangedSinceRed(inputs, pinnedRun)).filter(({ path }) => !isOwn(path))
  const told = moved.map(({ text }) => `${text} since the previous RED run`)
  for (const [key, command] of listGateCommands(contract))
    told.push(...(await findChangedCommandSetup(inputs, key, command)))
  return told
}

/** Descriptions of changes, since RED or since work began, that affect what a gate's command does. */
export function findChangedSetup(
  inputs: SetupInputs,
  key: string,
  command: ObservedCommand,
): Promise<readonly string[]> {
  return key === 'tests' || key === 'coverage'
    ? findChangedTestSetup(inputs)
    : findChangedCommandSetup(inputs, key, command)
}

async function findChangedCommandSetup(
  inputs: SetupInputs,
  key: string,
  command: ObservedCommand,
): Promise<readonly string[]> {
  const scope: Scope = { of: 'command', commands: [command] }
  const before = inputs.pinnedRun?.commands?.[key]
  if (before === undefined) return findChangedSinceStart(inputs, scope)
  const moved = await compareSetup(inputs, { before, scope, isCounted: () => true })
  const fresh: SetupChange[] = []
  // An older version may have recorded fewer kinds of files.
  for (const change of moved) if (!(await isAsAtStart(inputs, inputs.start, change))) fresh.push(change)
  return omitPermitted(inputs, fresh, 'since the RED run')
}

/** Every file in the setup of tests and of other gate commands that changed since RED. */
export async function findChangedSetupFiles(inputs: SetupInputs, pinnedRun: PinnedRun): Promise<readonly string[]> {
  const paths = (await findChangedSinceRed(inputs, pinnedRun)).map(({ path }) => path)
  for (const [key, command] of listGateCommands(inputs.contract)) {
    const before = pinnedRun.commands?.[key]
    if (before === undefined) continue
    const scope: Scope = { of: 'command', commands: [command] }
    const moved = await compareSetup(inputs, { before, scope, isCounted: () => true })
    paths.push(...moved.map(({ path }) => path))
  }
  return [...new Set(paths)].sort()
}

async function findChangedSinceStart(inputs: SetupInputs, scope: Scope): Promise<readonly string[]> {
  const { start, contract } = inputs
  if (start === undefined || start === null || scope.commands.length === 0) return []
  const before = await readTestSetup(start.tree, contract, [], scope)
  const tests = (await start.tree.list({ anywhere: new Set(['.git', 'node_modules']), atRoot: new Set() }))
    .map(({ path }) => path)
    .filter((path) => isTestPath(contract, path))
  const isCounted = (path: string, parts: Parts): boolean => scope.of === 'command' || isPartOfSetup(path, tests, parts)
  return omitPermitted(inputs, await compareSetup(inputs, { before, scope, isCounted }), 'since work began')
}

async function compareSetup(
  { tree, contract }: SetupInputs,
  about: {
    readonly before: PinnedHarness
    readonly scope: Scope
    readonly isCounted: (path: string, parts: Parts) => boolean
  },
): Promise<readonly SetupChange[]> {
  const { scope, before } = about
  const now = await readHarness(tree, contract, { known: Object.keys(before), scope })
  const moved = listSetupChanges(before, now.pins, about.isCounted)
  if (scope.of === 'tests') return moved
  // Tests have their own rule, unless the command itself runs them. A test that it names may not be written yet.
  const isHeld = ({ path, text }: SetupChange): boolean =>
    !isTestPath(contract, path) || (now.isNamed(path) && !(isTestName(path) && text === `${path} was added`))
  return moved.filter(isHeld)
}

async function omitPermitted(
  { start, task }: SetupInputs,
  moved: readonly SetupChange[],
  since: string,
): Promise<readonly string[]> {
  const told: string[] = []
  for (const { path, text } of moved)
    if (start === undefined || start === null || !(await start.isPermitted(path))) told.push(`${text} ${since}`)
  if (told.length === 0) return []
  const shown =
    told.length > NAMED_MAX ? [...told.slice(0, NAMED_MAX - 1), `and ${told.length - NAMED_MAX + 1} more`] : told
  return [`${shown.join(', ')}. ${formatWayOut(String(task.phase))}`]
}

function formatWayOut(phase: string): string {
  return `It decides what the command does: put it back, or ask an operator to change it or to name it in \`writable\` of ${phase} in the contract`
}

async function isAsAtStart(
  { tree }: SetupInputs,
  start: CheckInputs['start'],
  { path, text }: SetupChange,
): Promise<boolean> {
  if (start === undefined || start === null || text !== `${path} was added`) return false
  const now = await tree.hash(path)
  return now !== null && now === (await start.tree.hash(path))
}
