import { randomBytes } from 'node:crypto'
import type { Spawn } from '../../core/contract/agent-programs.js'
import type { AgentBinding } from '../../core/identity/operator-access.js'
import type { Agent, RegistryFact } from '../../core/identity/registry.js'
import type { JsonObject } from '../../core/json.js'
import { buildAgentDetails } from '../agents/agent-details.js'
import { readAgentTallies } from '../agents/agent-tallies.js'
import type { App } from '../app.js'
import { type AddedOperator, type AgentGrant, keepUnder, type Once } from '../kept-answer.js'
import { ok, type Result, refuse, toProblem } from '../result.js'
import { toSpawnView } from '../tasks/spawn-view.js'
import { toIsoTime, toIsoTimeOrNull } from '../wire.js'
import { refuseReservedAgentName } from './agent-names.js'
import { deriveOperatorToken, generateOperatorToken, generateSeed, hashToken } from './identity.js'

const AGENT_TOKEN_MS = 30 * 24 * 3600 * 1000
const KNOWN_AGENT = 'Choose another id, or ask an operator without the role ci to give this agent a new token.'

/** Registers an agent for an operator. `unlessKnown`: only if it is new. (REQ-ROLES-6, REQ-ROLES-7) */
export async function registerAgent(
  app: App,
  request: {
    readonly agentId: string
    readonly capabilities: readonly string[]
    readonly binding?: AgentBinding | undefined
  },
  by: { readonly actor: string; readonly once: Once | undefined; readonly unlessKnown: boolean },
): Promise<Result<JsonObject>> {
  const { agentId, binding } = request
  const refused = await refuseReservedAgentName(app, agentId)
  if (refused !== null) return refused
  const added = await addAgent(app, request, by)
  if (added.ok && binding !== undefined)
    await app.ledger.record({ type: 'agent_bound', agentId, ...binding }, { now: app.now(), actor: by.actor })
  return added
}

/** Registers an agent, or a new instance of a known one, which revokes its older agent token. */
export async function addAgent(
  app: App,
  request: { readonly agentId: string; readonly capabilities: readonly string[] },
  by: { readonly actor: string; readonly once: Once | undefined; readonly unlessKnown?: boolean },
): Promise<Result<JsonObject>> {
  const now = app.now()
  if (app.redact(request.agentId) !== request.agentId)
    return refuse('invalid_request', 'agent_id: looks like a secret; choose another.')
  const agent = {
    id: request.agentId,
    instance: randomBytes(12).toString('base64url'),
    expiresAt: now + AGENT_TOKEN_MS,
  }
  const refusal = await app.ledger.record(
    {
      type: 'agent_registered',
      agentId: agent.id,
      instance: agent.instance,
      capabilities: request.capabilities,
      expiresAt: agent.expiresAt,
      unlessKnown: by.unlessKnown === true,
    },
    { now, actor: by.actor },
    { remember: keepUnder(by.once, 201, () => ({ agent })) },
  )
  return refusal === null ? ok(buildAgentAnswer(app, agent)) : toProblem(refusal, { remedy: KNOWN_AGENT }, false)
}

export function buildAgentAnswer(app: App, agent: AgentGrant): JsonObject {
  const minted = app.tokens.mintAgentToken(agent, app.now())
  return { agent_id: agent.id, agent_token: minted.token, expires_at: toIsoTime(minted.expiresAt) }
}

export async function listAgents(app: App): Promise<JsonObject> {
  const agents: JsonObject[] = []
  const tallies = await readAgentTallies(app)
  for (const agent of app.ledger.registry.agents.values()) agents.push(await buildAgentRow(app, agent, tallies))
  // Reviewers that Phaselock started use another token and are not agents.
  for (const spawn of app.ledger.registry.spawns.values()) {
    if (spawn.review === null) continue
    const tally = tallies.get(`reviewer:${spawn.review.name}`)
    const details = await buildAgentDetails(app, { id: spawn.agentId, held: null, spawn }, tally)
    agents.push({ ...toReviewerRow(spawn), ...details })
  }
  return { agents }
}

/** A registered agent as the list shows it; null: no agent has this name. */
export async function findAgent(app: App, agentId: string): Promise<JsonObject | null> {
  const agent = app.ledger.registry.agents.get(agentId)
  return agent === undefined ? null : buildAgentRow(app, agent, await readAgentTallies(app))
}

