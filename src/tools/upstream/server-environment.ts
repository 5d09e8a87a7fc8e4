import type { StdioServer } from '../../core/contract/contract.js'
import { UpstreamFailure } from './failure.js'

/** A variable of Phaselock's own environment; undefined when it is not set, or servers must not have it. */
export type Environment = (name: string) => string | undefined

interface ServerEnvironment {
  readonly env: Readonly<Record<string, string>>
  /** The values that were taken from Phaselock's environment. */
  readonly secrets: readonly string[]
}

// What signs tokens and what operators prove themselves with is for nobody else, whatever a contract says.
const OWN = /^(PHASELOCK_.*|ORCHESTRATOR_JWT_SECRET)$/

/** The environment of a server: only what its entry says, with `${env:NAME}` filled in at the start. */
export function buildServerEnvironment(server: StdioServer, environment: Environment): ServerEnvironment {
  const secrets: string[] = []
  const missing: string[] = []
  const fill = (name: string): string => {
    const value = OWN.test(name) ? undefined : environment(name)
    if (value === undefined) missing.push(name)
    else secrets.push(value)
    return value ?? ''
  }
  const env = Object.fromEntries(
    [...server.env].map(([name, value]) => [
      name,
      value.replaceAll(/\$\{env:([A-Za-z_][A-Za-z0-9_]*)\}/g, (_whole, variable: string) => fill(variable)),
    ]),
  )
  if (missing.length > 0)
    throw new UpstreamFailure(
      `needs ${[...new Set(missing)].join(', ')}, which the environment of the server does not have`,
      true,
    )
  return { env, secrets: [...new Set(secrets)] }
}
