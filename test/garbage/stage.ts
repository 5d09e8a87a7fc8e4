import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { asked } from '../http/asking.js'
import { ownTree, PLAN, type Running, start } from '../http/harness.js'

/** A contract with a short way to the end. */
export const SHORT = `
name: short
version: "1"
phases:
  - {id: A, allowed_tools: [read_files]}
  - {id: B, allowed_tools: []}
`

/** An agent with the task that it holds. */
export interface Pair {
  readonly agentId: string
  readonly agent: string
  readonly phase: string
  /** Of somebody who reviews the task in the phase that it is in. */
  readonly review: string
  readonly task: string
  /** Of somebody who takes part in the coordination that the request is about. */
  readonly participant?: string
}

export interface Approval {
  readonly id: string
  readonly digest: string
}

/** A server with something in every state that a request could name. */
export class Stage {
  readonly #secrets = new Set<string>()
  #count = 0
  #keys: readonly (readonly [string, string])[] = []
  completed = ''
  cancelled = ''
  queued = ''
  shortHash = ''
  approval: Approval = { id: '', digest: '' }
  /** With which the operator confirms. */
  passphrase = 'a passphrase of some length'

  private constructor(readonly run: Running) {}

  static async open(given?: Running): Promise<Stage> {
    const run = given ?? (await start({ agentPerSecond: 1_000_000_000, confirm: 'never' }))
    // From here on the clock moves only when it is told to: strangers are slowed down by it.
    run.now = Date.now()
    const stage = new Stage(run)
    stage.#secrets.add(run.operator)
    stage.readKeys()
    // Before an agent comes that has a shell: then the token alone is not enough for it.
    await stage.operate('/passphrase', { passphrase: stage.passphrase })
    stage.shortHash = String((await stage.operate('/contracts', { source: SHORT })).hash)
    const done = await stage.pair({ contract: 'short' })
    await run.call('POST', '/tasks/transition', done.phase, { task_id: done.task, target_phase: 'B' })
    stage.completed = done.task
    stage.cancelled = await run.addTask()
    await stage.operate(`/tasks/${stage.cancelled}/cancel`, { reason: 'not needed' })
    stage.queued = await run.addTask()
    stage.approval = await stage.pending(await stage.pair())
    return stage
  }

  /** A name that was not used yet. */
  fresh(prefix: string): string {
    this.#count += 1
    return `${prefix}-${this.#count}`
  }

  async operate(path: string, body: unknown): Promise<Record<string, unknown>> {
    const answer = await this.run.call('POST', path, this.run.operator, body)
    if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer.body)}`)
    return answer.body
  }

  /** Keeps what must not be shown to anybody again. */
  issued(token: string): string {
    this.#secrets.add(token)
    return token
  }

  /** A new agent that holds a new task, in its first phase. */
  async pair(about: Record<string, unknown> = {}): Promise<Pair> {
    const agentId = this.fresh('agent')
    const task = await this.run.addTask({ id: this.fresh('task'), ...about })
    const agent = this.issued(await this.run.addAgent(agentId))
    const phase = this.issued(await this.run.claim(agentId, agent, task))
    return { agentId, agent, phase, task, review: await this.reviewer(task) }
  }

  async reviewer(task: string): Promise<string> {
    const { status, body } = await this.run.call('POST', `/tasks/${task}/reviewers`, this.run.operator, {
      name: 'critic',
    })
    if (status !== 201) throw new Error(JSON.stringify(body))
    return this.issued(String(body.review_token))
  }

  /** Asks for the transition that a human must approve. */
  async pending(pair: Pair): Promise<Approval> {
    const asked = await this.run.call('POST', '/tasks/transition', pair.phase, {
      task_id: pair.task,
      target_phase: 'TDD',
      artifacts: { plan_document: PLAN },
    })
    return asked.body.pending_approval as Approval
  }

  /** The same, approved: the task is in TDD, where shell and writing are allowed within limits. */
  async testing(): Promise<Pair> {
    const pair = await this.pair({ workspace: ownTree(this.run) })
    const { id, digest } = await this.pending(pair)
    await this.operate(`/approvals/${id}/decision`, { decision: 'approve', digest })
    const moved = await this.run.call('POST', '/tasks/transition', pair.phase, {
      task_id: pair.task,
      target_phase: 'TDD',
      artifacts: { plan_document: PLAN },
    })
    const phase = this.issued(String(moved.body.phase_token))
    return { ...pair, phase, review: await this.reviewer(pair.task) }
  }

  /** Asks the operators something. */
  question(pair: Pair): Promise<string> {
    return asked(this.run, pair.phase, 'Which one?', ['left', 'right'])
  }

  /** A task that too many refusals in a row have parked. */
  async parked(): Promise<Pair> {
    const pair = await this.pair()
    const calls = Array.from({ length: 12 }, () => ({ tool_name: 'write_files', args: { path: 'a', content: 'b' } }))
    await this.run.call('POST', '/tools/batch', pair.phase, { task_id: pair.task, calls })
    return pair
  }

  /** What is in an answer and must not be, in words; null when there is nothing. */
  leakIn(text: string): string | null {
    for (const [token] of text.matchAll(/eyJ[\w-]+\.[\w-]+\.[\w-]+|plop_[\w-]{43}/g))
      if (this.#secrets.has(token)) return 'a token that was issued before'
    const { stateDir } = this.run
    if (text.includes(stateDir)) return 'the path of the state directory'
    for (const [name, secret] of this.#keys) if (text.includes(secret)) return `the content of ${name}`
    if (/\n\s+at .+:\d+:\d+|\\n\s+at .+:\d+:\d+|node_modules|file:\/\/\/.*\.[jt]s/.test(text)) return 'a stack trace'
    return /SQLITE_|sqlite3?_|no such column/i.test(text) ? 'words of the database' : null
  }

  /** Reads what is secret in the state directory; to be called again when it was rotated. */
  readKeys(): void {
    this.#keys = this.#keysOnDisk()
  }

  #keysOnDisk(): readonly (readonly [string, string])[] {
    const { stateDir } = this.run
    const key = readFileSync(join(stateDir, 'ledger.key'))
    const signing = readFileSync(join(stateDir, 'signing.secret'), 'utf8').split('\n')
    const pem = readFileSync(join(stateDir, 'ledger.ed25519'), 'utf8').split('\n')
    return [
      ...(['hex', 'base64', 'base64url', 'latin1'] as const).map((as) => ['ledger.key', key.toString(as)] as const),
      ...signing.filter((line) => line.length > 20).map((line) => ['signing.secret', line] as const),
      ...pem.filter((line) => line.length > 40).map((line) => ['ledger.ed25519', line] as const),
    ]
  }
}
