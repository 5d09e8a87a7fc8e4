import type { HookAnswers } from '../../hooks/hook-message.js'

/** What the CLI that is opened gets to know about the session. */
export interface SessionPlan {
  readonly program: string
  /** Address of the shim, such as `http://127.0.0.1:40123`. */
  readonly url: string
  /** What hooks and the MCP entry authenticate with. It opens nothing but this session. */
  readonly secret: string
  /** A private folder for configuration, removed when the session ends. */
  readonly folder: string
  /** The work tree of the task, where the CLI is opened. */
  readonly workspace: string
  /** Instructions that stay in force for the whole session, also after the conversation was cleared. */
  readonly instructions: string
  /** The first message; null: the person types it. */
  readonly prompt: string | null
  /** Arguments of the person for the CLI itself. */
  readonly own: readonly string[]
  readonly environment: NodeJS.ProcessEnv
}

export interface PreparedSession {
  /** By their path below the folder of the session. */
  readonly files: Readonly<Record<string, string>>
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Where the CLI is opened, if not in the work tree: a folder of the files above. */
  readonly cwd?: string
}

/** How a session is bound: the own tools of the CLI are off, or they stay and hooks decide each call. */
export type Binding = 'tools_only' | 'native'

/** How the own tools of a CLI are held, or why they cannot be. */
export type NativeBinding =
  | {
      readonly kind: 'held'
      /** The oldest version whose hooks can hold its tools. */
      readonly least: string
      readonly answers: HookAnswers
      /** The endpoint of the server for its hooks. */
      readonly path: string
      prepare(plan: SessionPlan): PreparedSession
      /** Adds what only the CLI itself can tell. */
      complete?(plan: SessionPlan, prepared: PreparedSession): Promise<PreparedSession>
      /** A hook that fails lets its tool run: a call that was made and that no hook decided ends the session. */
      readonly endsUndecided: boolean
      /** Where to look when no hook is called. */
      readonly hint: string
      /** Variables with which a person could have switched hooks off. */
      readonly dropped: readonly string[]
    }
  | { readonly kind: 'refused'; readonly reason: string }

/** An agent CLI with an interface for a terminal. */
export interface AgentCliKind {
  /** The command of Phaselock, and the prefix of the agents that it registers. */
  readonly name: string
  readonly title: string
  /** What `phaselock run` calls it. */
  readonly runName: string
  readonly program: string
  readonly npmPackage: string
  /** The oldest version whose own tools can be switched off. */
  readonly least: string
  /** Whether it shows forms of MCP servers to the person. Otherwise decisions come from elsewhere. */
  readonly asksInChat: boolean
  /** Arguments that a person may pass on, with whether a value follows. All others could undo the binding. */
  readonly allowed: Readonly<Record<string, 'flag' | 'value' | 'optional'>>
  /** With its own tools off. */
  prepare(plan: SessionPlan): PreparedSession
  readonly native: NativeBinding
}

/** The name under which agent CLIs know Phaselock's MCP server. */
export const SERVER_NAME = 'phaselock'
/** The variable that carries the secret of the session to the CLI. */
export const SECRET_VARIABLE = 'PHASELOCK_SESSION'
