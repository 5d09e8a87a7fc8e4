import type { AgentEntry, AutoSpawn } from '../../core/contract/agent-programs.js'
import type {
  Blocker,
  Contract,
  EvidenceField,
  Gate,
  McpServer,
  ObservedCommand,
  OwnTool,
  OwnToolArg,
  Phase,
  RequiredArtifact,
  ToolConstraint,
} from '../../core/contract/contract.js'
import type { PhaseDocument as PhaseText } from '../../core/contract/phase-document.js'
import type { Webhook } from '../../core/contract/webhook.js'
import type { Json, JsonObject } from '../../core/json.js'
import type { Slot } from '../../core/reviews/reviewer-slots.js'
import { compileRule } from '../../core/rules/rule.js'
import type { Alert, AlertCondition } from '../../core/task/alerts.js'
import type { AgentCrash } from '../../core/task/crash.js'
import { listExtraTools } from '../check/check-tools.js'
import { listPhasesBeforeRed } from '../check/demands.js'
import type {
  ArtifactDocument,
  BlockerDocument,
  ConstraintDocument,
  ContractDocument,
  EvidenceDocument,
  GateDocument,
  PhaseDocument,
  PhaseTextDocument,
  ValidationDocument,
} from '../document.js'
import { findUnenforced } from '../not-enforced.js'
import { listSpawnNames } from '../read/read-agents.js'
import type { McpServerDocument, ToolArgDocument, ToolDocument } from '../read/read-services.js'
import { compileConsensus } from './compile-consensus.js'
import { compileGit } from './compile-git.js'
import { compileTests } from './compile-tests.js'

/** The core's contract, from a canonical document that was loaded (and perhaps stored) before. Nothing is lost between. */
export function compileDocument(document: JsonObject, hash: string): Contract {
  // Only `load-contract.ts` makes canonical documents, and the hash says that this is one of them.
  const source = document as unknown as ContractDocument
  const { enforcement } = source
  const beforeRed = listPhasesBeforeRed(source)
  return {
    hash,
    name: source.name,
    version: source.version,
    description: source.description,
    start: source.start_node,
    phases: new Map(source.phases.map((phase) => [phase.id, compilePhase(phase, source.agents ?? {}, beforeRed)])),
    transitions: source.transitions.map(({ from, to, gate, when, triggers }) => ({
      from,
      to,
      gate: gate ?? null,
      when: when ?? null,
      ...((triggers ?? []).some((trigger) => trigger.action === 'spawn_review_agents') ? { opensReviews: true } : {}),
    })),
    enforcement: {
      mode: enforcement.mode,
      tokenExpirySeconds: enforcement.phase_tokens.expiry_seconds,
      secretEnvVar: enforcement.phase_tokens.secret_env_var,
      maxAttempts: enforcement.max_attempts,
      denialBudget: enforcement.denial_budget,
      leaseSeconds: enforcement.lease_seconds,
      confinement: enforcement.confinement,
      reconcile: enforcement.reconcile,
      reconcileIgnore: enforcement.reconcile_ignore,
    },
    commands: new Map(Object.entries(source.commands ?? {}).map(([name, one]) => [name, compileCommand(one)])),
    tests: compileTests(source.tests),
    schemas: new Map(Object.entries(source.schemas)),
    extraTools: listExtraTools(source),
    tools: new Map(Object.entries(source.tools ?? {}).map(([name, tool]) => [name, compileTool(name, tool)])),
    mcpServers: new Map(
      Object.entries(source.mcp_servers ?? {}).map(([name, server]) => [name, compileServer(name, server)]),
    ),
    webHosts: source.web.allowed_hosts,
    ...(source.webhooks === undefined ? {} : { webhooks: source.webhooks.map(compileWebhook) }),
    notEnforced: findUnenforced(source).map(({ path, feature }) => ({ path, feature })),
    guides: new Map(Object.entries(source.guides)),
    agentStartable: source.agent_startable,
    ...compileCrash(source.recovery?.agent_crash),
    ...compileAgents(source.agents ?? {}),
    ...(source.git === undefined ? {} : { git: compileGit(source.git) }),
    knowledge: (source.knowledge?.sources ?? []) as readonly string[],
    alerts: ((source.monitoring?.alerts ?? []) as readonly JsonObject[]).map(compileAlert),
  }
}

