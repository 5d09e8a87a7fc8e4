import { readFileSync } from 'node:fs'
import { type Answer, ownTree, type Running } from './harness.js'

/** The contract of the guide. */
export const VOTED = /<!-- example: consensus -->\n```yaml\n([\s\S]*?)```/.exec(
  readFileSync(new URL('../../docs/consensus.md', import.meta.url), 'utf8'),
)?.[1] as string

export const VOTERS = ['reviewer_a', 'reviewer_b', 'reviewer_c']
export const NOTES = { notes: { text: 'It adds two numbers.' } }

export type Caller = Pick<Running, 'call'> & { readonly operator: string; readonly workspace?: string }

export interface Blocked {
  readonly code: string
  readonly check: string | null
  readonly message: string
}

/** An agent with a task whose phase reviewers vote on. */
export class Ballot {
  token = ''
  agent = ''
  tree = ''

  constructor(
    readonly server: () => Caller,
    readonly task: string,
    readonly agentId = `agent-${task}`,
  ) {}

  static async lay(server: () => Caller, task: string, agentId = `agent-${task}`): Promise<Ballot> {
    const ballot = new Ballot(server, task, agentId)
    const { call, operator, workspace } = server()
    ballot.tree = workspace === undefined ? '' : ownTree({ workspace })
    const own = workspace === undefined ? {} : { workspace: ballot.tree }
    await call('POST', '/tasks', operator, { title: 'Add', id: task, ...own })
    ballot.agent = String((await call('POST', '/agents', operator, { agent_id: agentId })).body.agent_token)
    await ballot.claim()
    return ballot
  }

  async claim(): Promise<void> {
    const got = await this.server().call('POST', '/tasks/claim', this.agent, {
      ...{ agent_id: this.agentId, task_id: this.task },
    })
    if (got.status !== 200) throw new Error(JSON.stringify(got.body))
    this.token = String(got.body.phase_token)
  }

  async leave(more: Record<string, unknown> = {}): Promise<Pick<Answer, 'status' | 'body'>> {
    const got = await this.server().call('POST', '/tasks/transition', this.token, {
      ...{ task_id: this.task, target_phase: 'DONE', artifacts: NOTES, ...more },
    })
    if (typeof got.body.phase_token === 'string') this.token = got.body.phase_token
    return got
  }

  async blockers(more: Record<string, unknown> = {}): Promise<readonly Blocked[]> {
    const got = await this.leave(more)
    if (got.status !== 200 || got.body.allowed !== false) throw new Error(JSON.stringify(got.body))
    return got.body.blockers as readonly Blocked[]
  }

  async write(path: string, content: string): Promise<void> {
    const got = await this.server().call('POST', '/tools/execute', this.token, {
      ...{ task_id: this.task, tool_name: 'write_files', args: { path, content } },
    })
    if (got.status !== 200) throw new Error(JSON.stringify(got.body))
  }

  /** Asks to leave, and gives the coordination that is waited for. */
  async pending(more: Record<string, unknown> = {}): Promise<string> {
    const { body } = await this.leave(more)
    const [found] = (body.blockers ?? []) as readonly Blocked[]
    const { id } = (body.pending_consensus ?? {}) as { readonly id?: string }
    const isNamed = id !== undefined && found?.message.includes(`Council ${id} `) === true
    if (found?.code !== 'consensus_pending' || !isNamed) throw new Error(JSON.stringify(body))
    return id
  }

  async events(): Promise<readonly { readonly type: string; readonly data: Record<string, never> }[]> {
    const { call, operator } = this.server()
    const got = await call('GET', `/audit/query?task_id=${this.task}&limit=1000`, operator)
    return got.body.events as never
  }
}

/** A reviewer with the token that an operator handed over. */
export class Reviewer {
  constructor(
    readonly server: () => Caller,
    readonly run: string,
    readonly token: string,
  ) {}

  static async seat(server: () => Caller, run: string, name: string): Promise<Reviewer> {
    const { call, operator } = server()
    const got = await call('POST', `/coordinations/${run}/agents/${name}/token`, operator, {})
    if (got.status !== 200) throw new Error(JSON.stringify(got.body))
    return new Reviewer(server, run, String(got.body.token))
  }

  look(): Promise<Pick<Answer, 'status' | 'body'>> {
    return this.server().call('GET', `/coordinations/${this.run}`, this.token)
  }

  respond(name: string, args: Record<string, string>, run = this.run): Promise<Pick<Answer, 'status' | 'body'>> {
    return this.server().call('POST', `/coordinations/${run}/respond`, this.token, {
      tool_calls: [{ name, arguments: args }],
    })
  }

  async answer(content: string, verdict: string): Promise<void> {
    await this.look()
    expectAccepted(await this.respond('new_answer', { content, verdict }))
  }

  async vote(agent_id: string): Promise<void> {
    await this.look()
    expectAccepted(await this.respond('vote', { agent_id, reason: 'It is right.' }))
  }
}

function expectAccepted(got: Pick<Answer, 'status' | 'body'>): void {
  if (got.status !== 200 || got.body.accepted !== true) throw new Error(JSON.stringify(got.body))
}

/** All reviewers come; the first speaks, and all vote for it. */
export async function agree(server: () => Caller, run: string, verdict = 'approve'): Promise<void> {
  const reviewers = await Promise.all(VOTERS.map((name) => Reviewer.seat(server, run, name)))
  await reviewers[0]?.answer('The sum is right, and tested.', verdict)
  for (const reviewer of reviewers) await reviewer.vote('agent1')
}
