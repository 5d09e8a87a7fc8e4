import type { CheckName, EvidenceType, Mode, Severity } from '../core/contract/contract.js'
import type { Json, JsonObject } from '../core/json.js'

/** The canonical contract: every accepted form of a contract becomes this one, and this one is itself a contract. */
export interface ContractDocument {
  name: string
  version: string
  description: string
  /** A label of `nodes:` files, kept with the run. */
  mode?: string
  start_node: string
  phases: PhaseDocument[]
  transitions: TransitionDocument[]
  enforcement: EnforcementDocument
  tests: {
    patterns: string[]
    allow_changes: boolean
    baseline?: 'tolerate' | 'forbid'
    repeat?: number
    inverted?: { max_seconds?: number; strict?: true }
  }
  schemas: Record<string, JsonObject | boolean>
  guides: Record<string, string>
  agent_startable: boolean
  web: { allowed_hosts: string[] }
  commands?: Record<string, JsonObject>
  mcp_servers?: Record<string, JsonObject>
  tools?: Record<string, JsonObject>
  agents?: Record<string, JsonObject>
  recovery?: JsonObject
  monitoring?: JsonObject
  webhooks?: JsonObject[]
  knowledge?: JsonObject
  git?: JsonObject
  coordination?: JsonObject
}

export interface PhaseDocument {
  id: string
  name: string
  description: string
  prompt: string
  allowed_tools: string[] | 'all'
  forbidden_tools: string[]
  tool_constraints: Record<string, ConstraintDocument>
  writable?: string[]
  required_artifacts: ArtifactDocument[]
  checkpoint?: CheckpointDocument
  gates: GateDocument[]
  rules?: JsonObject[]
  consensus?: JsonObject
  auto_spawn?: JsonObject[]
  review?: { by: 'other' }
  tasks_in_order: boolean
  min_verified: number
  document?: PhaseTextDocument
}

/** The phase's own document, in a workflow of documents. */
export interface PhaseTextDocument {
  number: number | null
  content: string
  sources: { file: string; line: number }[]
  total_tokens: number
  examples: JsonObject
  tasks: { id: string; title: string; content: string }[]
}

export interface ConstraintDocument {
  allowed_patterns?: string[]
  forbidden_patterns?: string[]
  allowed_commands?: string[]
  forbidden_commands?: string[]
  network?: boolean
  timeout_seconds?: number
}

export interface ArtifactDocument {
  type: string
  schema?: string
  description: string
  validation: ValidationDocument[]
}

export interface BlockerParams {
  threshold?: number
  required_reviews?: string[]
  when?: string
  run?: string
  command?: string
  path?: string
  pattern?: string
  paths?: string[]
}

export interface ValidationDocument extends BlockerParams {
  rule: CheckName
  severity: Severity
  message: string
}

export interface BlockerDocument extends BlockerParams {
  check: CheckName
  severity: Severity
  message: string
}

export interface CheckpointDocument {
  evidence: Record<string, EvidenceDocument>
  source?: string
}

export interface EvidenceDocument {
  type: EvidenceType
  min?: number
  max?: number
  min_length?: number
  pattern?: string
  enum?: Json[]
  must_be?: Json
  optional: boolean
  grade: 'reported' | 'artifact' | 'observed'
  description: string
  above?: number
  may_be_false?: boolean
  rules?: string[]
  source?: { file: string; line: number }
}

export interface GateDocument {
  id: string
  type: 'approval' | 'validation'
  approvers?: string[]
  min_approvals?: number
  timeout_seconds: number
  on_timeout: 'park' | 'reject'
  auto_advance: boolean
  blockers: BlockerDocument[]
}

export interface TransitionDocument {
  from: string
  to: string
  gate?: string
  when?: string
  triggers?: JsonObject[]
}

export interface EnforcementDocument {
  mode: Mode
  phase_tokens: { expiry_seconds: number; algorithm: 'HS256'; secret_env_var: string }
  max_attempts: number
  denial_budget: number
  lease_seconds: number
  confinement: 'required' | 'best_effort' | 'off'
  reconcile: 'block' | 'warn' | 'off'
  reconcile_ignore: string[]
}