function compileCommand(command: JsonObject): ObservedCommand {
  return {
    run: String(command.run),
    format: String(command.format),
    report: typeof command.report === 'string' ? command.report : null,
    timeoutSeconds: Number(command.timeout_seconds),
    env: Object.fromEntries(
      Object.entries((command.env ?? {}) as JsonObject).map(([name, value]) => [name, String(value)]),
    ),
  }
}

function compilePhase(
  phase: PhaseDocument,
  agents: Readonly<Record<string, JsonObject>>,
  beforeRed: ReadonlySet<string>,
): Phase {
  return {
    id: phase.id,
    name: phase.name,
    description: phase.description,
    prompt: phase.prompt,
    allowedTools: phase.allowed_tools,
    forbiddenTools: phase.forbidden_tools,
    constraints: new Map(
      Object.entries(phase.tool_constraints).map(([tool, constraint]) => [tool, compileConstraint(constraint)]),
    ),
    writable: phase.writable ?? null,
    requiredArtifacts: phase.required_artifacts.map(compileArtifact),
    evidence: new Map(
      Object.entries(phase.checkpoint?.evidence ?? {}).map(([name, field]) => [name, compileEvidence(field)]),
    ),
    gates: phase.gates.map(compileGate),
    ...compileConsensus(phase.consensus, agents),
    slots: (phase.auto_spawn ?? []).flatMap(compileSpawn),
    ...compileAutoSpawn(phase.auto_spawn ?? []),
    rules: (phase.rules ?? []).map((rule, index) => compileRule(`${phase.id}[${index}]`, rule)),
    ...(phase.document === undefined ? {} : { document: compilePhaseText(phase.document) }),
    ...(phase.review === undefined ? {} : { reviewBy: phase.review.by }),
    tasksInOrder: phase.tasks_in_order,
    minVerified: phase.min_verified,
    ...(beforeRed.has(phase.id) ? { isBeforeRed: true } : {}),
  }
}

function compileConstraint(constraint: ConstraintDocument): ToolConstraint {
  return {
    allowedPatterns: constraint.allowed_patterns ?? null,
    forbiddenPatterns: constraint.forbidden_patterns ?? [],
    allowedCommands: constraint.allowed_commands ?? null,
    forbiddenCommands: constraint.forbidden_commands ?? [],
    network: constraint.network ?? false,
    timeoutSeconds: constraint.timeout_seconds ?? null,
  }
}

// `read-services.ts` made these parts of the document, and only in these shapes.
function compileTool(name: string, document: JsonObject): OwnTool {
  const tool = document as unknown as ToolDocument
  return {
    name,
    description: tool.description,
    command: tool.command,
    args: new Map(Object.entries(tool.args).map(([arg, about]) => [arg, compileToolArg(about)])),
    network: tool.network ?? false,
    timeoutSeconds: tool.timeout_seconds ?? null,
  }
}

function compileToolArg(arg: ToolArgDocument): OwnToolArg {
  return {
    type: arg.type,
    path: arg.path ?? null,
    description: arg.description ?? '',
    optional: arg.optional ?? false,
    enum: arg.enum ?? null,
    min: arg.min ?? null,
    max: arg.max ?? null,
  }
}

function compileServer(name: string, document: JsonObject): McpServer {
  const server = document as unknown as McpServerDocument
  const timeoutSeconds = server.timeout_seconds ?? null
  if (server.url !== undefined) return { kind: 'http', name, url: server.url, timeoutSeconds }
  return {
    kind: 'stdio',
    name,
    command: server.command ?? '',
    args: server.args ?? [],
    env: new Map(Object.entries(server.env ?? {})),
    writable: server.writable ?? [],
    network: server.network ?? false,
    timeoutSeconds,
  }
}

