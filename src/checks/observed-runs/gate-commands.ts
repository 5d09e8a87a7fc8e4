import type { Contract, ObservedCommand } from '../../core/contract/contract.js'
import type { JsonObject } from '../../core/json.js'

const AD_HOC_SECONDS = 600

/** The command of a `command_succeeds` check, and the name under which its run is stored; null if it names none. */
export function findCommand(
  contract: Contract,
  params: JsonObject,
): { readonly key: string; readonly command: ObservedCommand } | null {
  const { command: name, run } = params
  if (typeof name === 'string') {
    const command = contract.commands.get(name)
    return command === undefined ? null : { key: name, command }
  }
  if (typeof run !== 'string') return null
  const command = { run, format: 'auto', report: null, timeoutSeconds: AD_HOC_SECONDS, env: {} } as const
  return { key: `run: ${run}`, command }
}

/** Every command that can decide a gate of the contract, except those that run the tests. */
export function listGateCommands(contract: Contract): ReadonlyMap<string, ObservedCommand> {
  const found = new Map([...contract.commands].filter(([name]) => name !== 'tests' && name !== 'coverage'))
  for (const phase of contract.phases.values()) {
    const blockers = [
      ...phase.gates.flatMap((gate) => gate.blockers),
      ...phase.requiredArtifacts.flatMap(({ checks }) => checks),
    ]
    for (const { check, params } of blockers) {
      const one = check === 'command_succeeds' ? findCommand(contract, params) : null
      if (one !== null) found.set(one.key, one.command)
    }
  }
  return found
}
