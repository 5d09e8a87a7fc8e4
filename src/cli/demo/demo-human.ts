import type { OperatorClient } from 'phaselock/sdk'
import { EXIT, Stop } from '../exit.js'
import { formatApproval } from '../terminal/approval-text.js'
import { confirm, tell } from '../terminal/terminal.js'
import type { Api } from './demo-api.js'

/** The human of the demo: the operator "you". */
export class Human {
  private constructor(
    readonly client: OperatorClient,
    private readonly isAsked: boolean,
  ) {}

  static async join(api: Api, isAsked: boolean): Promise<Human> {
    const { operator_token } = await api.operator.addOperator({ name: 'you' })
    return new Human(api.as(operator_token), isAsked)
  }

  /** Reads exactly the content to approve, and approves that. */
  async approve(id: string): Promise<void> {
    const approval = await this.client.approval(id)
    if (this.isAsked) {
      tell(`\n${formatApproval(approval)}`)
      if (!(await confirm('Do you approve?')))
        throw new Stop(EXIT.refused, 'You did not approve the plan, so the agent gets no further. The demo ends here.')
    }
    await this.client.decide(id, { decision: 'approve', digest: approval.digest, comment: 'Small and clear.' })
  }

  /** Reverts changes that no allowed call explains. */
  revert(task: string): Promise<unknown> {
    return this.client.settleTree(task, 'revert', { reason: 'nobody was allowed to change this' })
  }
}
