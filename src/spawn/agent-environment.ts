import { existsSync, realpathSync } from 'node:fs'
import { packagePath } from '../base/package-root.js'
import type { AgentEntry, AgentProgram } from '../core/contract/agent-programs.js'
import { isModelAddress } from '../core/contract/contract-permissions.js'
import { RECIPES } from '../participants/agent-cli/agent-cli-recipes.js'

const SDK = packagePath('sdk/typescript')
const PYTHON_SDK = packagePath('python/src')
const SDK_HOOK = packagePath('runtime/sandbox/sdk-import.mjs')

// Signing secrets and operator tokens are never passed on, whatever a contract says.
const OWN = /^(PHASELOCK_.*|ORCHESTRATOR_JWT_SECRET)$/
const REFERENCE = /\$\{env:([A-Za-z_][A-Za-z0-9_]*)\}/g

type GivenVariables =
  | {
      readonly ok: true
      /** The variables of the agent's entry, filled in. */
      readonly own: Readonly<Record<string, string>>
      /** The server's variables for its kind of agent. */
      readonly passed: Readonly<Record<string, string>>
      readonly secrets: readonly string[]
    }
  | { readonly ok: false; readonly detail: string }

/** The variables of an agent: of the server's environment only what its agent CLI needs or its entry names. */
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
  // The server's key belongs to the server's address: another address gets it only if the entry names the key itself.
  const hasOwnAddress = Object.keys(own).some((name) => isModelAddress(name))
  for (const name of recipe.passes) {
    const value = hasOwnAddress && recipe.secrets.includes(name) ? undefined : found(name)
    if (value !== undefined && value !== '') passed[name] = value
  }
  secrets.push(...recipe.secrets.flatMap((name) => passed[name] ?? []))
  return { ok: true, own, passed, secrets }
}

/** The client libraries for agents, so that programs find them by name. */
export function buildSdkVariables(harness: AgentProgram['harness']): {
  readonly env: Readonly<Record<string, string>>
  readonly shown: readonly string[]
} {
  // The others do not use it, and it would slow down those written for Node.
  if (harness !== 'command') return { env: {}, shown: [] }
  const shown = [SDK, PYTHON_SDK].filter((path) => existsSync(path)).map((path) => realpathSync(path))
  return {
    env: {
      PHASELOCK_SDK: SDK,
      PYTHONPATH: PYTHON_SDK,
      // Modules are only resolved next to the importing file and above it: only this makes the name known to them.
      NODE_OPTIONS: `--import=${JSON.stringify(realpathSync(SDK_HOOK))}`,
    },
    shown,
  }
}
