const AGENTS_MAX = 1000
const SESSIONS_MAX = 100
const CALLS_MAX = 200
const TOLD_MAX = 5000

/** The entries of paths that differed from the expected tree, by path. */
export type Differing = ReadonlyMap<string, string>

/** A call of an agent CLI that may change any file and has not ended. */
interface OpenCall {
  readonly command: string
  /** What differed when it began. */
  readonly before: Differing
}

class HookSession {
  /** The conversations that the agent CLI announced. */
  readonly conversations = new Set<string>()
  readonly openCalls = new Map<string, OpenCall>()
  /** Changes that were reported, with their content. */
  readonly told = new Map<string, string>()
  /** How often the session and its subagents were kept from ending, since the last prompt. */
  readonly kept = new Map<string, number>()
}

/**
 * What hooks said about agents lately. Only for better answers: nothing is allowed because of it, and it may be lost
 * at any time.
 */
export class HookSessions {
  readonly #sessions = new Map<string, HookSession>()

  /** A conversation that begins, or that a person typed into, is one of the agent's. */
  announce(agentId: string, conversation: string | null): void {
    if (conversation === null) return
    const { conversations } = this.#of(agentId)
    conversations.add(conversation)
    dropOldest(conversations, SESSIONS_MAX)
  }

  /** Whether the conversation is another one than those of the agent. The first one seen is taken for its own. */
  isForeign(agentId: string, conversation: string | null): boolean {
    const { conversations } = this.#of(agentId)
    if (conversation === null || conversations.has(conversation)) return false
    if (conversations.size > 0) return true
    conversations.add(conversation)
    return false
  }

  beginCall(agentId: string, id: string, call: OpenCall): void {
    const { openCalls } = this.#of(agentId)
    openCalls.set(id, call)
    dropOldest(openCalls, CALLS_MAX)
  }

  /** The call that ends, and the commands that ran at the same time. */
  endCall(agentId: string, id: string): { readonly call: OpenCall | null; readonly beside: readonly string[] } {
    const { openCalls } = this.#of(agentId)
    const call = openCalls.get(id) ?? null
    openCalls.delete(id)
    return { call, beside: [...openCalls.values()].map(({ command }) => command) }
  }

  /** Whether this content of a path is reported for the first time. */
  isNews(agentId: string, path: string, entry: string): boolean {
    const { told } = this.#of(agentId)
    if (told.get(path) === entry) return false
    told.set(path, entry)
    dropOldest(told, TOLD_MAX)
    return true
  }

  /** Counts how often the session or a subagent was kept from ending. */
  countKept(agentId: string, who: string): number {
    const { kept } = this.#of(agentId)
    const count = (kept.get(who) ?? 0) + 1
    kept.set(who, count)
    dropOldest(kept, CALLS_MAX)
    return count
  }

  /** A new prompt begins a new turn. */
  forgetKept(agentId: string): void {
    this.#of(agentId).kept.clear()
  }

  #of(agentId: string): HookSession {
    const known = this.#sessions.get(agentId) ?? new HookSession()
    // The most recently seen agents stay.
    this.#sessions.delete(agentId)
    this.#sessions.set(agentId, known)
    dropOldest(this.#sessions, AGENTS_MAX)
    return known
  }
}

function dropOldest(kept: Map<string, unknown> | Set<string>, max: number): void {
  if (kept.size > max) kept.delete(kept.keys().next().value ?? '')
}
