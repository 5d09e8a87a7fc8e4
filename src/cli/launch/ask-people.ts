import { setTimeout as wait } from 'node:timers/promises'
import { isObject, type JsonObject } from '../../core/json.js'
import { plainLine } from '../../core/plain-text.js'
import { compact } from '../client/answer-values.js'
import { Stop } from '../exit.js'
import { DECISION_SCHEMA, formatApprovalForm, formatQuestionForm, readFormAnswer } from './approval-form.js'
import type { SessionServer } from './session-server.js'
import type { Waiting } from './waiting-for-people.js'

const POLL_MS = 700
const ASK_MS_MAX = 24 * 3600 * 1000
const ANSWER_CHARS_MAX = 4000
const PROGRESS_EVERY = 15

/** How the CLI shows a form to the person. */
export interface Chat {
  /** Null: this CLI shows no forms, or an answer from it would prove nothing. */
  readonly ask: ((form: Form, signal: AbortSignal) => Promise<FormResult>) | null
  /** Shows the person where to decide; null: this CLI cannot. What they answer there decides nothing. */
  readonly show: ((page: Page, signal: AbortSignal) => Promise<FormResult>) | null
  readonly progress: (text: string) => Promise<void>
  readonly signal: AbortSignal
}

export interface Form {
  readonly message: string
  readonly schema: JsonObject
}

export interface Page {
  readonly message: string
  readonly url: string
}

export interface FormResult {
  readonly action: string
  readonly content?: unknown
}

/** `decided`: the call can be made again. Otherwise what to tell the model. */
export type Asked = { readonly kind: 'decided' } | { readonly kind: 'open'; readonly note: string }

/** Gets decisions of people: in the chat, or from wherever somebody decides first. */
export class People {
  /** Approvals and questions that the model was told to announce. */
  readonly #announced = new Set<string>()

  constructor(
    private readonly server: SessionServer,
    private readonly getTaskId: () => string,
  ) {}

  async ask(waiting: Waiting, chat: Chat): Promise<Asked> {
    if (chat.ask === null && chat.show === null && !this.#announced.has(waiting.id)) {
      this.#announced.add(waiting.id)
      return { kind: 'open', note: this.#formatAnnouncement(waiting) }
    }
    const over = new AbortController()
    const signal = AbortSignal.any([over.signal, chat.signal])
    try {
      const elsewhere = this.#waitForDecision(waiting, chat, signal)
      if (chat.ask !== null) return await Promise.race([elsewhere, this.#askInChat(waiting, chat.ask, signal)])
      if (chat.show === null) return await elsewhere
      return await Promise.race([elsewhere, this.#showInChat(waiting, chat.show, signal)])
    } finally {
      over.abort()
    }
  }

  /** Until somebody decides in the dashboard, with the CLI or over the API. */
  async #waitForDecision(waiting: Waiting, chat: Chat, signal: AbortSignal): Promise<Asked> {
    for (let round = 0; ; round += 1) {
      if (await this.#isDecided(waiting)) return { kind: 'decided' }
      if (round % PROGRESS_EVERY === 0) await chat.progress(`waits for a person: ${waiting.id}`)
      await wait(POLL_MS, undefined, { signal })
    }
  }

  async #isDecided(waiting: Waiting): Promise<boolean> {
    try {
      const operator = await this.server.operator()
      if (waiting.kind === 'question') return (await operator.question(waiting.id)).status !== 'open'
      return (await operator.task(this.getTaskId())).pending_approval?.id !== waiting.id
    } catch (error) {
      // The server is being restarted, or refuses for now: keep waiting.
      if (error instanceof Stop) return false
      throw error
    }
  }

  async #askInChat(waiting: Waiting, ask: NonNullable<Chat['ask']>, signal: AbortSignal): Promise<Asked> {
    try {
      return await (waiting.kind === 'approval'
        ? this.#askApproval(waiting.id, ask, signal)
        : this.#askQuestion(waiting.id, ask, signal))
    } catch (error) {
      if (!(error instanceof Stop)) throw error
      // Decided elsewhere a moment ago, or not for this operator to decide: the server says which.
      return { kind: 'open', note: `Not recorded: ${plainLine(error.message)}\n${this.#formatAnnouncement(waiting)}` }
    }
  }

  // Ends only when the person closes it without opening the page: then nobody is about to decide.
  async #showInChat(waiting: Waiting, show: NonNullable<Chat['show']>, signal: AbortSignal): Promise<Asked> {
    const { kind, id } = waiting
    const [page, command] = kind === 'approval' ? [`/approvals/${id}`, `approve ${id}`] : ['/', `answer ${id}`]
    const message = [
      `${kind === 'approval' ? 'An approval' : 'A question'} waits for you. It needs your passphrase or a passkey.`,
      'Decide on this page, or in another terminal:',
      `phaselock ${command}`,
    ].join('\n')
    const { action } = await show({ message, url: `${this.server.url}${page}` }, signal)
    return action === 'accept' ? new Promise<Asked>(() => undefined) : this.#dismissed(waiting)
  }

  async #askApproval(id: string, ask: NonNullable<Chat['ask']>, signal: AbortSignal): Promise<Asked> {
    const operator = await this.server.operator()
    const approval = await operator.approval(id)
    // What the gates before it found is for information: without it the form says less.
    const state = await operator.taskState(approval.task_id).catch(() => null)
    const message = formatApprovalForm(approval, this.server.url, state?.gates ?? [])
    const form = { message, schema: DECISION_SCHEMA as JsonObject }
    const answer = readFormAnswer(await ask(form, signal))
    if (answer.kind === 'dismissed') return this.#dismissed({ kind: 'approval', id })
    const { decision, comment } = answer
    // The digest of what was shown: if the content changed meanwhile, the server refuses.
    const body = compact({ decision, digest: approval.digest, comment, channel: 'in_chat' })
    await operator.decide(id, body)
    return { kind: 'decided' }
  }

  async #askQuestion(id: string, ask: NonNullable<Chat['ask']>, signal: AbortSignal): Promise<Asked> {
    const operator = await this.server.operator()
    const question = await operator.question(id)
    const options = question.options.map((option) => plainLine(option))
    const field: JsonObject =
      options.length === 0
        ? { type: 'string', title: 'Answer', minLength: 1, maxLength: ANSWER_CHARS_MAX }
        : { type: 'string', title: 'Answer', enum: options }
    const message = formatQuestionForm(question, this.server.url)
    const schema = { type: 'object', properties: { answer: field }, required: ['answer'] }
    const { action, content } = await ask({ message, schema }, signal)
    const text = isObject(content) && typeof content.answer === 'string' ? content.answer : ''
    if (action !== 'accept' || text.trim() === '') return this.#dismissed({ kind: 'question', id })
    const at = options.indexOf(text)
    await operator.answer(id, { answer: at === -1 ? text : (question.options[at] ?? text) })
    return { kind: 'decided' }
  }

  #dismissed(waiting: Waiting): Asked {
    return {
      kind: 'open',
      note: `The person closed the form without deciding. Ask what they want to know, and make the same call again when they are ready.\n${this.#formatAnnouncement(waiting)}`,
    }
  }

  #formatAnnouncement({ kind, id }: Waiting): string {
    const ways =
      kind === 'approval'
        ? `in the dashboard (${this.server.url}/approvals/${id}) or in another terminal: phaselock approve ${id}`
        : `in the dashboard (${this.server.url}) or in another terminal: phaselock answer ${id}`
    return `Tell the person that this waits for them, ${ways}. Then make the same call again: it returns as soon as somebody has decided.`
  }
}

export { ASK_MS_MAX }
