import type { PendingApproval } from 'phaselock/sdk'
import type { JsonObject } from '../../core/json.js'
import type { Answer, Api } from './demo-api.js'

interface ClaimedTask {
  readonly api: Api
  readonly task: string
  readonly tree: string
  readonly token: string
}

/**
 * An agent that uses everything an agent has: it keeps every token, sends what it likes, and has access to the files.
 */
export class Cheater {
  readonly api: Api
  readonly task: string
  readonly tree: string
  /** The token of its current phase. */
  token: string
  /** The token of the previous phase. */
  spentToken = ''
  /** The approval that it requested last. */
  approval: PendingApproval = { id: '', digest: '', expires_at: '' }

  private constructor({ api, task, tree, token }: ClaimedTask) {
    this.api = api
    this.task = task
    this.tree = tree
    this.token = token
  }

  static async claim(api: Api, one: { readonly agent: string; readonly task: string; readonly tree: string }) {
    const { agent, task, tree } = one
    const { agent_token } = await api.operator.addAgent({ agent_id: agent })
    const claimed = await api.as(agent_token).claim({ agent_id: agent, task_id: task })
    return new Cheater({ api, task, tree, token: claimed.phase_token })
  }

  use(tool: string, args: JsonObject, token: string = this.token): Promise<Answer> {
    return this.api.call(token, '/tools/execute', { task_id: this.task, tool_name: tool, args })
  }

  write(path: string, content: string): Promise<Answer> {
    return this.use('write_files', { path, content })
  }

  async move(target: string, artifacts: JsonObject = {}): Promise<Answer> {
    const answer = await this.api.call(this.token, '/tasks/transition', {
      task_id: this.task,
      target_phase: target,
      artifacts,
    })
    if (answer.body.pending_approval !== undefined) this.approval = answer.body.pending_approval as PendingApproval
    if (typeof answer.body.phase_token === 'string') {
      this.spentToken = this.token
      this.token = answer.body.phase_token
    }
    return answer
  }

  answerApproval(): Promise<Answer> {
    const { id, digest } = this.approval
    return this.api.call(this.token, `/approvals/${id}/decision`, { decision: 'approve', digest })
  }

  /** An honest step: it is allowed. */
  async writeAllowed(path: string, content: string): Promise<void> {
    requireGranted(`writing ${path}`, await this.write(path, content), (body) => body.decision === 'allowed')
  }

  async enterAllowed(target: string, artifacts: JsonObject = {}): Promise<void> {
    requireGranted(`going to ${target}`, await this.move(target, artifacts), (body) => body.allowed === true)
  }
}

function requireGranted(what: string, answer: Answer, isGranted: (body: JsonObject) => boolean): void {
  if (!isGranted(answer.body)) throw new Error(`${what} should be allowed: ${JSON.stringify(answer.body)}`)
}
