import type {
  Blocker,
  Contract,
  Enforcement,
  EvidenceField,
  Gate,
  McpServer,
  ObservedCommand,
  OwnTool,
  Phase,
  RequiredArtifact,
  ToolConstraint,
  Transition,
} from '../../core/contract/contract.js'
import type { AlertCondition } from '../../core/contract/contract-parts.js'
import type { TestRules } from '../../core/contract/test-rules.js'
import type { JsonObject } from '../../core/json.js'
import { compileRule } from '../../core/rules/rule.js'
import { convertToCamelKeys } from '../camel-keys.js'
import { listExtraTools } from '../check/check-tools.js'
import { listPhasesBeforeRed } from '../check/demands.js'
import type {
  AgentDocument,
  ArtifactDocument,
  BlockerDocument,
  CommandDocument,
  ConstraintDocument,
  ContractDocument,
  EvidenceDocument,
  GateDocument,
  McpServerDocument,
  PhaseDocument,
  ToolDocument,
  TransitionDocument,
  ValidationDocument,
} from '../document.js'
import { findUnenforced } from '../not-enforced.js'
import { listSpawnNames } from '../read/read-agents.js'
import { compileConsensus } from './compile-consensus.js'
import { compileGit } from './compile-git.js'

/**
 * The core's contract, from a canonical document that was loaded (and perhaps stored) before. The conversion loses
 * nothing.
 */
export function compileDocument(document: JsonObject, hash: string): Contract {
  // Only `load-contract.ts` makes canonical documents, and the hash proves that this is one.
  const source = document as unknown as ContractDocument
  const { agents = {}, knowledge, monitoring, recovery, webhooks } = source
  const beforeRed = listPhasesBeforeRed(source)
  const crash = recovery?.agent_crash
  return {
    hash,
    name: source.name,
    version: source.version,
    description: source.description,
    start: source.start_node,
    phases: new Map(source.phases.map((phase) => [phase.id, compilePhase(phase, source, beforeRed.has(phase.id))])),
    transitions: source.transitions.map(compileTransition),
    enforcement: compileEnforcement(source.enforcement),
    commands: compileEach(source.commands, compileCommand),
    tests: compileTests(source.tests),
    schemas: new Map(Object.entries(source.schemas)),
    extraTools: listExtraTools(source),
    tools: compileEach(source.tools, compileTool),
    mcpServers: compileEach(source.mcp_servers, compileServer),
    webHosts: source.web.allowed_hosts,
    ...(webhooks && { webhooks: webhooks.map((hook) => ({ secretEnvVar: null, ...convertToCamelKeys(hook) })) }),
    notEnforced: findUnenforced(source).map(({ path, feature }) => ({ path, feature })),
    guides: new Map(Object.entries(source.guides)),
    agentStartable: source.agent_startable,
    ...(crash && { agentCrash: { ...convertToCamelKeys(crash), action: crash.action === 'retry' ? 'retry' : 'park' } }),
    ...(source.agents && { agents: compileEach(agents, compileAgent) }),
    ...(source.git && { git: compileGit(source.git) }),
    knowledge: knowledge?.sources ?? [],
    alerts: (monitoring?.alerts ?? []).map(({ condition, above, above_seconds, message = '' }) => ({
      condition: condition as AlertCondition,
      limit: above ?? above_seconds ?? 1,
      message,
    })),
  }
}

function compileEach<T, U>(
  entries: Readonly<Record<string, T>> = {},
  compile: (entry: T, name: string) => U,
): ReadonlyMap<string, U> {
  return new Map(Object.entries(entries).map(([name, entry]) => [name, compile(entry, name)]))
}

function compileTransition({ from, to, gate, when, triggers = [] }: TransitionDocument): Transition {
  const opensReviews = triggers.some((trigger) => trigger.action === 'spawn_review_agents')
  return { from, to, gate: gate ?? null, when: when ?? null, ...(opensReviews && { opensReviews }) }
}

function compileEnforcement({ phase_tokens: tokens, ...rest }: ContractDocument['enforcement']): Enforcement {
  return { ...convertToCamelKeys(rest), tokenExpirySeconds: tokens.expiry_seconds, secretEnvVar: tokens.secret_env_var }
}

function compileCommand({ sigusr1, ...command }: CommandDocument): ObservedCommand {
  return { report: null, env: {}, ...convertToCamelKeys(command), ...(sigusr1 === 'allow' && { allowsSigusr1: true }) }
}

