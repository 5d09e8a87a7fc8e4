import { readHookPlan } from '../../app/trees/git-hooks.js'
import type { Contract } from '../../core/contract/contract.js'
import { usesCommits } from '../../core/paths/commit-scope.js'
import { plainLine } from '../../core/plain-text.js'

/** What happens to the hooks of the repository when agents commit; nothing if there are none. */
export async function formatHooks(
  contract: Contract,
  workspace: string,
  environment: NodeJS.ProcessEnv,
): Promise<readonly string[]> {
  if (!usesCommits(contract)) return []
  const plan = await readHookPlan(contract, workspace, environment)
  const { ran, skipped } = plan
  const place = plainLine(plan.place)
  return [
    ...(ran.length === 0 ? [] : [`${ran.join(', ')} of ${place}: run in the sandbox before each commit of an agent`]),
    ...(skipped.length === 0
      ? []
      : [
          `SKIPPED when agents commit: ${skipped.join(', ')} of ${place}${ran.length === 0 ? ' (`git: {hooks: run}` in the contract runs them)' : ''}`,
        ]),
  ]
}
