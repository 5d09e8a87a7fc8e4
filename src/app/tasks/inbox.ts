import { setImmediate as nextTurn } from 'node:timers/promises'
import { openQuestions } from '../../core/approvals/question.js'
import type { JsonObject } from '../../core/json.js'
import type { Approval, TaskState } from '../../core/task/state.js'
import type { TaskFilter } from '../../store/store.js'
import type { App } from '../app.js'
import { listMissingTrees, type TaskOfMissingTree } from '../trees/missing-tree.js'
import { toIsoTime } from '../wire.js'

const PAGE = 100
/** Of each kind; the rest is counted. */
const TASKS_MAX = 1000
const ITEMS_MAX = 500
const TEXT_CHARS_MAX = 500

/** Something that waits for a person. */
interface Item {
  readonly kind: 'approval' | 'question' | 'parked' | 'unexplained' | 'tree_missing' | 'alert' | 'contract'
  readonly id: string
  readonly task: TaskState | null
  readonly agentId: string | null
  readonly phase: string | null
  readonly since: number
  readonly title: string
  readonly detail: string
  /** What an operator can do about it; each is a call of the API. */
  readonly actions: readonly string[]
}

/** The tasks that are not over and whose work tree cannot be opened. */
export async function findMissingTrees(app: App): Promise<readonly TaskOfMissingTree[]> {
  return listMissingTrees(app, (await readTasks(app, OPEN)).states)
}

/** Everything that waits for an operator, oldest first. */
export async function buildInbox(app: App): Promise<JsonObject> {
  const approvals = await readTasks(app, [{ hasApproval: true }])
  const questions = await readTasks(app, [{ hasQuestion: 'open' }])
  const open = await readTasks(app, OPEN)
  const items = [
    ...approvals.states.flatMap(listApprovalItems),
    ...questions.states.flatMap(listQuestionItems),
    ...open.states.flatMap(listTaskItems),
    ...(await listMissingTreeItems(app, open.states)),
    ...(await listAlertItems(app)),
    ...listContractItems(app),
  ].sort((a, b) => a.since - b.since)
  const isCut = approvals.isCut || questions.isCut || open.isCut
  return {
    items: items.slice(0, ITEMS_MAX).map((item) => app.redact(toItemView(item))),
    total: items.length,
    truncated: isCut || items.length > ITEMS_MAX,
  }
}

const OPEN: readonly Partial<TaskFilter>[] = (
  ['parked', 'active', 'awaiting_approval', 'interrupted', 'queued'] as const
).map((status) => ({ status }))

async function readTasks(
  app: App,
  filters: readonly Partial<TaskFilter>[],
): Promise<{ readonly states: readonly TaskState[]; readonly isCut: boolean }> {
  const states: TaskState[] = []
  for (const filter of filters) {
    let cursor: string | null = null
    do {
      const page = await app.ledger.store.queryTasks({ ...filter, limit: PAGE, ...(cursor === null ? {} : { cursor }) })
      for (const { id } of page.items) {
        const state = await app.ledger.read(id)
        if (state !== null) states.push(state)
      }
      cursor = page.nextCursor
      // Tasks that are not in memory are read whole: other requests must not wait for all of them.
      if (cursor !== null) await nextTurn()
      if (states.length >= TASKS_MAX && cursor !== null) return { states, isCut: true }
    } while (cursor !== null)
  }
  return { states, isCut: false }
}

function listApprovalItems(state: TaskState): readonly Item[] {
  return [...state.approvals.values()]
    .filter(({ status }) => status === 'pending')
    .map((approval) => ({
      kind: 'approval',
      id: approval.id,
      task: state,
      agentId: approval.agentId,
      phase: approval.phase,
      since: approval.requestedAt,
      title: formatApprovalTitle(approval),
      detail: approval.artifacts.map(({ type }) => type).join(', '),
      actions: ['approve', 'reject'],
    }))
}

function formatApprovalTitle({ gate, phase, to }: Approval): string {
  if (gate === 'request_dependency') return 'Approve the installation of a dependency'
  if (gate === 'request_setup_change') return 'Approve a change of the test setup'
  return phase === to ? `Approve the end of ${phase}` : `Approve ${phase} → ${to}`
}

function listQuestionItems(state: TaskState): readonly Item[] {
  return openQuestions(state).map((question) => ({
    kind: 'question',
    id: question.id,
    task: state,
    agentId: question.agentId,
    phase: question.phase,
    since: question.askedAt,
    title: question.question,
    detail: question.options.join(' · '),
    actions: ['answer'],
  }))
}

function listTaskItems(state: TaskState): readonly Item[] {
  const about = { id: state.id, task: state, agentId: state.held?.agentId ?? null, phase: state.phase }
  const { unexplained } = state
  return [
    ...(state.status === 'parked'
      ? [
          {
            ...{ ...about, kind: 'parked' as const, since: state.updatedAt, title: 'The task is parked' },
            ...{ detail: state.parkedReason ?? '', actions: PARKED_ACTIONS },
          },
        ]
      : []),
    ...(unexplained === undefined
      ? []
      : [
          {
            ...{ ...about, kind: 'unexplained' as const, since: unexplained.since },
            ...{ title: 'Changes that no call explains', detail: unexplained.detail, actions: ['revert', 'accept'] },
          },
        ]),
  ]
}

const PARKED_ACTIONS = ['resume', 'rewind', 'reassign', 'cancel']

async function listMissingTreeItems(app: App, states: readonly TaskState[]): Promise<readonly Item[]> {
  const missing = await listMissingTrees(app, states)
  return missing.map(({ state, detail, remedy }) => ({
    kind: 'tree_missing',
    id: state.id,
    task: state,
    agentId: state.held?.agentId ?? null,
    phase: state.phase,
    since: state.updatedAt,
    title: 'The work tree is missing',
    detail: `${detail} ${remedy}`,
    actions: ['cancel'],
  }))
}

async function listAlertItems(app: App): Promise<readonly Item[]> {
  const items: Item[] = []
  for (const alert of app.alerts.list().slice(0, ITEMS_MAX)) {
    const task = await app.ledger.read(String(alert.task_id))
    if (task === null) continue
    items.push({
      kind: 'alert',
      id: `${task.id}/${String(alert.alert)}`,
      task,
      agentId: task.held?.agentId ?? null,
      phase: task.phase,
      since: Date.parse(String(alert.since)),
      title: String(alert.alert),
      detail: String(alert.message),
      actions: ['open'],
    })
  }
  return items
}

function listContractItems(app: App): readonly Item[] {
  return [...app.ledger.registry.contracts.values()]
    .filter(({ isTrusted }) => !isTrusted)
    .map(({ hash, name, version, origin, registeredAt }) => ({
      kind: 'contract',
      id: hash,
      task: null,
      agentId: null,
      phase: null,
      since: registeredAt,
      title: `Contract ${name} ${version} is not trusted`,
      detail: `It came with ${origin}. Until an operator trusts it, it may not use private addresses.`,
      actions: ['trust'],
    }))
}

function toItemView({ kind, id, task, agentId, phase, since, title, detail, actions }: Item): JsonObject {
  return {
    ...{ kind, id, task_id: task?.id ?? null, task_title: task?.title ?? null, agent_id: agentId, phase },
    ...{ since: toIsoTime(since), title: cut(title), detail: cut(detail), actions },
  }
}

function cut(text: string): string {
  return text.length <= TEXT_CHARS_MAX ? text : `${text.slice(0, TEXT_CHARS_MAX).toWellFormed()}…`
}
