import type { JsonObject } from '../../core/json.js'
import type { Question, TaskState } from '../../core/task/state.js'
import type { App } from '../app.js'
import { admitCall } from '../identity/agent-call.js'
import type { Party } from '../identity/identity.js'
import { ok, type Result } from '../result.js'
import { toQuestionView } from '../tasks/views.js'

// Maximum number of tasks that one page reads when none of their questions match; the next page continues from there.
const TASKS_LOOKED_AT_MAX = 500

interface QuestionQuery {
  readonly status: Question['status'] | undefined
  readonly taskId: string | undefined
  readonly limit: number
  readonly cursor: string | undefined
}

/**
 * Lists questions: newest task first, and in the order asked within a task. An agent sees only the questions of its
 * task.
 */
export async function listQuestions(app: App, principal: Party, query: QuestionQuery): Promise<Result<JsonObject>> {
  if (principal.kind === 'operator') return ok(await buildPage(app, query))
  const admitted = await admitCall(app, principal.bearer, undefined)
  if (!admitted.ok) return admitted
  const own = admitted.value.state.id
  if (query.taskId !== undefined && query.taskId !== own) return ok({ questions: [], next_cursor: null })
  return ok(await buildPage(app, { ...query, taskId: own }))
}

/**
 * Position at the end of a page: after the tasks older than `before`, and within a task after the question with that
 * number.
 */
interface Place {
  readonly before: string | null
  readonly taskId: string
  readonly number: number
}

async function buildPage(app: App, query: QuestionQuery): Promise<JsonObject> {
  const from = query.cursor === undefined ? null : decodePlace(query.cursor)
  const questions: JsonObject[] = []
  let looked = 0
  for await (const { state, before, after } of walkTasks(app, query, from)) {
    const wanted = [...state.questions.values()].filter(
      (question) =>
        (query.status === undefined || question.status === query.status) &&
        (from?.taskId !== state.id || parseNumber(question) > from.number),
    )
    const shown = wanted.slice(0, query.limit - questions.length)
    questions.push(...shown.map((question) => toQuestionView(state, question)))
    const last = shown.at(-1)
    if (last !== undefined && shown.length < wanted.length)
      return { questions, next_cursor: encodePlace({ before, taskId: state.id, number: parseNumber(last) }) }
    looked += 1
    const isFull = questions.length >= query.limit || looked >= TASKS_LOOKED_AT_MAX
    if (isFull && after !== null)
      return { questions, next_cursor: encodePlace({ before: after, taskId: '', number: 0 }) }
  }
  return { questions, next_cursor: null }
}

interface FoundTask {
  readonly state: TaskState
  /** Store cursors that point to this task and to the task after it. */
  readonly before: string | null
  readonly after: string | null
}

async function* walkTasks(app: App, query: QuestionQuery, from: Place | null): AsyncGenerator<FoundTask> {
  if (query.taskId !== undefined) {
    const state = await app.ledger.read(query.taskId)
    if (state !== null) yield { state, before: null, after: null }
    return
  }
  const hasQuestion = query.status === 'open' ? 'open' : 'any'
  let before = from?.before ?? null
  for (;;) {
    const page = await app.ledger.store.queryTasks({
      hasQuestion,
      limit: 1,
      ...(before === null ? {} : { cursor: before }),
    })
    const [row] = page.items
    const state = row === undefined ? null : await app.ledger.read(row.id)
    if (state !== null) yield { state, before, after: page.nextCursor }
    if (page.nextCursor === null) return
    before = page.nextCursor
  }
}

function parseNumber(question: Question): number {
  return Number(/^qst-(\d+)-/.exec(question.id)?.[1] ?? 0)
}

function encodePlace({ before, taskId, number }: Place): string {
  return Buffer.from(JSON.stringify([before, taskId, number])).toString('base64url')
}

/** Throws a RangeError for a text that is not a cursor of ours. */
function decodePlace(cursor: string): Place {
  const [before, taskId, number] = readList(Buffer.from(cursor, 'base64url').toString('utf8'))
  const isPlace =
    (before === null || typeof before === 'string') && typeof taskId === 'string' && Number.isSafeInteger(number)
  if (!isPlace) throw new RangeError('the cursor is not from an earlier page')
  return { before, taskId, number: number as number }
}

function readList(text: string): readonly unknown[] {
  try {
    const list: unknown = JSON.parse(text)
    return Array.isArray(list) ? list : []
  } catch {
    return []
  }
}
