import { listOpenedPaths } from '../paths/opened-paths.js'
import type { Contract, Enforcement, Phase } from './contract.js'

/**
 * The reach of a permission. `sandbox`: commands and programs in the sandbox, without network. `outside`: agent CLIs,
 * public addresses. `operator`: only for contracts that an operator trusted. (REQ-TRUST-3)
 */
type Reach = 'sandbox' | 'outside' | 'operator'

export const PERMISSION_KINDS = [
  'commands',
  'confinement',
  'agents',
  'environment',
  'webhooks',
  'network',
  'paths',
] as const

/** One permission that a contract asks for, described for the operator who decides. */
interface Permission {
  readonly kind: (typeof PERMISSION_KINDS)[number]
  readonly text: string
  readonly reach: Reach
}

type Confinement = Enforcement['confinement']

const CONFINEMENTS: readonly Confinement[] = ['off', 'best_effort', 'required']
const SECRET_VARIABLE = 'ORCHESTRATOR_JWT_SECRET'
const REFERENCE = /\$\{env:([A-Za-z_][A-Za-z0-9_]*)\}/g
// A variable that decides where a model key is sent, for any client.
const MODEL_ADDRESS = /(BASE_URL|API_BASE|_ENDPOINT|(?<!^NO)_PROXY)$/i

/** All permissions that the contract asks for. */
export function listPermissions(contract: Contract): readonly Permission[] {
  return [
    ...listCommandPermissions(contract),
    makeConfinementPermission(contract.enforcement),
    ...listAgentPermissions(contract),
    ...listEnvironmentPermissions(contract),
    ...listWebhookPermissions(contract),
    ...listNetworkPermissions(contract),
    ...listServicePermissions(contract),
    ...listPathPermissions(contract),
  ]
}

/** Whether the contract asks for nothing beyond commands in the sandbox. */
export function isSandboxOnly(contract: Contract): boolean {
  return listPermissions(contract).every(({ reach }) => reach === 'sandbox')
}

/** Whether `asked` confines less than `least` demands; null demands nothing. */
export function isBelowConfinement(asked: Confinement, least: Confinement | null): boolean {
  return least !== null && CONFINEMENTS.indexOf(asked) < CONFINEMENTS.indexOf(least)
}

/** Whether an environment variable names an address that a key is sent to. */
export function isModelAddress(variable: string): boolean {
  return MODEL_ADDRESS.test(variable)
}

function listCommandPermissions(contract: Contract): readonly Permission[] {
  const gates = [...contract.phases.values()].flatMap((phase) => phase.gates.flatMap((gate) => gate.blockers))
  const inGates = gates.flatMap(({ params }) => (typeof params.run === 'string' ? [params.run] : []))
  const texts = [
    ...[...contract.commands].map(
      ([name, { run, allowsSigusr1 }]) => `${name}: ${run}${allowsSigusr1 === true ? ' (may send SIGUSR1)' : ''}`,
    ),
    ...new Set(inGates),
    ...[...contract.tools.values()].map(({ name, command }) => `tool ${name}: ${command.join(' ')}`),
    ...[...contract.mcpServers.values()].flatMap((server) =>
      server.kind === 'stdio' ? [`MCP server ${server.name}: ${[server.command, ...server.args].join(' ')}`] : [],
    ),
    ...(contract.git?.hooks === 'run' ? ['hooks of the repository, before each commit of an agent'] : []),
    ...(listPhasesWith(contract, 'bash').length === 0
      ? []
      : [`bash in ${listPhasesWith(contract, 'bash').join(', ')}`]),
  ]
  return texts.map((text) => ({ kind: 'commands', text, reach: 'sandbox' }))
}

// What runs on the machine itself runs with the rights of the server.
function listServicePermissions({ commands }: Contract): readonly Permission[] {
  return [...commands].flatMap(([command, { services = {} }]) =>
    Object.entries(services).flatMap(([name, { address, start, stop, ready }]): readonly Permission[] => [
      { kind: 'network', text: `${command} reaches ${name} at ${address} of this machine`, reach: 'operator' },
      ...[start, stop, ready].flatMap((line) =>
        line === undefined
          ? []
          : [{ kind: 'commands', text: `service ${name}, without a sandbox: ${line}`, reach: 'operator' } as const],
      ),
    ]),
  )
}

