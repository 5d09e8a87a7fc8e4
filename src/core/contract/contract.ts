import type { Json, JsonObject } from '../json.js'
import type { Rule } from '../rules/rule.js'
import type { Programs } from './agent-programs.js'
import type { AgentCrash, Alert, ConsensusPlan, Places, Service } from './contract-parts.js'
import type { GitRules } from './git-rules.js'
import type { DocumentPlace, EvidenceGrade, PhaseDocument } from './phase-document.js'
import type { TestRules } from './test-rules.js'
import type { Webhook } from './webhook.js'

/** A compiled workflow contract: all names are known, all references resolved, and unsupported settings refused. */
export interface Contract extends Programs {
  /** SHA-256 (hex) of the canonical document. A task keeps the contract it was created under, by this hash. */
  readonly hash: string
  readonly name: string
  readonly version: string
  readonly description: string
  /** The phase a task starts in. */
  readonly start: string
  /** In the order of the file. */
  readonly phases: ReadonlyMap<string, Phase>
  /** In the order of the file: the first that matches wins. */
  readonly transitions: readonly Transition[]
  readonly enforcement: Enforcement
  readonly tests: TestRules
  /** Commands that Phaselock runs to observe facts, by name. */
  readonly commands: ReadonlyMap<string, ObservedCommand>
  /** JSON Schemas by the name that `RequiredArtifact.schema` uses; compiled outside the core. */
  readonly schemas: ReadonlyMap<string, JsonObject | boolean>
  /** Tools beside the built-in ones: the names of own tools (`tools:`) and of upstream tools that phases list. */
  readonly extraTools: readonly string[]
  /** Own tools (`tools:`), by name. */
  readonly tools: ReadonlyMap<string, OwnTool>
  /** Upstream MCP servers, by name; their tools are called `server.tool`. */
  readonly mcpServers: ReadonlyMap<string, McpServer>
  /** What `web_fetch` may reach: `host`, `host:port`, `*.host`. */
  readonly webHosts: readonly string[]
  /** How agents' commits are made. */
  readonly git?: GitRules
  /** Where events of tasks are sent. */
  readonly webhooks?: readonly Webhook[]
  /** Settings that this version understands but cannot enforce: such a contract gets no tasks. */
  readonly notEnforced: readonly NotEnforced[]
  /** Texts of `{{guide:NAME}}`, read when the contract was loaded. */
  readonly guides: ReadonlyMap<string, string>
  /** What happens to a task whose agent lost its lease; absent: it can be claimed again at once. */
  readonly agentCrash?: AgentCrash
  readonly alerts?: readonly Alert[]
  /** Globs of the documents that agents can search in the work tree of their task. */
  readonly knowledge?: readonly string[]
  /** Agents may start tasks under it themselves. */
  readonly agentStartable?: boolean
}

interface NotEnforced {
  /** Path of the field in the document, such as `phases.IMPL.rules`. */
  readonly path: string
  readonly feature: string
}

export interface Phase extends Places {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly prompt: string
  /** 'all' only in `nodes:` files that give no tool limits. */
  readonly allowedTools: readonly string[] | 'all'
  readonly forbiddenTools: readonly string[]
  readonly constraints: ReadonlyMap<string, ToolConstraint>
  /** Globs of paths that may change in the work tree; null: derived from the constraints of the write tools. */
  readonly writable: readonly string[] | null
  readonly requiredArtifacts: readonly RequiredArtifact[]
  /** Checkpoint evidence by field name; empty when the phase has no checkpoint. */
  readonly evidence: ReadonlyMap<string, EvidenceField>
  readonly gates: readonly Gate[]
  /** Reviewers that vote on leaving the phase. */
  readonly consensus?: ConsensusPlan
  /** Required independent reviews before the phase is left. Absent: the agent's own report counts. */
  readonly reviewBy?: 'other'
  readonly rules?: readonly Rule[]
  /** The source document of the phase; absent in phases without a document. */
  readonly document?: PhaseDocument
  /** The tasks of its document are handed out one at a time. */
  readonly tasksInOrder?: boolean
  /** How many evidence fields must be graded above `reported`. */
  readonly minVerified?: number
  /** The phase comes before the first RED run, so `tests_unchanged` passes there while no tests are recorded. */
  readonly isBeforeRed?: boolean
}

export interface ToolConstraint {
  /** Globs over the path; null: any path. */
  readonly allowedPatterns: readonly string[] | null
  readonly forbiddenPatterns: readonly string[]
  /** Word prefixes of simple commands; null: any command. */
  readonly allowedCommands: readonly string[] | null
  readonly forbiddenCommands: readonly string[]
  readonly network: boolean
  readonly timeoutSeconds: number | null
}

/** A fixed command with typed arguments. */
export interface OwnTool {
  readonly name: string
  readonly description: string
  /** The program and its arguments; `{name}` is replaced by an argument, never in the first word. */
  readonly command: readonly string[]
  readonly args: ReadonlyMap<string, OwnToolArg>
  readonly network: boolean
  /** null: the default of commands. */
  readonly timeoutSeconds: number | null
}

export interface OwnToolArg {
  readonly type: 'string' | 'integer' | 'number' | 'boolean'
  /** Marks a work tree path that is read or written; null: not a path. */
  readonly path: 'read' | 'write' | null
  readonly description: string
  readonly optional: boolean
  /** The accepted values as written in a command; null: any. */
  readonly enum: readonly string[] | null
  readonly min: number | null
  readonly max: number | null
}

