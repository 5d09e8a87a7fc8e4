import { existsSync, realpathSync } from 'node:fs'
import type { AgentEntry, AgentProgram } from '../core/contract/agent-programs.js'
import { isModelAddress } from '../core/contract/contract-permissions.js'
import { packagePath } from '../package/package-root.js'
import { RECIPES } from '../participants/agent-cli/agent-cli-recipes.js'

const SDK = packagePath('sdk/typescript')
const PYTHON_SDK = packagePath('python/src')
const SDK_HOOK = packagePath('runtime/sandbox/sdk-import.mjs')

// What signs tokens and what operators prove themselves with is for nobody else, whatever a contract says.
const OWN = /^(PHASELOCK_.*|ORCHESTRATOR_JWT_SECRET)$/
const REFERENCE = /\$\{env:([A-Za-z_][A-Za-z0-9_]*)\}/g

export type GivenVariables =
  | {
      readonly ok: true
      /** What the agent's entry gives it, filled in. */
      readonly own: Readonly<Record<string, string>>
      /** The variables of the server that its kind of agent is given. */
      readonly passed: Readonly<Record<string, string>>
      readonly secrets: readonly string[]
    }
  | { readonly ok: false; readonly detail: string }

/** The variables that an agent is given: of the server's own environment only what its harness needs or its entry names. */
export function selectVariables(
  program: AgentProgram,
  entry: Pick<AgentEntry, 'env'> | null,
  environment: NodeJS.ProcessEnv,
  secretVariable: string,
): GivenVariables {
  const found = (name: string): string | undefined =>
    OWN.test(name) || name === secretVariable || !Object.hasOwn(environment, name) ? undefined : environment[name]
  const secrets: string[] = []
  const missing = new Set<string>()
  const fill = (name: string): string => {
    const value = found(name)
    if (value === undefined) missing.add(name)
    else secrets.push(value)
    return value ?? ''
  }
  const own = Object.fromEntries(
    Object.entries(entry?.env ?? {})
      .filter(([name]) => !OWN.test(name))
      .map(([name, value]) => [name, value.replaceAll(REFERENCE, (_whole, variable: string) => fill(variable))]),
  )
  if (missing.size > 0)
    return { ok: false, detail: `its env needs ${[...missing].join(', ')}, which the server was not started with` }
  const recipe = RECIPES[program.harness]
  const passed: Record<string, string> = {}
  // The server's key belongs to the server's address: another one gets it only where the entry names the key itself.
  const hasOwnAddress = Object.keys(own).some((name) => isModelAddress(name))
  for (const name of recipe.passes) {
    const value = hasOwnAddress && recipe.secrets.includes(name) ? undefined : found(name)
    if (value !== undefined && value !== '') passed[name] = value
  }
  secrets.push(...recipe.secrets.flatMap((name) => passed[name] ?? []))
  return { ok: true, own, passed, secrets }
}

/** The clients for agents, so that programs find them by their name. */
export function buildSdkVariables(harness: AgentProgram['harness']): {
  readonly env: Readonly<Record<string, string>>
  readonly shown: readonly string[]
} {
  // The others have no use for it, and one that is written for Node would be slowed by it.
  if (harness !== 'command') return { env: {}, shown: [] }
  const shown = [SDK, PYTHON_SDK].filter((path) => existsSync(path)).map((path) => realpathSync(path))
  return {
    env: {
      PHASELOCK_SDK: SDK,
      PYTHONPATH: PYTHON_SDK,
      // Modules look for nothing beside themselves and what is installed above them: only this makes the name known to them.
      NODE_OPTIONS: `--import=${JSON.stringify(realpathSync(SDK_HOOK))}`,
    },
    shown,
  }
}
