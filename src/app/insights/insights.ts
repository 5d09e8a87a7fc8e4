import type { JsonObject } from '../../core/json.js'
import type { StoredEvent } from '../../store/store.js'
import type { App } from '../app.js'
import { ok, type Result, refuse } from '../result.js'
import { isArchived, toIsoTime, toTaskEvent } from '../wire.js'
import { INSIGHT_TYPES, InsightFold } from './insight-fold.js'

const PAGE = 1000
/** Of these types; the oldest beyond are left out, and the answer says so. */
const EVENTS_MAX = 100_000
const DEFAULT_DAYS = 30
const DAY_MS = 24 * 60 * 60 * 1000

interface InsightQuery {
  readonly since: number | undefined
  readonly until: number | undefined
  /** Hash or name. */
  readonly contract: string | undefined
}

/** What past runs show: gates passed at first try, refusals, time and tokens by phase, where tasks stop, waiting. */
export async function buildInsights(app: App, query: InsightQuery): Promise<Result<JsonObject>> {
  const until = query.until ?? app.now()
  const since = query.since ?? until - DEFAULT_DAYS * DAY_MS
  if (since > until) return refuse('invalid_request', 'query.since: is after until.')
  const hashes = query.contract === undefined ? null : findContracts(app, query.contract)
  if (hashes?.size === 0)
    return refuse('not_found', `There is no contract ${JSON.stringify(query.contract)}; GET /contracts lists them.`)
  const { events, isCut } = await readEvents(app, { since, until })
  const fold = new InsightFold()
  for (const stored of events.toReversed())
    if (stored.stream.startsWith(TASK) && !isArchived(stored) && (hashes === null || hashes.has(stored.contract ?? '')))
      fold.add(stored.stream.slice(TASK.length), toTaskEvent(stored))
  return ok({
    ...{ since: toIsoTime(since), until: toIsoTime(until), contract: query.contract ?? null },
    ...fold.view(),
    truncated: isCut || fold.isCut,
  })
}

const TASK = 'task:'

function findContracts(app: App, asked: string): ReadonlySet<string> {
  const known = [...app.ledger.registry.contracts.values()]
  return new Set(known.filter(({ hash, name }) => hash === asked || name === asked).map(({ hash }) => hash))
}

// Newest first, so that what is left out is the oldest.
async function readEvents(
  app: App,
  { since, until }: { readonly since: number; readonly until: number },
): Promise<{ readonly events: readonly StoredEvent[]; readonly isCut: boolean }> {
  const events: StoredEvent[] = []
  let cursor: string | null = null
  while (events.length < EVENTS_MAX) {
    const filter = { types: INSIGHT_TYPES, since, until, limit: PAGE, ...(cursor === null ? {} : { cursor }) }
    const page = await app.ledger.store.query(filter)
    events.push(...page.items)
    cursor = page.nextCursor
    if (cursor === null) return { events, isCut: false }
  }
  return { events, isCut: true }
}