async function buildAgentRow(
  app: App,
  agent: Agent,
  tallies: Awaited<ReturnType<typeof readAgentTallies>>,
): Promise<JsonObject> {
  const held = await app.ledger.store.findHeldBy(agent.id)
  const spawn = app.ledger.registry.spawns.get(agent.id)
  return {
    agent_id: agent.id,
    capabilities: agent.capabilities,
    status: agent.revokedAt === null ? (held === null ? 'idle' : 'working') : 'revoked',
    task_id: held?.id ?? null,
    phase: held?.phase ?? null,
    last_activity: toIsoTimeOrNull(held?.updatedAt ?? spawn?.ended?.at ?? spawn?.lost?.at ?? null),
    registered_at: toIsoTime(agent.registeredAt),
    expires_at: toIsoTime(agent.expiresAt),
    spawn: spawn === undefined ? null : toSpawnView(spawn),
    ...(await buildAgentDetails(app, { id: agent.id, held, spawn }, tallies.get(agent.id))),
  }
}

function toReviewerRow(spawn: Spawn): JsonObject {
  return {
    agent_id: spawn.agentId,
    capabilities: [],
    status: spawn.ended === null ? 'reviewing' : 'ended',
    task_id: spawn.taskId,
    phase: null,
    last_activity: toIsoTimeOrNull(spawn.lost?.at ?? spawn.ended?.at ?? null),
    registered_at: toIsoTime(spawn.spawnedAt),
    expires_at: null,
    spawn: toSpawnView(spawn),
  }
}

/** An operator that was added under an idempotency key, without its token. */
/** Adds an operator. The token is shown once and never kept. */
export async function addOperator(
  app: App,
  request: { readonly name: string; readonly role: string | null },
  by: { readonly actor: string; readonly once: Once | undefined },
): Promise<Result<JsonObject>> {
  const { name, role } = request
  if (app.redact(name) !== name) return refuse('invalid_request', 'name: looks like a secret; choose another.')
  const { token, seed } =
    by.once === undefined ? { token: generateOperatorToken(), seed: '' } : makeRepeatableToken(app)
  const remember = keepUnder(by.once, 201, () => ({ operator: { name, role, seed } }))
  const fact: RegistryFact = { type: 'operator_added', name, role, verifier: hashToken(token) }
  const refusal = await app.ledger.record(fact, { now: app.now(), actor: by.actor }, { remember })
  return refusal === null ? ok({ name, role, operator_token: token }) : toProblem(refusal)
}

// Only the seed is stored: making the token also requires the signing secret.
function makeRepeatableToken(app: App): { readonly token: string; readonly seed: string } {
  const seed = generateSeed()
  return { token: deriveOperatorToken(app.secrets.signing()[0] ?? '', seed), seed }
}

/** Sends the answer again to a client that lost it, as long as the operator still has that token. */
export function repeatOperatorAnswer(app: App, { name, role, seed }: AddedOperator): Result<JsonObject> {
  const known = app.ledger.registry.operators.get(name)
  const tokens = app.secrets.signing().map((secret) => deriveOperatorToken(secret, seed))
  const token = tokens.find((one) => hashToken(one) === known?.verifier)
  return token === undefined || known?.revokedAt !== null
    ? refuse(
        'conflict',
        `The token of operator ${JSON.stringify(name)} cannot be shown again. Revoke the operator and add it again.`,
      )
    : ok({ name, role, operator_token: token })
}

export function listOperators(app: App): JsonObject {
  const operators = [...app.ledger.registry.operators.values()].map((operator) => ({
    name: operator.name,
    role: operator.role,
    added_at: toIsoTime(operator.addedAt),
    revoked_at: toIsoTimeOrNull(operator.revokedAt),
  }))
  return { operators }
}

/** Records an event of the registry and returns the given answer. */
export async function note(
  app: App,
  fact: RegistryFact,
  by: { readonly actor: string; readonly once: Once | undefined; readonly answer: JsonObject },
): Promise<Result<JsonObject>> {
  const remember = keepUnder(by.once, 200, () => ({ body: by.answer }))
  const refusal = await app.ledger.record(fact, { now: app.now(), actor: by.actor }, { remember })
  return refusal === null ? ok(by.answer) : toProblem(refusal)
}

/** Makes a new signing secret. Tokens signed with the current one stay valid until they expire. */
export async function rotateSecret(
  app: App,
  reason: string,
  by: { readonly actor: string; readonly once: Once | undefined },
): Promise<Result<JsonObject>> {
  const secrets = app.secrets.rotate()
  if (secrets === null) {
    const { variable } = app.secrets
    return refuse(
      'conflict',
      `The signing secret comes from ${variable}: set ${variable} to a new value, put the old one into ${variable}_PREVIOUS, and restart.`,
    )
  }
  app.tokens.rotate(secrets)
  const { kid } = app.tokens
  return note(app, { type: 'secret_rotated', kid, reason }, { ...by, answer: { kid } })
}

export function listContracts(app: App): JsonObject {
  const contracts = [...app.ledger.registry.contracts.values()].map((contract) => ({
    hash: contract.hash,
    name: contract.name,
    version: contract.version,
    origin: contract.origin,
    registered_at: toIsoTime(contract.registeredAt),
    trusted: contract.isTrusted,
    default: contract.hash === app.defaultContract,
  }))
  return { contracts }
}