const CONFINED: Readonly<Record<Confinement, string>> = {
  required: 'required: commands run in the sandbox or not at all',
  best_effort: 'best_effort: commands run without a sandbox where the machine has none',
  off: 'off: commands run without a sandbox, with the rights of the server',
}

function makeConfinementPermission({ confinement }: Enforcement): Permission {
  const reach = confinement === 'required' ? 'sandbox' : 'operator'
  return { kind: 'confinement', text: CONFINED[confinement], reach }
}

// A program in the sandbox reaches Phaselock but no model. An agent CLI uses the server's key.
function listAgentPermissions({ agents = new Map() }: Contract): readonly Permission[] {
  return [...agents].map(([name, { harness, command, args }]) => ({
    kind: 'agents',
    text: `${name}: ${[command ?? harness, ...args].join(' ')}`,
    reach: harness === 'command' ? 'sandbox' : 'outside',
  }))
}

function listEnvironmentPermissions(contract: Contract): readonly Permission[] {
  const found: Permission[] = []
  const read = (where: string, env: Iterable<readonly [string, string]>): void => {
    for (const [name, value] of env) {
      for (const [, variable] of value.matchAll(REFERENCE))
        found.push({
          kind: 'environment',
          text: `${where} gets the server's variable ${variable} as ${name}`,
          reach: 'operator',
        })
      if (isModelAddress(name))
        found.push({ kind: 'environment', text: `${where} uses the address ${name}=${value}`, reach: 'operator' })
    }
  }
  for (const [name, { env }] of contract.agents ?? []) read(`agent ${name}`, Object.entries(env))
  for (const server of contract.mcpServers.values())
    if (server.kind === 'stdio') read(`MCP server ${server.name}`, server.env)
  const { secretEnvVar } = contract.enforcement
  if (secretEnvVar !== SECRET_VARIABLE)
    found.push({
      kind: 'environment',
      text: `tokens are signed with the server's variable ${secretEnvVar}`,
      reach: 'operator',
    })
  for (const { url, secretEnvVar: secret } of contract.webhooks ?? [])
    if (secret !== null)
      found.push({
        kind: 'environment',
        text: `webhooks to ${parseOrigin(url)} are signed with the server's variable ${secret}`,
        reach: 'operator',
      })
  return found
}

// Addresses can contain a key in their path, so only the host is shown.
function listWebhookPermissions({ webhooks = [] }: Contract): readonly Permission[] {
  return webhooks.map(({ url, events }) => ({
    kind: 'webhooks',
    text: `${parseOrigin(url)}: ${events.join(', ')}`,
    reach: 'outside',
  }))
}

function listNetworkPermissions(contract: Contract): readonly Permission[] {
  const found: Permission[] = []
  const add = (text: string, reach: Reach): number => found.push({ kind: 'network', text, reach })
  // A command with network also reaches this machine and the private network around it.
  for (const phase of contract.phases.values())
    for (const [tool, { network }] of phase.constraints)
      if (network) add(`${tool} in ${phase.id}: any address`, 'operator')
  for (const tool of contract.tools.values()) if (tool.network) add(`tool ${tool.name}: any address`, 'operator')
  for (const server of contract.mcpServers.values()) {
    if (server.kind === 'http') add(`MCP server ${server.name}: ${parseOrigin(server.url)}`, 'operator')
    else if (server.network) add(`MCP server ${server.name}: any address`, 'operator')
  }
  if (contract.webHosts.length > 0) add(`web_fetch: ${contract.webHosts.join(', ')}`, 'outside')
  return found
}

// Protected files control agents or run on other people's machines, so opening them reaches beyond the sandbox.
function listPathPermissions(contract: Contract): readonly Permission[] {
  return listOpenedPaths(contract).map(({ phase, pattern, kind, why }) => ({
    kind: 'paths',
    text: `${phase} may change ${pattern}: ${why}`,
    reach: kind === 'protected' ? 'outside' : 'sandbox',
  }))
}

function listPhasesWith(contract: Contract, tool: string): readonly string[] {
  const offers = ({ allowedTools, forbiddenTools }: Phase): boolean =>
    (allowedTools === 'all' || allowedTools.includes(tool)) && !forbiddenTools.includes(tool)
  return [...contract.phases.values()].filter(offers).map(({ id }) => id)
}

// Written without the URL class, which the core does not have.
function parseOrigin(url: string): string {
  return /^[a-z]+:\/\/[^/?#]*/i.exec(url)?.[0] ?? url
}
