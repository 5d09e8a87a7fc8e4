import type { Json, JsonObject } from '../core/json.js'

/** What every message of an agent CLI's hook says about where it comes from. */
interface HookOrigin {
  /** The name that the agent CLI gives the event. */
  readonly event: string
  /** The conversation; null: the agent CLI does not say. */
  readonly session: string | null
  /** The working directory: the base of relative paths. */
  readonly cwd: string
  readonly transcript: string | null
  /** The subagent that it is about; null: the session itself. */
  readonly subagent: string | null
}

/** A tool call of an agent CLI, before it is made or after it. */
export interface ToolHook extends HookOrigin {
  readonly kind: 'before_tool' | 'after_tool'
  /** The name that the agent CLI gives the tool. */
  readonly tool: string
  readonly input: JsonObject
  readonly response: Json
  readonly toolUseId: string | null
  readonly durationMs: number | null
  /** Whether a call that was made succeeded. */
  readonly success: boolean
}

/** A message of a hook, the same for every agent CLI. */
export type HookMessage =
  | ToolHook
  | (HookOrigin & {
      readonly kind: 'session_start' | 'prompt' | 'subagent_start' | 'subagent_stop' | 'before_compact'
    })
  /** `isKept`: the agent CLI was kept from ending before, in the same turn. */
  | (HookOrigin & { readonly kind: 'stop'; readonly isKept: boolean })
  | (HookOrigin & { readonly kind: 'session_end'; readonly reason: string })
  | (HookOrigin & { readonly kind: 'config_change'; readonly source: string; readonly file: string | null })

export type HookRead =
  | { readonly ok: true; readonly hook: HookMessage }
  | { readonly ok: false; readonly detail: string }

/** A call of one of the contract's tools. */
export interface ContractCall {
  readonly tool: string
  readonly args: JsonObject
  /** Paths of the work tree that the agent CLI will open by name. */
  readonly opens: readonly string[]
}

/** The calls of the contract's tools that one call of an agent CLI stands for. */
export type TranslatedCall =
  | { readonly kind: 'bookkeeping' }
  | { readonly kind: 'calls'; readonly calls: readonly ContractCall[] }
  | { readonly kind: 'unreadable'; readonly detail: string }

/** The effects of a finished call that rules look at. */
export interface HookFact {
  readonly tool: string
  readonly command: string | null
  readonly paths: readonly string[]
  readonly success: boolean
  readonly durationMs: number | null
  /** Stable if the same call is reported twice. An id that is reused with another content is another call. */
  readonly factId: string | null
}

/** What Phaselock has to say to an agent CLI, in its words. Nothing is left to be understood from an empty answer. */
export interface HookAnswers {
  /** Whether a tool may run. */
  decide(permission: 'allow' | 'deny', reason: string): JsonObject
  /** After a call: what the agent must be told, and what its user should know. */
  tellAfter(event: string, said: { readonly interrupt: string | null; readonly note: string | null }): JsonObject
  /** A text that the model gets with what happens now. */
  addContext(event: string, text: string): JsonObject
  /** The agent is kept from ending, and told why. */
  keepGoing(event: string, reason: string): JsonObject
  /** Nothing is in the way. */
  pass(note: string | null): JsonObject
  /** What the event announces must not happen. */
  block(event: string, reason: string): JsonObject
  /** A request that is refused before anything was decided; `body` may be anything. */
  refuse(body: unknown, reason: string): JsonObject
}

/** How one agent CLI speaks. Everything that decides is the same for all of them. */
export interface HookDialect {
  /** As in the path of its endpoint, and in the ledger. */
  readonly agentCli: string
  readonly title: string
  read(body: JsonObject): HookRead
  translate(hook: ToolHook, tree: string): TranslatedCall
  describe(hook: ToolHook, tree: string): HookFact
  readonly answers: HookAnswers
}
