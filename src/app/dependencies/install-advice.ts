import type { Contract } from '../../core/contract/contract.js'
import { mentionsInstall, saysNoNetwork } from '../../core/dependencies/package-managers.js'
import type { JsonObject } from '../../core/json.js'
import type { TaskState } from '../../core/task/state.js'
import { isOffered, requirePhase } from '../../core/tool-calls/offered-tools.js'
import type { ToolOutcome } from '../../tools/tool-place.js'

/** Advice for an agent whose package manager failed without network; null when that did not happen. */
export function adviseInstall(
  { contract, state }: { readonly contract: Contract; readonly state: TaskState },
  { tool, args, outcome }: { readonly tool: string; readonly args: JsonObject; readonly outcome: ToolOutcome },
): string | null {
  if (tool !== 'bash' || !mentionsInstall(String(args.command))) return null
  const { stdout = '', stderr = '' } = outcome.ok ? outcome.result : (outcome.extra ?? {})
  if (!saysNoNetwork(`${stdout}\n${stderr}`)) return null
  const operator = `phaselock install ${state.id} -- npm install zod`
  return isOffered(requirePhase(contract, state.phase), 'request_dependency')
    ? `Commands have no network. Call request_dependency with {"command": ["npm", "install", "zod"], "reason": "why"}, as words of your package manager, and call it again once a person has approved it; or ask an operator for: ${operator}`
    : `Commands have no network. Ask an operator to install it: ${operator}`
}
