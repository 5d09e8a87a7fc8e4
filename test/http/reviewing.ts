import { type Answer, ownTree, type Running } from './harness.js'

/** Two reviews of others before the work is done; the agent may still write while it is reviewed. */
export const REVIEWED = `
name: reviewed
version: "1"
phases:
  - {id: WORK, allowed_tools: [write_files]}
  - id: REVIEW
    allowed_tools: [read_files, write_files]
    required_artifacts: [{type: review_report, schema: schemas/review.json, description: what others say}]
    gates:
      - id: reviewed
        type: validation
        blockers:
          - {check: all_review_models_completed, required_reviews: [security, quality], message: Both must review}
          - {check: no_blocking_issues, message: Issues}
          - {check: review_comments_addressed, severity: warning, message: Comments}
  - {id: DONE, allowed_tools: []}
transitions:
  - {from: WORK, to: REVIEW}
  - {from: REVIEW, to: WORK, when: changes_requested}
  - {from: REVIEW, to: DONE}
`

/** An agent with a task, and those who review it. */
export class Desk {
  token = ''
  agent = ''
  tree = ''

  constructor(
    readonly run: () => Running,
    readonly task: string,
  ) {}

  static async lay(run: () => Running, task: string, agentId = `agent-${task}`): Promise<Desk> {
    const desk = new Desk(run, task)
    desk.tree = ownTree(run())
    await run().addTask({ id: task, workspace: desk.tree })
    desk.agent = await run().addAgent(agentId)
    desk.token = await run().claim(agentId, desk.agent, task)
    return desk
  }

  /** The same, in REVIEW. */
  static async inReview(run: () => Running, task: string): Promise<Desk> {
    const desk = await Desk.lay(run, task)
    await desk.move('REVIEW')
    return desk
  }

  async move(target_phase: string, more: Record<string, unknown> = {}): Promise<Answer> {
    const body = { task_id: this.task, target_phase, ...more }
    const answer = await this.run().call('POST', '/tasks/transition', this.token, body)
    if (typeof answer.body.phase_token === 'string') this.token = answer.body.phase_token
    return answer
  }

  back(): Promise<Answer> {
    return this.move('WORK', { claims: { changes_requested: true } })
  }

  mint(name: string, more: Record<string, unknown> = {}): Promise<Answer> {
    return this.run().call('POST', `/tasks/${this.task}/reviewers`, this.run().operator, { name, ...more })
  }

  /** The token of a reviewer that must be let in. */
  async reviewer(name: string, more: Record<string, unknown> = {}): Promise<string> {
    const { status, body } = await this.mint(name, more)
    if (status !== 201) throw new Error(JSON.stringify(body))
    return String(body.review_token)
  }

  report(
    token: string,
    report: unknown = { status: 'completed' },
    more: Record<string, unknown> = {},
  ): Promise<Answer> {
    return this.run().call('POST', `/tasks/${this.task}/reviews`, token, { report, ...more })
  }

  use(token: string, tool_name: string, args: Record<string, unknown>, how = 'execute'): Promise<Answer> {
    return this.run().call('POST', `/tools/${how}`, token, { task_id: this.task, tool_name, args })
  }

  async events(): Promise<readonly { type: string; actor: string; data: Record<string, unknown> }[]> {
    const answer = await this.run().call('GET', `/tasks/${this.task}/timeline?limit=1000`, this.run().operator)
    return answer.body.events as never
  }

  reviews(token: string = this.run().operator): Promise<Answer> {
    return this.run().call('GET', `/tasks/${this.task}/reviews`, token)
  }
}

export function messagesOf(answer: Answer, list: 'blockers' | 'warnings' = 'blockers'): string[] {
  return ((answer.body[list] ?? []) as { message: string }[]).map((one) => one.message)
}