function compileTests(tests: ContractDocument['tests']): TestRules {
  return { ...convertToCamelKeys(tests), ...(tests.inverted && { inverted: convertToCamelKeys(tests.inverted) }) }
}

function compileAgent(agent: AgentDocument) {
  return { command: null, args: [], model: null, env: {}, capabilities: [], ...agent }
}

function compilePhase(
  phase: PhaseDocument,
  { agents = {}, tests }: Pick<ContractDocument, 'agents' | 'tests'>,
  isBeforeRed: boolean,
): Phase {
  const expand = (globs: readonly string[]) => globs.flatMap((glob) => (glob === TEST_FILES ? tests.patterns : [glob]))
  const { id, name, description, prompt, consensus, document, review, auto_spawn: spawns = [] } = phase
  const autoSpawn = spawns.flatMap((spawn) =>
    spawn.agent === undefined ? [] : [{ agent: spawn.agent, names: listSpawnNames(spawn) }],
  )
  return {
    id,
    name,
    description,
    prompt,
    allowedTools: phase.allowed_tools,
    forbiddenTools: phase.forbidden_tools,
    constraints: compileEach(phase.tool_constraints, (constraint) => compileConstraint(constraint, expand)),
    writable: phase.writable === undefined ? null : expand(phase.writable),
    requiredArtifacts: phase.required_artifacts.map(compileArtifact),
    evidence: compileEach(phase.checkpoint?.evidence, compileEvidence),
    gates: phase.gates.map(compileGate),
    ...(consensus && { consensus: compileConsensus(consensus, agents) }),
    slots: spawns.flatMap((spawn) =>
      listSpawnNames(spawn).map((slot) => ({ name: slot, isAwaited: spawn.wait_for_completion === true })),
    ),
    ...(autoSpawn.length > 0 && { autoSpawn }),
    rules: (phase.rules ?? []).map((rule, index) => compileRule(`${id}[${index}]`, rule)),
    ...(document && { document: convertToCamelKeys(document) }),
    ...(review && { reviewBy: review.by }),
    tasksInOrder: phase.tasks_in_order,
    minVerified: phase.min_verified,
    ...(isBeforeRed && { isBeforeRed }),
  }
}

/** Among the path patterns of a phase: the files that `tests.patterns` names. */
const TEST_FILES = '@tests'

function compileConstraint(
  { allowed_patterns: allowed, forbidden_patterns: forbidden = [], ...rest }: ConstraintDocument,
  expand: (globs: readonly string[]) => readonly string[],
): ToolConstraint {
  const none = { allowedCommands: null, forbiddenCommands: [], network: false, timeoutSeconds: null }
  const patterns = {
    allowedPatterns: allowed === undefined ? null : expand(allowed),
    forbiddenPatterns: expand(forbidden),
  }
  return { ...none, ...patterns, ...convertToCamelKeys(rest) }
}

function compileTool(tool: ToolDocument, name: string): OwnTool {
  const args = compileEach(tool.args, (arg) => {
    return { path: null, description: '', optional: false, enum: null, min: null, max: null, ...arg }
  })
  return { network: false, timeoutSeconds: null, ...convertToCamelKeys(tool), name, args }
}

function compileServer(server: McpServerDocument, name: string): McpServer {
  const { command = '', args = [], env = {}, url, writable = [], network = false } = server
  const timeoutSeconds = server.timeout_seconds ?? null
  if (url !== undefined) return { kind: 'http', name, url, timeoutSeconds }
  return { kind: 'stdio', name, command, args, env: new Map(Object.entries(env)), writable, network, timeoutSeconds }
}

function compileArtifact({ type, schema, description, validation }: ArtifactDocument): RequiredArtifact {
  return { type, schema: schema ?? null, description, checks: validation.map(compileValidation) }
}

function compileEvidence(field: EvidenceDocument): EvidenceField {
  return {
    min: null,
    max: null,
    minLength: null,
    pattern: null,
    enum: null,
    mustBe: undefined,
    ...convertToCamelKeys(field),
  }
}

function compileGate(gate: GateDocument): Gate {
  return { approvers: [], minApprovals: 0, ...convertToCamelKeys(gate), blockers: gate.blockers.map(compileBlocker) }
}

function compileBlocker({ check, severity, message, ...params }: BlockerDocument): Blocker {
  return { check, severity, message, params: params as JsonObject }
}

function compileValidation({ rule, ...rest }: ValidationDocument): Blocker {
  return compileBlocker({ check: rule, ...rest })
}
