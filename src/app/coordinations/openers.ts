import type { JsonObject } from '../../core/contract.js'
import type { CoordinationRun } from '../../core/rounds/run.js'
import { openParticipant } from '../../participants/open-participant.js'
import type { CouncilAgent } from '../../participants/read-agents.js'
import type { App } from '../app.js'
import type { CouncilFile } from './council-file.js'
import type { Asked } from './seat.js'

/** Where the calls of an agent that is a program arrive; the answer is what the program is told. */
export interface Door {
  offer(call: { readonly name: string; readonly arguments: JsonObject }): Promise<{
    readonly text: string
    readonly isError: boolean
  }>
}

export type Opening =
  | { readonly ok: true; readonly participant: Asked }
  | { readonly ok: false; readonly message: string }

/** Opens the participants behind the agents of a run. */
export class Openers {
  readonly #doors = new Map<string, Door>()

  constructor(
    private readonly app: Pick<App, 'tokens' | 'now'>,
    private readonly environment: NodeJS.ProcessEnv,
    private readonly onFault: (error: unknown) => void,
  ) {}

  reachableAt(_url: string): void {
    void this.app
    void this.onFault
  }

  doorOf(runId: string, agentId: string): Door | null {
    return this.#doors.get(JSON.stringify([runId, agentId])) ?? null
  }

  /** What keeps an agent of a new run from being opened, told for all of them at once. */
  problem({ agents }: CouncilFile): { readonly detail: string; readonly errors: readonly JsonObject[] } | null {
    const errors = agents.flatMap((agent, index): JsonObject[] => {
      if (agent.kind !== 'model') return []
      const opened = openParticipant(agent, this.environment)
      return opened.ok ? [] : [{ path: `agents[${index}]`, message: opened.message, remedy: opened.remedy }]
    })
    const first = errors[0]
    return first === undefined ? null : { detail: `${String(first.path)}: ${String(first.message)}`, errors }
  }

  /** `responses`: how many the agent has given already; a script goes on after them. */
  async open(
    run: CoordinationRun,
    agent: Exclude<CouncilAgent, { kind: 'remote' }>,
    responses: number,
  ): Promise<Opening> {
    if (agent.kind === 'command') return { ok: false, message: `run ${run.id}: programs cannot be asked yet` }
    const from = agent.kind === 'scripted' ? { ...agent, script: agent.script.slice(responses) } : agent
    const opened = openParticipant(from, this.environment)
    return opened.ok ? opened : { ok: false, message: opened.message }
  }
}