export type McpServer = StdioServer | HttpServer

/** An MCP server that runs in the sandbox and communicates over standard input and output. */
export interface StdioServer {
  readonly kind: 'stdio'
  readonly name: string
  readonly command: string
  readonly args: readonly string[]
  /** Its whole environment; `${env:NAME}` in a value is replaced when the server is started. */
  readonly env: ReadonlyMap<string, string>
  /** Globs of paths it may change in the work tree; empty: none. */
  readonly writable: readonly string[]
  readonly network: boolean
  readonly timeoutSeconds: number | null
}

/** A remote MCP server. */
export interface HttpServer {
  readonly kind: 'http'
  readonly name: string
  readonly url: string
  readonly timeoutSeconds: number | null
}

export interface RequiredArtifact {
  readonly type: string
  /** A key of `Contract.schemas`; null: any JSON object. */
  readonly schema: string | null
  readonly description: string
  /** PRD-007's `validation` rules, as checks of this artifact. */
  readonly checks: readonly Blocker[]
}

export type EvidenceType = 'string' | 'integer' | 'number' | 'boolean' | 'array' | 'object'

export interface EvidenceField {
  readonly type: EvidenceType
  readonly min: number | null
  readonly max: number | null
  readonly minLength: number | null
  /** An RE2 pattern. */
  readonly pattern: string | null
  readonly enum: readonly Json[] | null
  /** The required value; a required boolean without it must be `true`. */
  readonly mustBe: Json | undefined
  readonly optional: boolean
  readonly description: string
  /** Absent: `reported`. */
  readonly grade?: EvidenceGrade
  /** A number must be greater than this. */
  readonly above?: number
  /** A boolean may be `false`. */
  readonly mayBeFalse?: boolean
  /** The rules as the document writes them, for display: `at least 3`. */
  readonly rules?: readonly string[]
  /** The requirement's place in a workflow document. */
  readonly source?: DocumentPlace
}

export type Severity = 'blocking' | 'warning' | 'info'

export interface Gate {
  readonly id: string
  readonly type: 'approval' | 'validation'
  /** Names or roles; empty for validation gates. `human` is every operator without the role `ci`. */
  readonly approvers: readonly string[]
  readonly minApprovals: number
  readonly timeoutSeconds: number
  readonly onTimeout: 'park' | 'reject'
  readonly autoAdvance: boolean
  readonly blockers: readonly Blocker[]
}

export interface Blocker {
  readonly check: CheckName
  readonly severity: Severity
  /** The contract's own text; '' when it gives none. */
  readonly message: string
  /** Parameters of the check: `threshold`, `required_reviews`, `when`, `run`, `command`, `path`, `pattern`, `paths`. */
  readonly params: JsonObject
}

export interface Transition {
  readonly from: string
  readonly to: string
  /** The only gate of the transition; null: all gates of the phase being left. */
  readonly gate: string | null
  /** The statement it needs; null: none. */
  readonly when: string | null
  /** Opens a slot for every review that the target phase requires. */
  readonly opensReviews?: boolean
}

export type Mode = 'strict' | 'permissive' | 'advisory'

export interface Enforcement {
  readonly mode: Mode
  readonly tokenExpirySeconds: number
  readonly secretEnvVar: string
  readonly maxAttempts: number
  readonly denialBudget: number
  readonly leaseSeconds: number
  readonly confinement: 'required' | 'best_effort' | 'off'
  readonly reconcile: 'block' | 'warn' | 'off'
  /** Globs of paths that are not compared. */
  readonly reconcileIgnore: readonly string[]
}

/** A command from the contract's text. Nothing an agent writes can redirect it. */
export interface ObservedCommand {
  readonly run: string
  readonly format: string
  /** Path of the report it writes, relative to the work tree; null: its output is read. */
  readonly report: string | null
  readonly timeoutSeconds: number
  readonly env: Readonly<Record<string, string>>
  /** Services of the machine that it may reach, by name. */
  readonly services?: Readonly<Record<string, Service>>
  /** Whether its processes may send SIGUSR1; left out: they may not. */
  readonly allowsSigusr1?: boolean
}

/** All checks. A contract with an unknown check does not load. */
export const CHECK_NAMES = [
  'plan_has_acceptance_criteria',
  'scope_is_bounded',
  'no_open_questions',
  'tests_exist_for_acceptance_criteria',
  'tests_are_failing',
  'tests_are_meaningful',
  'test_files_follow_convention',
  'all_tests_pass',
  'no_skipped_tests',
  'tests_unchanged',
  'tests_as_at_start',
  'tests_not_worse',
  'test_files_load',
  'examples_hold',
  'tests_can_fail',
  'coverage_threshold_met',
  'coverage_not_lower',
  'no_commented_out_code',
  'no_blocking_issues',
  'all_review_models_completed',
  'review_comments_addressed',
  'command_succeeds',
  'file_exists',
  'no_pattern',
  'json_valid',
  'quotes_hold',
  'expression',
  'work_tree_clean',
  'committed',
] as const
export type CheckName = (typeof CHECK_NAMES)[number]

/** Checks that this version cannot run; a contract with one of them gets no tasks. */
export const CHECKS_NOT_ENFORCED: ReadonlySet<CheckName> = new Set<CheckName>([])
