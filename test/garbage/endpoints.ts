import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { findBundledContract } from '../../src/contract/bundled-contracts.js'
import { git, makeRepository } from '../e2e/projects.js'
import { ownTree, PLAN, RED } from '../http/harness.js'
import { COORDINATION_ENDPOINTS } from './coordination-endpoints.js'
import { nested } from './junk.js'
import { LOOK_ENDPOINTS } from './look-endpoints.js'
import type { Base } from './mutate.js'
import { OPERATOR_ENDPOINTS } from './operator-endpoints.js'
import { type Pair, SHORT, type Stage } from './stage.js'

/** What one lane of requests works on, and how a right request is made from it. */
export interface Lane {
  readonly pair: Pair
  readonly base: () => Base
}

export interface Endpoint {
  /** Makes what a right request needs; called again when an answer has used it up. */
  readonly prepare: (stage: Stage, index: number) => Promise<Lane>
  /** A success uses the lane up. */
  readonly isSpentBySuccess?: boolean
  /** Its successes reach into other lanes, so there is one lane only. */
  readonly isAlone?: boolean
  readonly after?: (stage: Stage) => Promise<unknown>
}

const TESTS = {
  test_files: { files: [{ path: 'test/a.test.js', covers: ['AC1'] }] },
  test_run_result: RED,
}
const SHELL = ['ls -la', 'git push', 'echo $(curl x)', 'rm -rf /', 'npm test && cat a | sh']
const HOOKED = { session_id: 's', conversation_id: 's', cwd: '/tree', tool_use_id: 't1', tool_input: { command: 'ls' } }

const plain =
  (make: (stage: Stage, pair: Pair) => Base, pairOf: (stage: Stage) => Promise<Pair> = (stage) => stage.pair()) =>
  async (stage: Stage): Promise<Lane> => {
    const pair = await pairOf(stage)
    return { pair, base: () => make(stage, pair) }
  }

const repositories = new WeakMap<Stage, string>()

/** One repository for all tasks of a stage: to make one takes long. */
function repositoryOf(stage: Stage): string {
  const known = repositories.get(stage)
  if (known !== undefined) return known
  const path = join(stage.run.workspace, '..', stage.fresh('repository'))
  makeRepository(path, { 'a.txt': 'a' })
  git(path, 'branch', '-M', 'main')
  repositories.set(stage, path)
  return path
}

/** A task that nobody works on any more: with a work tree of its own in the first lane, without one in the others. */
const onWorktree = (fields: Record<string, unknown>): Endpoint => ({
  prepare: async (stage, lane) => {
    const pair = await stage.pair(lane === 0 ? { workspace: repositoryOf(stage), worktree: true } : {})
    await stage.operate(`/tasks/${pair.task}/cancel`, { reason: 'not needed' })
    const body = { reason: 'because', ...fields }
    return { pair, base: () => ({ params: { id: pair.task }, body, also: { id: [stage.completed, 'no-such-task'] } }) }
  },
  isSpentBySuccess: true,
})

/** In turns a task in its first phase and one in its second. */
const inTurns =
  (first: (pair: Pair, stage: Stage) => Base, second: (pair: Pair, stage: Stage) => Base) =>
  async (stage: Stage, index: number): Promise<Lane> => {
    if (index % 2 === 0) {
      const pair = await stage.pair()
      return { pair, base: () => first(pair, stage) }
    }
    const pair = await stage.testing()
    return { pair, base: () => second(pair, stage) }
  }

const onTask = (fields: (stage: Stage) => Record<string, unknown>) =>
  plain((stage, pair) => ({
    params: { id: pair.task },
    body: fields(stage),
    also: { id: [stage.completed, stage.cancelled, stage.queued, 'no-such-task'] },
  }))

const action = (fields: (stage: Stage) => Record<string, unknown>): Endpoint => ({
  prepare: onTask(fields),
  isSpentBySuccess: true,
})

