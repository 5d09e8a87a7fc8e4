import { listGateCommands } from '../../checks/observed-runs/gate-commands.js'
import { readMarks } from '../../checks/test-files/test-marks.js'
import { readTestSetup } from '../../checks/test-setup/test-setup.js'
import type { Contract } from '../../core/contract/contract.js'
import type { ObservedRun, PinnedHarness, PinnedRun } from '../../core/evidence/observed-run.js'
import type { TaskState } from '../../core/task/state.js'
import type { Blob } from '../../store/store.js'
import type { WorkTree } from '../../tree/work-tree.js'
import type { App } from '../app.js'
import { blobOf } from '../blobs.js'

/** What a RED run pins: the tests that ran, the files that could not be loaded yet, and the test setup. */
export function pinOfRun(run: ObservedRun, around: Pick<PinnedRun, 'harness' | 'commands' | 'marks'>): Blob {
  const unloaded = run.loadFailures.flatMap(({ file }) => (file === null ? [] : [file]))
  const ran = run.tests.filter((test) => test.status === 'passed' || test.status === 'failed')
  // Names that a runner shows only sometimes cannot be required later.
  const pinned: PinnedRun = {
    ids: run.isComplete ? ran.map((test) => test.id) : [],
    failed: ran.flatMap(({ id, file, status }) =>
      status === 'failed' && !run.flaky?.includes(id) ? [{ id, file }] : [],
    ),
    unloaded: [...new Set(unloaded)],
    ...around,
  }
  return blobOf(pinned)
}

/** What the RED run of this task pinned; null when none was observed. */
export async function readPinnedRun(app: App, state: TaskState): Promise<PinnedRun | null> {
  if (state.pinnedRun === null) return null
  const content = await app.ledger.store.readBlob(state.pinnedRun)
  if (content === null) throw new Error('the tests that were recorded at RED are not in the store')
  return JSON.parse(content) as PinnedRun
}

/** The test setup and the commands of gates, as RED records them. */
export async function readTestSurroundings(
  contract: Contract,
  tree: WorkTree,
): Promise<Pick<PinnedRun, 'harness' | 'commands' | 'marks'>> {
  if (!contract.commands.has('tests')) return {}
  const commands: Record<string, PinnedHarness> = {}
  for (const [key, command] of listGateCommands(contract))
    commands[key] = await readTestSetup(tree, contract, [], { of: 'command', commands: [command] })
  return { harness: await readTestSetup(tree, contract), commands, marks: await readMarks(tree, contract) }
}
