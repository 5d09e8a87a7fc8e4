import type * as Api from './api.js'
import type { JsonObject } from './json.js'

export type {
  Alert,
  Artifact,
  ClaimAnswer,
  CompletionAnswer,
  ContractRef,
  CouncilView,
  Interrupt,
  KnowledgeAnswer,
  PhaseAnswer,
  PromptAnswer,
  ReleaseAnswer,
  ResponseAnswer,
  StateSnapshot,
  Task,
  ToolAnswer,
  ToolArguments,
  ToolCheck,
  TransitionAnswer,
  UsageAnswer,
  Worktree,
} from './api.js'

export type Approval = Api.ApprovalAnswer
export type Decision = Approval['decisions'][number]

/** The arguments of a tool: those of a built-in one by name, any JSON object for a tool that the contract defines. */
export type ArgumentsOf<Name extends string> = Name extends keyof Api.ToolArguments
  ? Api.ToolArguments[Name]
  : JsonObject

/** Arguments may be left out where none are required. */
export type OptionalArguments<Name extends string> =
  Record<never, never> extends ArgumentsOf<Name> ? [args?: ArgumentsOf<Name>] : [args: ArgumentsOf<Name>]

export interface ToolCall<Name extends string = string> {
  readonly tool_name: Name
  readonly args: ArgumentsOf<Name>
}

export type BatchResult = (Api.BatchResult & { readonly error?: undefined }) | Api.BatchError

export interface BatchAnswer extends Omit<Api.BatchAnswer, 'results'> {
  readonly results: readonly BatchResult[]
}

export interface Usage {
  /** Without the cache. */
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cacheReadTokens?: number
  readonly cacheCreationTokens?: number
  readonly model?: string
  /** One message counts once, with its largest numbers. */
  readonly messageId?: string
}

export interface SearchOptions {
  /** Its id or, in a workflow of documents, its number. */
  readonly phase?: string | number
  readonly tags?: readonly string[]
  readonly workflow?: string
  readonly nResults?: number
}
