import { type Answer, ask, type Request } from './server.js'

/** A phase that loops, one that waits for a human, and a way out that nobody takes. */
export const CONTRACT = `
name: torture
version: "1"
phases:
  - {id: A, allowed_tools: [read_files]}
  - {id: B, allowed_tools: [read_files], gates: [{id: go, type: approval, approvers: [human]}]}
  - {id: C, allowed_tools: [read_files]}
  - {id: D, allowed_tools: [], required_artifacts: [{type: note, description: a note}]}
transitions:
  - {from: A, to: B}
  - {from: B, to: A, when: again}
  - {from: B, to: C, gate: go}
  - {from: C, to: A, when: again}
  - {from: C, to: D}
`

export type Kind = 'create' | 'claim' | 'check' | 'transition' | 'approve' | 'release'

/** What a client asked for and what it was told. `mark` is what the ledger can be searched for. */
export interface Entry {
  readonly kind: Kind
  readonly task: string | null
  readonly agent: string | null
  readonly mark: string
  sends: number
  answer: Answer | null
}

/** The one place where clients learn whether the server is up, and the counter of what is in flight. */
export class Line {
  inFlight = 0
  readonly history: Entry[] = []
  /** Called with the place of an entry in the history as soon as its answer is there. */
  onAnswer: (index: number) => void = () => undefined
  #base: string | null = null
  #waiting: (() => void)[] = []
  #isOver = false

  get isOver(): boolean {
    return this.#isOver
  }

  up(base: string): void {
    this.#base = base
    for (const go of this.#waiting.splice(0)) go()
  }

  down(): void {
    this.#base = null
  }

  /** No new requests; those that were not answered are still sent again. */
  finish(): void {
    this.#isOver = true
  }

  async #ready(): Promise<string> {
    while (this.#base === null) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    return this.#base
  }

  /** Sends until there is an answer when the request has a key, else once: null then means that nobody knows. */
  async send(entry: Omit<Entry, 'sends' | 'answer'>, request: Request): Promise<Answer | null> {
    const kept: Entry = { ...entry, sends: 0, answer: null }
    const index = this.history.push(kept) - 1
    while (kept.sends === 0 || request.key !== undefined) {
      const base = await this.#ready()
      kept.sends += 1
      this.inFlight += 1
      try {
        kept.answer = await ask(base, request)
        this.onAnswer(index)
        return kept.answer
      } catch {
        // The connection broke: the server was killed. It is down until the test says otherwise.
        await new Promise((resolve) => setTimeout(resolve, 5))
      } finally {
        this.inFlight -= 1
      }
    }
    return null
  }
}

/** Makes tasks all the time, so that there is always something to claim. */
export async function runCreator(
  line: Line,
  operator: { readonly token: string; readonly name: string },
): Promise<void> {
  for (let n = 0; !line.isOver; n += 1) {
    const id = `${operator.name}-${n}`
    await line.send(
      { kind: 'create', task: id, agent: null, mark: id },
      { method: 'POST', path: '/tasks', token: operator.token, body: { title: id, id }, key: id },
    )
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
}

/** An agent that claims, works in loops, has its gates approved and gives its task back. */
export class AgentClient {
  readonly #line: Line
  readonly #id: string
  readonly #token: string
  readonly #operator: string
  readonly #random: () => number
  #count = 0

  constructor(
    line: Line,
    options: {
      readonly id: string
      readonly token: string
      readonly operator: string
      readonly random: () => number
    },
  ) {
    this.#line = line
    this.#id = options.id
    this.#token = options.token
    this.#operator = options.operator
    this.#random = options.random
  }

  async run(): Promise<void> {
    while (!this.#line.isOver) {
      const claimed = await this.#claim()
      if (claimed !== null) await this.#work(claimed.task, claimed.token)
    }
  }

  async #claim(): Promise<{ readonly task: string; readonly token: string } | null> {
    const mark = this.#next('claim')
    // All agents ask for the oldest task, or all for the same newest one: they race.
    const newest = this.#line.history.findLast((one) => one.kind === 'create' && one.answer?.status === 201)?.task
    const wanted = newest != null && this.#random() < 0.5 ? { task_id: newest } : {}
    const answer = await this.#line.send(
      { kind: 'claim', task: null, agent: this.#id, mark },
      { method: 'POST', path: '/tasks/claim', token: this.#token, body: { agent_id: this.#id, ...wanted }, key: mark },
    )
    if (answer?.status !== 200) return null
    const task = (answer.body.task as { id: string }).id
    return { task, token: String(answer.body.phase_token) }
  }

  async #work(task: string, first: string): Promise<void> {
    let token = first
    const rounds = 1 + Math.floor(this.#random() * 4)
    const move = async (target: string) => {
      const moved = await this.#transition(task, token, target)
      if (moved?.body.allowed === true) token = String(moved.body.phase_token)
      return moved
    }
    for (let round = 0; round < rounds && !this.#line.isOver; round += 1) {
      await Promise.all([this.#check(task, token), this.#check(task, token)])
      if ((await move('B'))?.body.allowed !== true) break
      await this.#check(task, token)
      if (this.#random() < 0.5) {
        const asked = await move('C')
        if (asked?.body.pending_approval !== undefined) await this.#approve(task, asked)
        await move('C')
      }
      await this.#check(task, token)
      if ((await move('A'))?.body.allowed !== true) break
    }
    await this.#line.send(
      { kind: 'release', task, agent: this.#id, mark: this.#next('release') },
      { method: 'POST', path: '/tasks/release', token, body: { task_id: task, reason: 'done for now' } },
    )
  }

  async #check(task: string, token: string): Promise<void> {
    const mark = this.#next('file')
    await this.#line.send(
      { kind: 'check', task, agent: this.#id, mark },
      {
        method: 'POST',
        path: '/tools/check',
        token,
        body: { task_id: task, tool_name: 'read_files', args: { path: mark } },
      },
    )
  }

  #transition(task: string, token: string, target: string): Promise<Answer | null> {
    const mark = this.#next('move')
    const body = { task_id: task, target_phase: target, ...(target === 'A' ? { claims: { again: true } } : {}) }
    return this.#line.send(
      { kind: 'transition', task, agent: this.#id, mark },
      { method: 'POST', path: '/tasks/transition', token, body, key: mark },
    )
  }

  /** Two answers to one question, under two keys: one counts. */
  async #approve(task: string, asked: Answer): Promise<void> {
    const { id, digest } = asked.body.pending_approval as { id: string; digest: string }
    await Promise.all(
      ['first', 'second'].map((which) =>
        this.#line.send(
          { kind: 'approve', task, agent: null, mark: id },
          {
            method: 'POST',
            path: `/approvals/${id}/decision`,
            token: this.#operator,
            body: { decision: 'approve', digest },
            key: `${id}-${which}`,
          },
        ),
      ),
    )
  }

  #next(what: string): string {
    this.#count += 1
    return `${what}-${this.#id}-${this.#count}`
  }
}
