import type { TaskEvent } from '../../core/task/event.js'
import { isRefusal } from '../../core/task/refusal.js'
import type { StoredEvent } from '../../store/store.js'
import type { App } from '../app.js'
import { findAuthor, findRefusalCode } from '../reports/refusal-code.js'
import { isArchived, toTaskEvent } from '../wire.js'

const PAGE = 1000
/** So many of the newest events are read at first, and later only new ones. */
const EVENTS_MAX = 100_000
const AGENTS_MAX = 5000
const MESSAGES_MAX = 50_000
const TYPES = [
  ...['phase_entered', 'task_rewound', 'gate_passed', 'gate_blocked', 'checkpoint_refused', 'tool_denied'],
  ...['changes_dropped', 'transition_refused', 'approval_refused', 'question_refused', 'token_refused'],
  ...['rule_violated', 'usage_recorded', 'unledgered_change_found'],
] as const

/** How reliably an agent works, and what it used. */
export interface AgentTally {
  refusals: number
  /** Refusals of a kind that the agent had met in the same visit before. */
  retries: number
  gatesPassed: number
  /** Gates that opened without a refusal before. */
  gatesFirstTry: number
  input: number
  output: number
}

/** Counts of every agent, kept up to date from the ledger. Can be thrown away. */
class AgentTallies {
  readonly #agents = new Map<string, AgentTally>()
  /** Tasks whose gates refused the agent in the current visit. */
  readonly #blocked = new Set<string>()
  readonly #messages = new Map<string, { readonly input: number; readonly output: number }>()
  #seq = 0
  #reading: Promise<void> = Promise.resolve()

  get(agentId: string): AgentTally {
    return this.#agents.get(agentId) ?? makeTally()
  }

  /** Reads what is new. Callers at the same time wait for one another. */
  update(app: Pick<App, 'ledger'>): Promise<void> {
    const goOn = (): Promise<void> => this.#read(app)
    this.#reading = this.#reading.then(goOn, goOn)
    return this.#reading
  }

  async #read({ ledger }: Pick<App, 'ledger'>): Promise<void> {
    const until = await ledger.store.lastSeq()
    if (until === this.#seq) return
    const events: StoredEvent[] = []
    let cursor: string | null = null
    do {
      const filter = { types: TYPES, afterSeq: this.#seq, limit: PAGE, ...(cursor === null ? {} : { cursor }) }
      const page = await ledger.store.query(filter)
      events.push(...page.items)
      cursor = page.nextCursor
    } while (cursor !== null && events.length < EVENTS_MAX)
    for (const stored of events.toReversed())
      if (stored.stream.startsWith('task:') && !isArchived(stored)) this.#add(stored.stream, toTaskEvent(stored))
    this.#seq = Math.max(until, events[0]?.seq ?? 0)
  }

  #add(stream: string, event: TaskEvent): void {
    if (event.type === 'phase_entered' || event.type === 'task_rewound') {
      this.#blocked.delete(stream)
      return
    }
    const author = findAuthor(event)
    const tally = this.#agents.get(author) ?? makeTally()
    if (!this.#agents.has(author) && this.#agents.size >= AGENTS_MAX) return
    this.#agents.set(author, tally)
    if (event.type === 'usage_recorded') {
      this.#use(stream, event, tally)
      return
    }
    if (event.type === 'gate_passed') {
      tally.gatesPassed += 1
      if (!this.#blocked.has(stream)) tally.gatesFirstTry += 1
      this.#blocked.delete(stream)
    }
    const isBlocked = event.type === 'gate_blocked' ? isRefusal(event) : event.type === 'checkpoint_refused'
    if (isBlocked) this.#blocked.add(stream)
    if (findRefusalCode(event) === null) return
    tally.refusals += 1
    if ('retry' in event && (event.retry?.attempt ?? 0) > 1) tally.retries += 1
  }

  // The same message may be reported again with higher numbers.
  #use(stream: string, event: TaskEvent & { type: 'usage_recorded' }, tally: AgentTally): void {
    const key = event.usageId === null ? null : `${stream} ${event.usageId}`
    const known = key === null ? undefined : this.#messages.get(key)
    tally.input += Math.max(0, event.input - (known?.input ?? 0))
    tally.output += Math.max(0, event.output - (known?.output ?? 0))
    if (key === null || (known === undefined && this.#messages.size >= MESSAGES_MAX)) return
    this.#messages.set(key, {
      input: Math.max(event.input, known?.input ?? 0),
      output: Math.max(event.output, known?.output ?? 0),
    })
  }
}

function makeTally(): AgentTally {
  return { refusals: 0, retries: 0, gatesPassed: 0, gatesFirstTry: 0, input: 0, output: 0 }
}

const KEPT = new WeakMap<App['ledger'], AgentTallies>()

/** The counts of all agents, up to date. */
export async function readAgentTallies(app: Pick<App, 'ledger'>): Promise<Pick<AgentTallies, 'get'>> {
  const tallies = KEPT.get(app.ledger) ?? new AgentTallies()
  KEPT.set(app.ledger, tallies)
  await tallies.update(app)
  return tallies
}
