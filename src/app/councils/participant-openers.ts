import type { CoordinationRun } from '../../core/councils/council.js'
import { isOnlyToolCalls } from '../../core/councils/judge-response.js'
import type { Json, JsonObject } from '../../core/json.js'
import type { TreeAtStart } from '../../participants/agent-cli/command-at-start.js'
import { type CommandParticipant, makeCommandParticipant } from '../../participants/agent-cli/command-participant.js'
import { openParticipant } from '../../participants/open-participant.js'
import type { CommandAgent, CouncilAgent } from '../../participants/read-agents.js'
import type { ScriptStep } from '../../participants/scripted-participant.js'
import { makeRedactor } from '../../store/redaction/redact.js'
import type { Resources } from '../resources.js'
import { makeTreeAtStart } from '../trees/tree-at-start.js'
import type { CouncilFile } from './council-file.js'
import type { AskedParticipant } from './participant-slot.js'
import { makeParticipantToken } from './participant-token.js'
import { findVotedTask } from './vote-id.js'

/** Receives the calls of an agent program and returns the text to show it. */
export interface ProgramCalls {
  offer(call: { readonly name: string; readonly arguments: Json }): Promise<{
    readonly text: string
    readonly isError: boolean
  }>
}

type Opening =
  | { readonly ok: true; readonly participant: AskedParticipant }
  | { readonly ok: false; readonly message: string }

/** What an agent did in the council before it was opened; a scripted participant continues from there. */
interface Before {
  /** How many of its responses were judged. */
  readonly responses: number
  /** Responses that only called read-only tools, which are not judged. */
  readonly tools: readonly string[]
}

type OpenersApp = Parameters<typeof makeTreeAtStart>[0] & Pick<Resources, 'tokens' | 'now' | 'ledger' | 'contracts'>

/** Opens the participants behind the agents of a run. */
export class Openers {
  readonly #calls = new Map<string, ProgramCalls>()
  readonly #keys = new Set<string>()
  #withoutKeys: (value: Json) => Json = (value) => value
  #reached: (url: string) => void = () => undefined
  readonly #url = new Promise<string>((resolve) => {
    this.#reached = resolve
  })

  constructor(
    private readonly app: OpenersApp,
    private readonly environment: NodeJS.ProcessEnv,
  ) {}

  rememberServerUrl(url: string): void {
    this.#reached(url)
  }

  findCalls(runId: string, agentId: string): ProgramCalls | null {
    return this.#calls.get(formatCallsKey(runId, agentId)) ?? null
  }

  /** A model server may echo its key, whatever the name of the variable that holds it. */
  redactKeys(value: Json): Json {
    return this.#withoutKeys(value)
  }

  /** Reasons why agents of a new council cannot be opened, reported all at once. */
  problem({ agents }: CouncilFile): { readonly detail: string; readonly errors: readonly JsonObject[] } | null {
    const errors = agents.flatMap((agent, index): JsonObject[] => {
      if (agent.kind !== 'model') return []
      const opened = openParticipant(agent, this.environment)
      return opened.ok ? [] : [{ path: `agents[${index}]`, message: opened.message, remedy: opened.remedy }]
    })
    const first = errors[0]
    return first === undefined ? null : { detail: `${String(first.path)}: ${String(first.message)}`, errors }
  }

  open(run: CoordinationRun, agent: Exclude<CouncilAgent, { kind: 'remote' }>, before: Before): Opening {
    if (agent.kind === 'command') return { ok: true, participant: this.#program(run, agent) }
    const from = agent.kind === 'scripted' ? { ...agent, script: skipDoneSteps(agent.script, before) } : agent
    if (agent.kind === 'model') this.#keep(agent.apiKeyEnv)
    const opened = openParticipant(from, this.environment)
    return opened.ok ? opened : { ok: false, message: opened.message }
  }

  async #treeVotedOn({ id }: CoordinationRun): Promise<TreeAtStart> {
    const state = await this.app.ledger.read(findVotedTask(id) ?? '')
    if (state === null) throw new Error(`the task of council ${id} no longer exists`)
    return makeTreeAtStart(this.app, await this.app.contracts.get(state.contract.hash), state)
  }

  #keep(variable: string | null): void {
    const key = variable === null ? undefined : this.environment[variable]
    if (key === undefined || this.#keys.has(key)) return
    this.#keys.add(key)
    this.#withoutKeys = makeRedactor([...this.#keys])
  }

  // An agent program starts once the server is reachable; a council resumed after a restart is opened before that.
  #program(run: CoordinationRun, agent: CommandAgent): AskedParticipant {
    const key = formatCallsKey(run.id, agent.id)
    let program: CommandParticipant | null = null
    const opened = async (): Promise<CommandParticipant> => {
      const url = `${await this.#url}/mcp`
      const { token } = makeParticipantToken(this.app, run, agent.id)
      program ??= makeCommandParticipant({
        ...{ agent, mcp: { url, token }, environment: this.environment },
        // The implementer must not decide which programs its judges run.
        atStart: async () => (run.isConsensus ? this.#treeVotedOn(run) : null),
        start: async (job) => (await this.app.confinement('walled')).start(job),
      })
      this.#calls.set(key, program)
      return program
    }
    return {
      id: agent.id,
      takesToolErrors: true,
      async *chat(messages, tools, signal) {
        yield* (await opened()).chat(messages, tools, signal)
      },
      settle: (messages) => program?.settle(messages),
      close: async () => {
        this.#calls.delete(key)
        await program?.close()
      },
    }
  }
}

function skipDoneSteps(script: readonly ScriptStep[], { responses, tools }: Before): readonly ScriptStep[] {
  let judged = 0
  let next = 0
  for (; judged < responses && next < script.length; next += 1)
    if (!isOnlyToolCalls(script[next]?.toolCalls ?? [], tools)) judged += 1
  return script.slice(next)
}

function formatCallsKey(runId: string, agentId: string): string {
  return JSON.stringify([runId, agentId])
}