function compileArtifact(artifact: ArtifactDocument): RequiredArtifact {
  return {
    type: artifact.type,
    schema: artifact.schema ?? null,
    description: artifact.description,
    checks: artifact.validation.map(compileValidation),
  }
}

function compileEvidence(field: EvidenceDocument): EvidenceField {
  return {
    type: field.type,
    min: field.min ?? null,
    max: field.max ?? null,
    minLength: field.min_length ?? null,
    pattern: field.pattern ?? null,
    enum: field.enum ?? null,
    mustBe: field.must_be,
    optional: field.optional,
    description: field.description,
    grade: field.grade,
    ...(field.above === undefined ? {} : { above: field.above }),
    ...(field.may_be_false === undefined ? {} : { mayBeFalse: field.may_be_false }),
    ...(field.rules === undefined ? {} : { rules: field.rules }),
    ...(field.source === undefined ? {} : { source: field.source }),
  }
}

function compilePhaseText(text: PhaseTextDocument): PhaseText {
  const { number, content, sources, total_tokens, examples, tasks } = text
  return { number, content, sources, totalTokens: total_tokens, examples, tasks }
}

function compileGate(gate: GateDocument): Gate {
  return {
    id: gate.id,
    type: gate.type,
    approvers: gate.approvers ?? [],
    minApprovals: gate.min_approvals ?? 0,
    timeoutSeconds: gate.timeout_seconds,
    onTimeout: gate.on_timeout,
    autoAdvance: gate.auto_advance,
    blockers: gate.blockers.map(compileBlocker),
  }
}

function compileBlocker({ check, severity, message, ...params }: BlockerDocument): Blocker {
  return { check, severity, message, params: params as Readonly<Record<string, Json>> }
}

function compileValidation({ rule, severity, message, ...params }: ValidationDocument): Blocker {
  return { check: rule, severity, message, params: params as Readonly<Record<string, Json>> }
}

// `read-settings.ts`, `read-alerts.ts` and `read-agents.ts` made these parts, and only in these shapes.
function compileCrash(crash: Json | undefined): { readonly agentCrash?: AgentCrash } {
  if (crash === undefined) return {}
  const { action, max_retries, backoff_seconds } = crash as JsonObject
  return {
    agentCrash: {
      action: action === 'retry' ? 'retry' : 'park',
      maxRetries: Number(max_retries),
      backoffSeconds: Number(backoff_seconds),
    },
  }
}

function compileAlert(alert: JsonObject): Alert {
  return {
    condition: alert.condition as AlertCondition,
    limit: Number(alert.above ?? alert.above_seconds),
    message: typeof alert.message === 'string' ? alert.message : '',
  }
}

function compileSpawn(spawn: JsonObject): readonly Slot[] {
  const isAwaited = spawn.wait_for_completion === true
  return listSpawnNames(spawn).map((name) => ({ name, isAwaited }))
}

function compileAutoSpawn(spawns: readonly JsonObject[]): { readonly autoSpawn?: readonly AutoSpawn[] } {
  const started = spawns.filter((spawn) => typeof spawn.agent === 'string')
  if (started.length === 0) return {}
  return { autoSpawn: started.map((spawn) => ({ agent: String(spawn.agent), names: listSpawnNames(spawn) })) }
}

function compileAgents(agents: Readonly<Record<string, JsonObject>>): {
  readonly agents?: ReadonlyMap<string, AgentEntry>
} {
  const entries = Object.entries(agents).map(([name, one]): readonly [string, AgentEntry] => [
    name,
    {
      harness: one.harness as AgentEntry['harness'],
      command: typeof one.command === 'string' ? one.command : null,
      args: (one.args ?? []) as readonly string[],
      model: typeof one.model === 'string' ? one.model : null,
      env: (one.env ?? {}) as Readonly<Record<string, string>>,
      capabilities: (one.capabilities ?? []) as readonly string[],
    },
  ])
  return entries.length === 0 ? {} : { agents: new Map(entries) }
}

function compileWebhook({ url, events, secret_env_var: secret }: JsonObject): Webhook {
  return {
    url: String(url),
    events: events as readonly string[],
    secretEnvVar: typeof secret === 'string' ? secret : null,
  }
}
