import { describe, expect, it } from 'vitest'
import { isBelowConfinement, isSandboxOnly, listPermissions } from '../../src/core/contract/contract-permissions.js'
import { type ContractPin, judgeFound } from '../../src/core/contract/contract-trust.js'
import { decideRegistry, EMPTY_REGISTRY, evolveRegistry, type RegistryFact } from '../../src/core/identity/registry.js'
import { mustLoad } from '../contract/load.js'

const PIN: ContractPin = {
  ...{ workspace: '/w', file: '/w/agent_workflow.yaml', parts: [], hash: 'old', name: 'n', version: '1' },
  ...{ isTrusted: true, by: 'trust', at: 100 },
}
const known = (registeredAt: number, isTrusted = true) => ({
  ...{ hash: 'new', name: 'n', version: '1', origin: 'api', registeredAt, isTrusted },
})
type FoundContract = Parameters<typeof judgeFound>[0]

const found = (about: Partial<FoundContract>): FoundContract => ({
  ...{ hash: 'new', pin: null, known: undefined, isWithdrawn: false, isSandboxOnly: false, canAsk: false },
  ...about,
})

describe('a contract that was found', () => {
  it.each([
    ['that asks for more than the sandbox is refused where nobody can be asked', {}, 'refuse'],
    ['that asks for nothing more is used', { isSandboxOnly: true }, 'unasked'],
    ['is asked about on a terminal, whatever it asks for', { isSandboxOnly: true, canAsk: true }, 'ask'],
    ['that an operator registered is used', { known: known(50) }, 'registered'],
    ['that only a pipeline registered is not', { known: known(50, false) }, 'refuse'],
    ['whose acceptance was taken back is not', { known: known(50), isWithdrawn: true }, 'refuse'],
    ['that is the pinned one is used', { hash: 'old', pin: PIN }, 'as_pinned'],
    ['that differs from the pinned one is not', { pin: PIN, isSandboxOnly: true, canAsk: true }, 'pinned_text'],
    ['that does not load any more gives way to the pinned one', { hash: null, pin: PIN }, 'pinned_text'],
    ['that was registered before the pin does not come back', { pin: PIN, known: known(99) }, 'pinned_text'],
    ['that was registered after the pin takes its place', { pin: PIN, known: known(101) }, 'registered'],
    ['that a pipeline registered after the pin does not', { pin: PIN, known: known(101, false) }, 'pinned_text'],
  ] as const)('[REQ-TRUST-2] %s', (_name, about, verdict) => {
    expect(judgeFound(found(about))).toBe(verdict)
  })
})

const BASE = 'name: n\nversion: "1"\nphases:\n  - {id: A, allowed_tools: [bash]}\n  - {id: B}\n'
const REF = '$' + '{env:HOME}'

describe('what a contract asks for', () => {
  it.each([
    ['nothing', ''],
    ['commands', 'commands: {tests: {run: npm test, env: {A: b}}}'],
    ['a server in the sandbox', 'mcp_servers: {s: {command: node, args: [s.js]}}'],
    ['a program as an agent', 'agents: {a: {harness: command, command: node, args: [a.mjs]}}'],
    ['an own tool', 'tools: {t: {command: [make, all], description: d}}'],
  ])('[REQ-TRUST-3] %s stays in the sandbox', async (_name, more) => {
    expect(isSandboxOnly((await mustLoad(`${BASE}${more}\n`)).contract)).toBe(true)
  })

  it.each([
    ['agents', 'agents: {a: {harness: claude-code}}', false],
    ['public addresses', 'web: {allowed_hosts: [example.org]}', false],
    ['notices', 'webhooks: [{url: "https://example.org", events: [task_parked]}]', false],
    ['a weaker sandbox', 'enforcement: {confinement: best_effort}', true],
    ['no sandbox', 'enforcement: {confinement: off}', true],
    ['a mode with a weaker sandbox', 'enforcement: {mode: permissive}', true],
    ['a variable for an agent', `agents: {a: {harness: command, command: x, env: {K: "${REF}"}}}`, true],
    ['a variable for a server', `mcp_servers: {s: {command: node, env: {K: "${REF}"}}}`, true],
    ['another model address', 'agents: {a: {harness: codex, env: {OPENAI_BASE_URL: "https://x.example"}}}', true],
    ['a signing variable', 'enforcement: {phase_tokens: {secret_env_var: PHASELOCK_OTHER}}', true],
    ['a signed notice', 'webhooks: [{url: "https://e.org", events: [task_parked], secret_env_var: PATH}]', true],
    ['network for a tool', 'tools: {t: {command: [curl, x], description: d, network: true}}', true],
    ['a server elsewhere', 'mcp_servers: {s: {url: "https://example.org/mcp"}}', true],
  ])('[REQ-TRUST-3] %s is more than the sandbox', async (_name, more, needsOperator) => {
    const { contract } = await mustLoad(`${BASE}${more}\n`)
    expect(isSandboxOnly(contract)).toBe(false)
    expect(listPermissions(contract).some(({ reach }) => reach === 'operator')).toBe(needsOperator)
  })

  it('[REQ-TRUST-4] a confinement is below the least one only where it is weaker', () => {
    expect(isBelowConfinement('best_effort', 'required')).toBe(true)
    expect(isBelowConfinement('off', 'best_effort')).toBe(true)
    expect(isBelowConfinement('best_effort', 'best_effort')).toBe(false)
    expect(isBelowConfinement('off', null)).toBe(false)
  })
})

describe('the registry', () => {
  const register = (trust?: 'none'): RegistryFact => ({
    type: 'contract_registered',
    ...{ hash: 'h', name: 'n', version: '1', origin: 'api' },
    ...(trust === undefined ? {} : { trust }),
  })

  it('[REQ-TRUST-3] keeps a contract that an operator vouched for, and takes up the word for another', () => {
    const by = { at: 1, actor: 'operator:a' }
    const untrusted = evolveRegistry(EMPTY_REGISTRY, { ...register('none'), ...by })
    expect(untrusted.contracts.get('h')?.isTrusted).toBe(false)
    expect(decideRegistry(untrusted, register('none'))).toEqual([])
    expect(decideRegistry(untrusted, register())).toEqual([register()])
    const trusted = evolveRegistry(untrusted, { ...register(), ...by })
    expect(trusted.contracts.get('h')?.isTrusted).toBe(true)
    expect(decideRegistry(trusted, register('none'))).toEqual([])
  })
})
