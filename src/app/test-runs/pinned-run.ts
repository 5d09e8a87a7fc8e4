import { createHash } from 'node:crypto'
import { toCanonicalJson } from '../../contract/fingerprint.js'
import type { ObservedRun, PinnedRun } from '../../core/evidence/observed-run.js'
import type { JsonObject } from '../../core/json.js'
import type { TaskState } from '../../core/task/state.js'
import type { Blob } from '../../store/store.js'
import type { App } from '../app.js'

/** What a RED run pins: the tests that ran, the files that could not be loaded yet, and what decided how they were run. */
export function pinOfRun(run: ObservedRun, around: Pick<PinnedRun, 'harness' | 'commands' | 'marks'>): Blob {
  const unloaded = run.loadFailures.flatMap(({ file }) => (file === null ? [] : [file]))
  const ran = run.tests.filter((test) => test.status === 'passed' || test.status === 'failed')
  // Names that a runner shows only now and then cannot be asked for again.
  const pinned: PinnedRun = {
    ids: run.isComplete ? ran.map((test) => test.id) : [],
    unloaded: [...new Set(unloaded)],
    ...around,
  }
  const content = toCanonicalJson(pinned as unknown as JsonObject)
  return { sha256: createHash('sha256').update(content).digest('hex'), content }
}

/** What the RED run of this task pinned; null when none was observed. */
export async function readPinnedRun(app: App, state: TaskState): Promise<PinnedRun | null> {
  if (state.pinnedRun === null) return null
  const content = await app.ledger.store.readBlob(state.pinnedRun)
  if (content === null) throw new Error('the tests that were recorded at RED are not in the store')
  return JSON.parse(content) as PinnedRun
}
