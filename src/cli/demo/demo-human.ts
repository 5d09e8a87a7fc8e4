import type { JsonObject } from '../../core/json.js'
import { toText } from '../client/answer-values.js'
import { encodeSegment } from '../client/client.js'
import { EXIT, Stop } from '../exit.js'
import { formatApproval } from '../terminal/approval-text.js'
import { confirm, tell } from '../terminal/terminal.js'
import type { Api } from './demo-api.js'

/** The human of the demo: the operator "you". */
export class Human {
  readonly #api: Api
  readonly #token: string
  readonly #isAsked: boolean

  private constructor(api: Api, token: string, isAsked: boolean) {
    this.#api = api
    this.#token = token
    this.#isAsked = isAsked
  }

  static async join(api: Api, isAsked: boolean): Promise<Human> {
    const { operator_token: token } = await api.askAsOperator('/operators', { name: 'you' })
    return new Human(api, toText(token), isAsked)
  }

  /** Reads exactly what is to be approved, and approves that. */
  async approve(id: string): Promise<void> {
    const approval = await this.#api.must(this.#token, `/approvals/${encodeSegment(id)}`)
    if (this.#isAsked) {
      tell(`\n${formatApproval(approval)}`)
      if (!(await confirm('Do you approve?')))
        throw new Stop(EXIT.refused, 'You did not approve the plan, so the agent gets no further. The demo ends here.')
    }
    const decision = { decision: 'approve', digest: approval.digest ?? null, comment: 'Small and clear.' }
    await this.act(`/approvals/${encodeSegment(id)}/decision`, decision)
  }

  /** Puts back what no allowed call explains. */
  revert(task: string): Promise<JsonObject> {
    return this.act(`/tasks/${encodeSegment(task)}/tree/revert`, { reason: 'nobody was allowed to change this' })
  }

  act(path: string, body: JsonObject): Promise<JsonObject> {
    return this.#api.must(this.#token, path, body)
  }
}
