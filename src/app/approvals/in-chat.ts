import type { Contract } from '../../core/contract/contract.js'
import type { TaskState } from '../../core/task/state.js'
import { offersCommandTool } from '../../core/tool-calls/offered-tools.js'
import type { App } from '../app.js'

const ELSEWHERE = 'Decide in the dashboard or with `phaselock approve`.'

/**
 * Why an answer in the chat approves nothing; null: it counts. A form that an agent CLI shows is answered by the person
 * only where the agent cannot reach the CLI: an agent with a shell outside the sandbox could answer for the person.
 */
export async function findChatProblem(app: App, contract: Contract, state: TaskState): Promise<string | null> {
  const { registry } = app.ledger
  const ownHolder = state.holders.find((agentId) => registry.access.boundByHooks.has(agentId))
  const holder = ownHolder ?? app.operators.shells.findLive(registry) ?? undefined
  if (holder !== undefined)
    return `Agent ${holder} has a shell outside the sandbox, so that an answer in a chat approves nothing. ${ELSEWHERE}`
  if (!offersCommandTool(contract)) return null
  const isOpen = contract.enforcement.confinement === 'off' || (await app.confinement()).missing.length > 0
  return isOpen
    ? `Commands of this task run without a whole sandbox, so that an answer in the chat approves nothing. ${ELSEWHERE}`
    : null
}