const reason: Endpoint = { prepare: plain(() => ({ body: { reason: 'because' } })) }

/** The right request of every endpoint, by operation. */
export const ENDPOINTS: Readonly<Record<string, Endpoint>> = {
  claimTask: {
    prepare: plain((stage, pair) => ({
      body: { agent_id: pair.agentId, capabilities: ['go'], task_id: pair.task },
      also: { task_id: [stage.queued, stage.completed, 'no-such-task'], agent_id: ['agent-1', 'nobody'] },
    })),
  },
  requestTransition: {
    prepare: inTurns(
      (pair, stage) => ({
        body: {
          task_id: pair.task,
          current_phase: 'PLAN',
          target_phase: 'TDD',
          artifacts: { plan_document: PLAN },
          evidence: { note: 'x' },
          claims: { changes_requested: true },
        },
        also: { task_id: [stage.queued], target_phase: ['PLAN', 'IMPL', 'COMPLETE', 'plan', 'NOPE'] },
      }),
      (pair) => ({
        body: {
          task_id: pair.task,
          current_phase: 'TDD',
          target_phase: 'IMPL',
          artifacts: TESTS,
          evidence: { deep: nested(20) },
          claims: { changes_requested: false },
        },
      }),
    ),
  },
  executeTool: {
    prepare: inTurns(
      (pair, stage) => ({
        body: {
          task_id: pair.task,
          tool_name: 'read_files',
          args: { path: 'a.txt' },
          idempotency_key: stage.fresh('key'),
        },
        also: { tool_name: ['grep', 'write_files', 'bash', 'nope', 'mcp__x__y'] },
      }),
      (pair) => ({
        body: { task_id: pair.task, tool_name: 'bash', args: { command: 'ls -la' } },
        also: { args: SHELL.map((command) => ({ command })), tool_name: ['grep'] },
      }),
    ),
  },
  checkTool: {
    prepare: inTurns(
      (pair) => ({
        body: { task_id: pair.task, tool_name: 'grep', args: { pattern: 'x', path: 'src' } },
        also: { tool_name: ['read_files', 'write_files', 'bash', 'nope', 'glob'] },
      }),
      (pair) => ({
        body: { task_id: pair.task, tool_name: 'write_files', args: { path: 'test/a.test.js', content: 'x' } },
        also: { args: [{ path: 'src/a.js', content: 'x' }, { files: [{ path: 'test/b', content: '' }] }] },
      }),
    ),
  },
  batchTools: {
    prepare: inTurns(
      (pair) => ({
        body: {
          task_id: pair.task,
          calls: [
            { tool_name: 'read_files', args: { path: 'a' } },
            { tool_name: 'glob', args: { pattern: '**' } },
          ],
        },
      }),
      (pair) => ({
        body: {
          task_id: pair.task,
          calls: [
            { tool_name: 'bash', args: { command: 'ls' } },
            { tool_name: 'edit_files', args: { path: 'test/a.test.js', old: 'a', new: 'b' } },
          ],
        },
      }),
    ),
  },
  getSnapshot: { prepare: plain(() => ({})) },
  getPrompt: { prepare: plain(() => ({})) },
  nextPrompt: { prepare: plain((_, pair) => ({ body: { task_id: pair.task, claims: { nothing: true } } })) },
  continuePrompt: { prepare: plain((_, pair) => ({ body: { task_id: pair.task } })) },
  getPhase: { prepare: plain(() => ({ params: { phase: 'PLAN' }, also: { phase: ['TDD', 'NOPE'] } })) },
  completePhase: {
    prepare: plain((_, pair) => ({
      params: { phase: 'PLAN' },
      body: { task_id: pair.task, evidence: { note: 'x' } },
      also: { phase: ['TDD', 'NOPE'] },
    })),
  },
  reportUsage: {
    prepare: plain((_, pair) => ({
      body: { task_id: pair.task, input_tokens: 1, output_tokens: 2, model: 'm', message_id: 'm1' },
    })),
  },
  searchKnowledge: {
    prepare: plain((_, pair) => ({
      body: { task_id: pair.task, query: 'x', phase: 'PLAN', tags: ['a'], n_results: 3 },
    })),
  },
  hookClaudeCode: {
    prepare: inTurns(
      () => ({
        body: {
          ...{ hook_event_name: 'PreToolUse', cwd: '/tree', tool_use_id: 't1', tool_name: 'Write' },
          ...{ tool_input: { file_path: 'a', content: 'x' }, transcript_path: '/etc/passwd', agent_id: 'a1' },
        },
      }),
      () => ({
        body: {
          ...{ hook_event_name: 'PostToolUse', cwd: '/tree', tool_use_id: 't1', tool_name: 'Bash', duration_ms: 1 },
          ...{ tool_input: { command: 'ls' }, tool_response: { bashEditDiff: { changedFiles: ['a'] } } },
        },
        also: { tool_input: SHELL.map((command) => ({ command })) },
      }),
    ),
  },
  hookCodex: { prepare: plain(() => ({ body: { ...HOOKED, hook_event_name: 'PreToolUse', tool_name: 'Bash' } })) },
  hookGemini: {
    prepare: plain(() => ({ body: { ...HOOKED, hook_event_name: 'BeforeTool', tool_name: 'run_shell_command' } })),
  },
  hookCursor: {
    prepare: plain(() => ({
      body: { ...HOOKED, hook_event_name: 'preToolUse', tool_name: 'Shell', workspace_roots: ['/tree'] },
    })),
  },
  hookCopilot: { prepare: plain(() => ({ body: { ...HOOKED, hook_event_name: 'PostToolUse', tool_name: 'Bash' } })) },
  hookOpencode: {
    prepare: plain(() => ({ body: { ...HOOKED, hook_event_name: 'tool.execute.after', tool_name: 'bash' } })),
  },
  renewToken: { prepare: plain((_, pair) => ({ body: { task_id: pair.task } })) },
  heartbeat: { prepare: plain((_, pair) => ({ body: { task_id: pair.task } })) },
  releaseTask: {
    prepare: plain((_, pair) => ({ body: { task_id: pair.task, reason: 'done with it' } })),
    isSpentBySuccess: true,
  },
  createTask: {
    prepare: plain((stage) => ({
      body: {
        title: 'A task',
        description: 'What to do',
        id: stage.fresh('new'),
        contract: 'short',
        workspace: stage.run.workspace,
        depends_on: [stage.queued],
        requires: ['go'],
        metadata: { a: { b: [1, 'two'] } },
        mode: 'strict',
        priority: 5,
      },
      also: { contract: ['tdd', stage.shortHash, 'nope'], id: [stage.queued], depends_on: [[], ['nope']] },
    })),
  },
  listTasks: {
    prepare: plain((_, pair) => ({
      query: { status: 'active', phase: 'PLAN', agent_id: pair.agentId, limit: '10', cursor: 'cDE' },
      also: { status: ['queued', 'parked', 'completed', 'nope'], limit: ['1', '1000'] },
    })),
  },
  getTask: {
    prepare: plain((stage, pair) => ({
      params: { id: pair.task },
      also: { id: [stage.completed, stage.cancelled, stage.queued, 'no-such-task'] },
    })),
  },
  updateTask: {
    prepare: onTask(() => ({ title: 'New', description: 'Newer', metadata: { a: [1, { b: 'c' }] }, priority: -5 })),
  },
  getTimeline: {
    prepare: plain((stage, pair) => ({
      params: { id: pair.task },
      query: { after: '0', limit: '10' },
      also: { id: [stage.completed, stage.cancelled, stage.queued], after: ['1', '999999'] },
    })),
  },
  getTaskPrompt: {
    prepare: plain((stage, pair) => ({
      params: { id: pair.task },
      also: { id: [stage.completed, stage.cancelled, stage.queued, 'no-such-task'] },
    })),
  },
  getTaskContent: {
    prepare: async (stage) => {
      const pair = await stage.testing()
      const { body } = await stage.run.call('GET', `/tasks/${pair.task}/timeline`, stage.run.operator)
      const events = body.events as { data: { artifacts?: { sha256: string }[] } }[]
      const hash = events.flatMap(({ data }) => data.artifacts ?? [])[0]?.sha256 ?? ''
      const also = { id: [stage.completed, stage.queued, 'no-such-task'], hash: ['nope', '..', 'A'.repeat(64)] }
      return { pair, base: () => ({ params: { id: pair.task, hash }, also }) }
    },
  },
  cancelTask: action(() => ({ reason: 'not needed' })),
  parkTask: action(() => ({ reason: 'look at it first' })),
  resumeTask: {
    prepare: plain(
      (stage, pair) => ({
        params: { id: pair.task },
        body: { reason: 'go on' },
        also: { id: [stage.completed, stage.queued, 'no-such-task'] },
      }),
      (stage) => stage.parked(),
    ),
    isSpentBySuccess: true,
  },
  rewindTask: {
    prepare: plain(
      (stage, pair) => ({
        params: { id: pair.task },
        body: { to_phase: 'PLAN', reason: 'again' },
        also: { id: [stage.completed, stage.queued], to_phase: ['TDD', 'IMPL', 'COMPLETE', 'NOPE'] },
      }),
      (stage) => stage.testing(),
    ),
    isSpentBySuccess: true,
  },
  reassignTask: action(() => ({ reason: 'other hands', agent_id: 'agent-1' })),
  addAgent: {
    prepare: plain((stage) => ({ body: { agent_id: stage.fresh('added'), capabilities: ['go', 'rust'] } })),
  },
  listAgents: { prepare: plain(() => ({})) },
  spawnAgent: {
    prepare: plain((stage) => ({
      body: { harness: 'command', command: 'true', args: [], agent_id: stage.fresh('started'), task: { title: 'x' } },
      also: { agent: ['coder'], task_id: [stage.queued, 'no-such-task'] },
    })),
    isAlone: true,
  },
  showAgent: { prepare: plain((_stage, pair) => ({ params: { id: pair.agentId }, also: { id: ['nobody'] } })) },
  stopAgent: {
    prepare: plain((_stage, pair) => ({ params: { id: pair.agentId }, body: { reason: 'gone', park: false } })),
  },
  agentLog: { prepare: plain((_stage, pair) => ({ params: { id: pair.agentId }, query: { cursor: '1:0' } })) },
  agentScreen: { prepare: plain((_stage, pair) => ({ params: { id: pair.agentId } })) },
  revokeAgent: {
    prepare: plain((stage, pair) => ({
      params: { id: pair.agentId },
      body: { reason: 'gone' },
      also: { id: ['nobody', stage.queued] },
    })),
    isSpentBySuccess: true,
  },
  addOperator: { prepare: plain((stage) => ({ body: { name: stage.fresh('op'), role: 'lead' } })) },
  listOperators: { prepare: plain(() => ({})) },
  revokeOperator: {
    prepare: async (stage) => {
      const pair = await stage.pair()
      const name = stage.fresh('op')
      stage.issued(String((await stage.operate('/operators', { name })).operator_token))
      return { pair, base: () => ({ params: { name }, body: { reason: 'gone' }, also: { name: ['nobody'] } }) }
    },
    isSpentBySuccess: true,
  },
  rotateSecret: { ...reason, isAlone: true, after: async (stage) => stage.readKeys() },
  addContract: {
    prepare: async (stage, index) => {
      const pair = await stage.pair()
      const source = readFileSync(findBundledContract('plan-review') ?? '', 'utf8')
      const contract = {
        name: 'made',
        version: '1',
        phases: [
          {
            id: 'A',
            prompt: 'Do {{task.title}}',
            allowed_tools: ['read_files', 'bash'],
            tool_constraints: { bash: { allowed_commands: ['ls'] } },
            checkpoint: { evidence: { count: { type: 'integer', min: 2, description: 'how many' } } },
            gates: [{ id: 'ok', type: 'approval', approvers: ['lead'], timeout_seconds: 60, on_timeout: 'park' }],
          },
          { id: 'B', allowed_tools: [], required_artifacts: [{ type: 'note', description: 'a note' }] },
        ],
        transitions: [{ from: 'A', to: 'B' }],
        enforcement: { mode: 'strict', max_attempts: 3 },
      }
      const texts = [SHORT, source.slice(0, 500), source.replaceAll(':', ''), 'a: &a [*a, *a]', `${'- '.repeat(3000)}x`]
      return {
        pair,
        base: () => (index % 2 === 0 ? { body: { contract } } : { body: { source: SHORT }, also: { source: texts } }),
      }
    },
  },
  listContracts: { prepare: plain(() => ({})) },
  getContract: {
    prepare: plain((stage) => ({ params: { hash: stage.shortHash }, also: { hash: ['short', 'f'.repeat(64)] } })),
  },
  listApprovals: {
    prepare: plain(() => ({
      query: { limit: '10', cursor: 'cDE' },
      also: { limit: ['1', '1000'], status: ['all', 'decided', 'nope'] },
    })),
  },
  getApproval: {
    prepare: async (stage) => {
      const pair = await stage.pair({ workspace: ownTree(stage.run) })
      const { id } = await stage.pending(pair)
      return { pair, base: () => ({ params: { id }, also: { id: [stage.approval.id, 'apr-1-nope'] } }) }
    },
  },
  decideApproval: {
    prepare: async (stage) => {
      const pair = await stage.pair({ workspace: ownTree(stage.run) })
      const { id, digest } = await stage.pending(pair)
      const body = { decision: 'approve', digest, comment: 'fine' }
      return { pair, base: () => ({ params: { id }, body, also: { decision: ['reject'], digest: ['0'.repeat(64)] } }) }
    },
    isSpentBySuccess: true,
  },
  listQuestions: {
    prepare: async (stage) => {
      const pair = await stage.pair()
      await stage.question(pair)
      const query = { status: 'open', task_id: pair.task, limit: '10', cursor: 'W251bGwsInQiLDFd' }
      const also = { status: ['answered', 'withdrawn'], task_id: [stage.queued], limit: ['1'], cursor: ['cDE'] }
      return { pair, base: () => ({ query, also }) }
    },
  },
  getQuestion: {
    prepare: async (stage) => {
      const pair = await stage.pair()
      const id = await stage.question(pair)
      return { pair, base: () => ({ params: { id }, also: { id: ['qst-1-nope', `qst-1-${stage.queued}`] } }) }
    },
  },
  answerQuestion: {
    prepare: async (stage) => {
      const pair = await stage.pair()
      const id = await stage.question(pair)
      const also = { answer: ['right', 'up', ' ', '\u0000'], id: ['qst-1-nope'] }
      return { pair, base: () => ({ params: { id }, body: { answer: 'left', other: false }, also }) }
    },
    isSpentBySuccess: true,
  },
  acceptTools: { prepare: onTask(() => ({ reason: 'looked at them' })) },
  installDependencies: { prepare: onTask(() => ({ command: ['gradle', 'dependencies'], cwd: 'src' })) },
  acceptTree: { prepare: onTask(() => ({ reason: 'looked at it' })) },
  revertTree: { prepare: onTask(() => ({ reason: 'nobody asked for it', paths: ['../x', 'a.txt'] })) },
  addReviewer: {
    prepare: plain((stage, pair) => ({
      params: { id: pair.task },
      body: { name: stage.fresh('critic'), expires_seconds: 600 },
      also: { id: [stage.completed, stage.queued, 'no-such-task'], name: [pair.agentId, 'critic', 'constructor'] },
    })),
  },
  revokeReviewer: {
    prepare: plain((stage, pair) => ({
      params: { id: pair.task, name: 'critic' },
      body: { reason: 'not any more' },
      also: { id: [stage.queued, 'no-such-task'], name: ['nobody', '__proto__'] },
    })),
    isSpentBySuccess: true,
  },
  listReviews: {
    prepare: plain((stage, pair) => ({
      params: { id: pair.task },
      also: { id: [stage.completed, stage.queued, 'no-such-task'] },
    })),
  },
  submitReview: {
    prepare: plain((stage, pair) => ({
      params: { id: pair.task },
      body: {
        report: {
          status: 'changes_requested',
          summary: 'Not yet.',
          comments: [{ text: 'Why?', path: 'src/a.js', line: 3, resolved: false }],
          blocking_issues: ['a hole', { text: 'another', path: 'b', line: 1 }],
        },
      },
      also: {
        id: [stage.queued, 'no-such-task'],
        report: [{ status: 'in_progress' }, { status: 'completed' }, { status: 'approved', blocking_issues: ['x'] }],
        subject: ['0'.repeat(64)],
      },
    })),
  },
  getHeldOut: {
    prepare: async (stage) => {
      const pair = await stage.pair()
      return { pair, base: () => ({ params: { id: pair.task }, also: { id: [stage.queued, 'no-such-task'] } }) }
    },
  },
  getArtifact: {
    prepare: async (stage) => {
      const pair = await stage.pair()
      await stage.pending(pair)
      const also = { id: [stage.queued, 'no-such-task'], type: ['review_report', '__proto__', 'constructor'] }
      return { pair, base: () => ({ params: { id: pair.task, type: 'plan_document' }, also }) }
    },
  },
  pause: { ...reason, isAlone: true, after: (stage) => stage.operate('/unpause', { reason: 'on' }) },
  unpause: { ...reason, isAlone: true },
  queryAudit: {
    prepare: plain((_, pair) => ({
      query: {
        task_id: pair.task,
        agent_id: pair.agentId,
        phase: 'PLAN',
        tool_name: 'grep',
        code: 'forbidden_tool',
        type: 'tool_denied',
        success: 'false',
        since: '2020-01-01T00:00:00Z',
        until: '2100-01-01T00:00:00Z',
        limit: '10',
        cursor: 'cDE',
      },
      also: { type: ['task_created', 'nope'], success: ['true'] },
    })),
  },
  recentAudit: { prepare: plain(() => ({ query: { count: '10' }, also: { count: ['1', '1000'] } })) },
  auditStats: { prepare: plain(() => ({})) },
  verifyAudit: { prepare: plain(() => ({})) },
  streamEvents: { prepare: plain(() => ({})) },
  metricsSummary: { prepare: plain(() => ({})) },
  getTaskMetrics: {
    prepare: plain((stage, pair) => ({ params: { id: pair.task }, also: { id: [stage.completed, 'no-such-task'] } })),
  },
  getStatus: {
    prepare: plain((stage, pair) => ({
      query: { run: pair.task },
      also: { run: [stage.queued, stage.completed, '..'] },
    })),
  },
  getRunReport: {
    prepare: plain((stage, pair) => ({ params: { id: pair.task }, also: { id: [stage.completed, 'no-such-run'] } })),
  },
  getActivity: { prepare: plain(() => ({})) },
  mergeTask: onWorktree({ force: true, commit: true, into: 'main' }),
  handOverTask: action(() => ({ reason: 'because', commit: true })),
  discardTask: action(() => ({ reason: 'because', force: true })),
  ...COORDINATION_ENDPOINTS,
  ...OPERATOR_ENDPOINTS,
  ...LOOK_ENDPOINTS,
}
