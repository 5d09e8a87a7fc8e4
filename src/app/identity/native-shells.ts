import type { Registry } from '../../core/identity/registry.js'

const LIVE_MS = 12 * 60 * 60 * 1000

/**
 * Agents with a shell outside the sandbox, as long as they may be running. Such an agent can read the token of an operator
 * and decide about any task with it, also one that it made itself under another name.
 */
export class NativeShells {
  readonly #now: () => number
  /** The last call of each agent's hooks since the server started. */
  readonly #calls = new Map<string, number>()

  constructor(now: () => number) {
    this.#now = now
  }

  /** Notes a call of the agent's hooks. */
  note(agentId: string): void {
    this.#calls.set(agentId, this.#now())
  }

  /**
   * An agent that was registered or called its hooks within twelve hours. Revoking it changes nothing: that takes no more
   * than the token, and ends no process.
   */
  findLive({ agents, access }: Registry): string | null {
    const since = this.#now() - LIVE_MS
    const isLive = (id: string): boolean =>
      Math.max(this.#calls.get(id) ?? 0, agents.get(id)?.registeredAt ?? 0) >= since
    return [...access.boundByHooks].find(isLive) ?? null
  }
}
