/** The types of the canonical document: each comes from the fields of its object. */
export type { AgentDocument, ConsensusDocument } from './read/read-agents.js'
export type { BlockerDocument, BlockerParams, ValidationDocument } from './read/read-blockers.js'
export type { CheckpointDocument, EvidenceDocument } from './read/read-checkpoint.js'
export type { ContractDocument } from './read/read-contract.js'
export type { GateDocument } from './read/read-gates.js'
export type { ArtifactDocument, ConstraintDocument, PhaseDocument } from './read/read-phases.js'
export type { CommandDocument, McpServerDocument, ToolDocument } from './read/read-services.js'
export type { TransitionDocument } from './read/read-transitions.js'
