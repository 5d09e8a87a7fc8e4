import { observeAppends } from '../app/ledger/append-stats.js'
import type { StoredEvent } from '../app/ledger/feed.js'
import type { Orchestrator } from '../app/orchestrator.js'
import { isRefusal } from '../core/task/refusal.js'

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5]

const ALERTS_MAX = 200

/** Counters for Prometheus. They contain no task texts: only names of events, codes, routes and phases. */
export class Metrics {
  readonly #events = new Map<string, number>()
  readonly #refusals = new Map<string, number>()
  readonly #requests = new Map<string, number>()
  readonly #latency = { buckets: SECONDS.map(() => 0), sum: 0, count: 0 }
  #gatesPassed = 0
  #gatesBlocked = 0

  constructor(private readonly app: Orchestrator) {
    app.feed.subscribe((event) => this.#count(event))
  }

  request(route: string, status: number, seconds: number): void {
    add(this.#requests, `route="${route}",status="${status}"`)
    this.#latency.count += 1
    this.#latency.sum += seconds
    for (const [index, bound] of SECONDS.entries())
      if (seconds <= bound) this.#latency.buckets[index] = (this.#latency.buckets[index] ?? 0) + 1
  }

  async renderText(): Promise<string> {
    const counts = await this.app.ledger.store.countTasks()
    const lines = [
      ...formatSeries('phaselock_events_total', 'counter', 'Events in the ledger since start, by type.', this.#events),
      ...formatSeries('phaselock_refusals_total', 'counter', 'Refusals since start, by code.', this.#refusals),
      ...formatSeries('phaselock_http_requests_total', 'counter', 'Requests since start.', this.#requests),
      ...formatSeries(
        'phaselock_tasks',
        'gauge',
        'Tasks by status and phase.',
        new Map(counts.map((one) => [`status="${one.status}",phase="${escapeLabel(one.phase)}"`, one.count])),
      ),
      ...formatSeries(
        'phaselock_gates_total',
        'counter',
        'Gate decisions since start.',
        new Map([
          ['outcome="passed"', this.#gatesPassed],
          ['outcome="blocked"', this.#gatesBlocked],
        ]),
      ),
      ...formatSeries('phaselock_alerts', 'gauge', 'Alerts raised now, by condition.', this.#alerts()),
      ...formatHistogram('phaselock_http_request_seconds', 'Time from request to answer.', {
        bounds: SECONDS,
        ...this.#latency,
      }),
      ...this.#listStoreLines(),
      ...formatSeries(
        'phaselock_event_listeners',
        'gauge',
        'Clients on the event stream.',
        new Map([['', this.app.feed.size]]),
      ),
      ...formatSeries(
        'process_resident_memory_bytes',
        'gauge',
        'Resident memory.',
        new Map([['', process.memoryUsage.rss()]]),
      ),
    ]
    return `${lines.join('\n')}\n`
  }

  /** The same numbers as an object, for programs and the dashboard. */
  async buildSummary() {
    const counts = await this.app.ledger.store.countTasks()
    const gates = this.#gatesPassed + this.#gatesBlocked
    return {
      events: Object.fromEntries(this.#events),
      refusals: Object.fromEntries([...this.#refusals].map(([label, count]) => [label.slice(6, -1), count])),
      tasks: counts.map((one) => ({ ...one })),
      gate_pass_rate: gates === 0 ? null : this.#gatesPassed / gates,
      alerts: this.app.alerts.list().slice(0, ALERTS_MAX),
      requests: this.#latency.count,
      mean_seconds: this.#latency.count === 0 ? null : this.#latency.sum / this.#latency.count,
    }
  }

  #count(event: StoredEvent): void {
    add(this.#events, `type="${event.type}"`)
    // Waiting for people or reviewers is not a refusal.
    const { counted, code } = event.data
    if (event.type === 'gate_blocked' && !isRefusal({ counted: counted !== false, code: String(code) })) return
    if (typeof code === 'string') add(this.#refusals, `code="${code}"`)
    if (event.type === 'gate_passed') this.#gatesPassed += 1
    if (event.type === 'gate_blocked' || event.type === 'checkpoint_refused') this.#gatesBlocked += 1
  }

  #alerts(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>()
    for (const { condition } of this.app.alerts.list()) add(counts, `condition="${String(condition)}"`)
    return counts
  }

  #listStoreLines(): readonly string[] {
    const stats = observeAppends(this.app.ledger.store)
    return [
      ...formatHistogram('phaselock_store_append_seconds', 'Time until an append is durable.', stats.latency),
      ...formatSeries(
        'phaselock_store_append_queue',
        'gauge',
        'Appends that wait for the store.',
        new Map([['', stats.waiting]]),
      ),
      ...formatSeries(
        'phaselock_store_append_failures_total',
        'counter',
        'Appends that the store could not take.',
        new Map([['', stats.failed]]),
      ),
    ]
  }
}

interface Histogram {
  readonly bounds: readonly number[]
  readonly buckets: readonly number[]
  readonly sum: number
  readonly count: number
}

function formatHistogram(name: string, help: string, { bounds, buckets, sum, count }: Histogram): readonly string[] {
  return [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} histogram`,
    ...bounds.map((bound, index) => `${name}_bucket{le="${bound}"} ${buckets[index] ?? 0}`),
    `${name}_bucket{le="+Inf"} ${count}`,
    `${name}_sum ${sum}`,
    `${name}_count ${count}`,
  ]
}

function formatSeries(
  name: string,
  type: string,
  help: string,
  values: ReadonlyMap<string, number>,
): readonly string[] {
  return [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} ${type}`,
    ...[...values].map(([labels, value]) => `${name}${labels === '' ? '' : `{${labels}}`} ${value}`),
  ]
}

function add(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

function escapeLabel(text: string): string {
  return text.replace(/[\\"\n]/g, '_')
}
