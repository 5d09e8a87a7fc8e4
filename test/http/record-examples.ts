import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Json, JsonObject } from '../../src/core/json.js'
import type { Route } from '../../src/http/route.js'
import { ROUTES } from '../../src/http/routes/all.js'
import { ROOT } from '../cli/program.js'
import { ENDPOINTS } from '../garbage/endpoints.js'
import { Stage } from '../garbage/stage.js'
import { prepareRequest, sendRequest } from './right-requests.js'

const FILE = join(ROOT, 'schemas/openapi-examples.json')

const TEXT_MAX = 300
const ITEMS_MAX = 1

const REPLACED: readonly (readonly [RegExp, string])[] = [
  [new RegExp(`${tmpdir()}/[\\w./-]*`, 'g'), '/srv/shop'],
  [/\beyJ[\w-]+\.[\w-]+\.[\w-]+/g, 'eyJ…'],
  [/\bplop_[\w-]+/g, 'plop_…'],
  [/\b20\d\d-\d\d-\d\dT[\d:]+/g, '2026-01-05T09:00:00'],
]

/** Need nodes on PostgreSQL, a terminal, or a browser. */
const BY_HAND: Readonly<Record<string, JsonObject>> = {
  adoptNode: {
    body: { reason: 'its machine is gone' },
    answer: { node: 'node-2', adopted_by: 'node-1', streams: 3 },
  },
  agentScreen: { answer: { agent_id: 'coder', screen: '$ npm test\n41 passing' } },
  login: {
    body: { operator_token: 'plop_…' },
    answer: {
      operator: { name: 'admin', role: null },
      csrf_token: 'lDLZ8RTCOTGe',
      expires_at: '2026-01-05T09:00:00.000Z',
    },
  },
}

/**
 * Writes the examples of the OpenAPI document, from right requests to a real server and its answers:
 * `PHASELOCK_RECORD_EXAMPLES=1 npx vitest run test/http/openapi.test.ts`
 */
export async function recordExamples(): Promise<void> {
  const stage = await Stage.open()
  const examples: Record<string, JsonObject> = { ...BY_HAND }
  for (const route of ROUTES.filter(({ id }) => !(id in BY_HAND)))
    examples[route.id] = await recordExample(stage, route)
  const { call, operator, stop } = stage.run
  const [event = null] = (await call('GET', '/audit/recent', operator)).body.events as Json[]
  for (const id of ['streamEvents', 'streamCoordination', 'exportAudit']) examples[id] = { answer: shorten(event) }
  examples.metricsSummary = { answer: shorten((await call('GET', '/metrics/summary', operator)).body as Json) }
  await stop()
  const sorted = Object.entries(examples).sort(([a], [b]) => (a < b ? -1 : 1))
  writeFileSync(FILE, `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`)
}

async function recordExample(stage: Stage, route: Route): Promise<JsonObject> {
  const lane = await prepareRequest(stage, route.id)
  const base = lane.base()
  const { status, body } = await sendRequest(stage, route, { pair: lane.pair, base })
  expect(status, `${route.id}: ${JSON.stringify(body)}`).toBeLessThan(300)
  await ENDPOINTS[route.id]?.after?.(stage)
  const answer = shorten(body as Json)
  return route.body === undefined ? { answer } : { body: shorten((base.body ?? {}) as Json), answer }
}

// What a real server said, without what is only true of its run, and short enough for an example.
function shorten(value: Json): Json {
  if (typeof value === 'string') return shortenText(value)
  if (Array.isArray(value)) return value.slice(0, ITEMS_MAX).map((item: Json) => shorten(item))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, shorten(part)]))
}

function shortenText(text: string): string {
  const replaced = REPLACED.reduce((before, [pattern, by]) => before.replace(pattern, by), text)
  return replaced.length > TEXT_MAX ? `${replaced.slice(0, TEXT_MAX)}…` : replaced
}
