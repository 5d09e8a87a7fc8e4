import type { Base } from './mutate.js'
import type { Pair, Stage } from './stage.js'

const plain = (make: (stage: Stage, pair: Pair) => Base) => async (stage: Stage) => {
  const pair = await stage.pair()
  return { pair, base: () => make(stage, pair) }
}

const onContract = {
  prepare: plain((stage) => ({ params: { hash: stage.shortHash }, also: { hash: ['short', 'f'.repeat(64)] } })),
}

/** What operators look at. */
export const LOOK_ENDPOINTS = {
  getTaskDiff: {
    prepare: plain((stage, pair) => ({
      params: { id: pair.task },
      query: { from: 'start', to: 'now' },
      also: {
        id: [stage.completed, stage.cancelled, stage.queued, 'no-such-task'],
        from: ['phase', '1', '0', '99', '-1'],
        to: ['1', '0'],
        path: ['src/a', '../../etc/passwd', '/etc/passwd', '.git/config', 'a//b', '..'],
      },
    })),
  },
  getTaskState: {
    prepare: plain((stage, pair) => ({
      params: { id: pair.task },
      also: { id: [stage.completed, stage.queued, 'no-such-task'], at: ['1', '0', '-1', '1.5', '999999999'] },
    })),
  },
  getInbox: { prepare: plain(() => ({})) },
  getInsights: {
    prepare: plain(() => ({
      query: { since: '2026-01-01T00:00:00Z', until: '2027-01-01T00:00:00Z' },
      also: { since: ['2028-01-01T00:00:00Z', 'yesterday'], contract: ['tdd', 'nope', 'f'.repeat(64)] },
    })),
  },
  getContractText: onContract,
  getContractGraph: onContract,
  trustContract: {
    prepare: plain((stage) => ({
      ...{ params: { hash: stage.shortHash }, body: {} },
      also: { hash: ['short', 'f'.repeat(64)] },
    })),
  },
  exportAudit: {
    prepare: plain((_, pair) => ({
      query: { task_id: pair.task, type: 'task_created' },
      also: { since: ['yesterday', '2028-01-01T00:00:00Z'], q: ['x', 'task'], after_seq: ['0', '-1', 'x'] },
    })),
  },
  listWebhooks: { prepare: plain(() => ({})) },
  adoptNode: {
    prepare: plain(() => ({ params: { id: 'node-0123456789ab' }, body: { reason: 'gone' } })),
    isAlwaysRefused: true,
  },
  listNodes: { prepare: plain(() => ({})) },
  checkServer: { prepare: plain(() => ({})) },
} as const
