import { CODES } from '../../src/core/codes.js'
import { ROUTES } from '../../src/http/routes/all.js'
import { depth } from '../depth.js'
import { Chance } from './chance.js'
import { Client, type Got, type Sent } from './client.js'
import { ENDPOINTS, type Endpoint, type Lane } from './endpoints.js'
import { type Base, type Change, changesOf, type Operation, randomChange, requestOf, UNCHANGED } from './mutate.js'
import type { Stage } from './stage.js'

export const SEED = Number(process.env.PHASELOCK_GARBAGE_SEED ?? 20_260_801)
export const PER_ENDPOINT = Number(process.env.PHASELOCK_GARBAGE_PER_ENDPOINT ?? depth(3, 200))
const LANES = 4
const OTHERS_SHARE = 0.1
const STRANGER_MS = 60

export type Who = 'operator' | 'agent' | 'phase' | 'review' | 'participant' | 'none'
export const EVERYBODY: readonly Who[] = ['operator', 'agent', 'phase', 'review', 'participant', 'none']

export interface Described extends Operation {
  readonly mayCall: readonly Who[]
}

/** The operations of the OpenAPI document that a running server gives out. */
export function operationsOf(document: Record<string, unknown>): readonly Described[] {
  const paths = document.paths as Record<string, Record<string, DescribedOperation>>
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, one]) => ({
      id: one.operationId,
      method: method.toUpperCase(),
      path,
      body: one.requestBody?.content['application/json'].schema ?? null,
      query: new Map((one.parameters ?? []).filter((p) => p.in === 'query').map((p) => [p.name, p.schema])),
      mayCall: WORDS.filter(([, word]) => word.test(one.description)).map(([who]) => who),
    })),
  )
}

interface DescribedOperation {
  readonly operationId: string
  readonly description: string
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: Fields }[]
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: Fields } } }
}
type Fields = Readonly<Record<string, unknown>>

// What the document says of each kind of token.
const WORDS: readonly (readonly [Who, RegExp])[] = [
  ['operator', /\boperators\b/],
  ['agent', /\(agent (or phase )?token\)/],
  ['phase', /\(agent or phase token\)/],
  ['review', /\(review token\)/],
  ['participant', /\(participant token\)/],
]

const reached = new Map<string, number>()

/** Counts the requests that get as far as the handler of their route. Works for servers of this process. */
export function countHandlers(): void {
  for (const route of ROUTES as readonly { id: string; handle: (typeof ROUTES)[number]['handle'] }[]) {
    const { handle } = route
    route.handle = (call) => {
      reached.set(route.id, (reached.get(route.id) ?? 0) + 1)
      return handle(call)
    }
  }
}

export interface Outcome {
  readonly sent: number
  /** Sent by somebody who may call this. */
  readonly permitted: number
  readonly reached: number
  readonly statuses: ReadonlyMap<number, number>
}

/** Throws garbage at one endpoint as everybody, and stops at the first answer that is wrong. */
export async function throwGarbage(stage: Stage, operation: Described): Promise<Outcome> {
  const endpoint = ENDPOINTS[operation.id]
  if (endpoint === undefined) throw new Error(`there is no right request for ${operation.id} in endpoints.ts`)
  const client = new Client(stage.run.port)
  const statuses = new Map<number, number>()
  let sent = 0
  let permitted = 0
  let inHandler = 0
  // What was made for one principal and is not used up serves the next.
  const lanesOpen: (Lane | undefined)[] = []
  try {
    for (const who of EVERYBODY) {
      // They come from coordinations, and their tokens open nothing else.
      if (who === 'participant' && !operation.path.startsWith('/coordinations/')) continue
      const callers = listCallers(operation)
      const mayCall = callers.includes(who)
      const count = Math.ceil(mayCall ? PER_ENDPOINT / callers.length : PER_ENDPOINT * OTHERS_SHARE)
      const lanes = endpoint.isAlone ? 1 : LANES
      const before = reached.get(operation.id) ?? 0
      const work = Array.from({ length: lanes }, async (_, index) => {
        const run = { stage, operation, endpoint, client, who, index, lanesOpen, count: Math.ceil(count / lanes) }
        for await (const got of throwInLane(run)) {
          statuses.set(got.status, (statuses.get(got.status) ?? 0) + 1)
          sent += 1
          if (mayCall) permitted += 1
          if (mayCall && isUncounted(operation) && got.status === 200) inHandler += 1
        }
      })
      await Promise.all(work)
      if (mayCall) inHandler += (reached.get(operation.id) ?? 0) - before
    }
  } finally {
    client.close()
  }
  return { sent, permitted, reached: inHandler, statuses }
}

// These have no handler in the table of routes.
function isUncounted(operation: Operation): boolean {
  return ['streamEvents', 'streamCoordination', 'exportAudit', 'metricsSummary', 'login'].includes(operation.id)
}

interface LaneRun {
  readonly stage: Stage
  readonly operation: Described
  readonly endpoint: Endpoint
  readonly client: Client
  readonly who: Who
  readonly index: number
  readonly lanesOpen: (Lane | undefined)[]
  readonly count: number
}

async function* throwInLane(run: LaneRun): AsyncGenerator<Got> {
  const { stage, operation, endpoint, who, index, lanesOpen } = run
  const name = `${operation.id} as ${who}, lane ${index}`
  let lane = lanesOpen[index] ?? (await endpoint.prepare(stage, index))
  const changes = chosen(operation, lane.base(), new Chance(SEED, name), run.count)
  for (const [number, change] of changes.entries()) {
    if (who === 'none' && stage.run.now !== null) stage.run.now += STRANGER_MS
    const base = lane.base()
    const sent = requestOf(operation, base, change.apply(base), tokenOf(stage, lane, who))
    const place = `seed ${SEED}, ${name}, case ${number}: ${change.name}`
    const got = await answerTo(run, sent, place)
    const wrong = judge(run, got)
    if (wrong !== null) throw new Error(`${wrong}\n${place}\n${shown(sent)}\n${got.status} ${got.text.slice(0, 2000)}`)
    yield got
    if (got.status < 300) await endpoint.after?.(stage)
    if (isSpent(endpoint, got)) lane = await endpoint.prepare(stage, index)
  }
  lanesOpen[index] = lane
}

/** Right requests, other right values, and then what the shape suggests: half in it, half around it. */
function chosen(operation: Operation, sample: Base, chance: Chance, count: number): readonly Change[] {
  const all = changesOf(operation, sample)
  const isRight = (one: Change): boolean => one.name.includes('another right one')
  const isShape = (one: Change): boolean => /^\/|^query \w+ (is|alone)/.test(one.name)
  const shape = chance.shuffled(all.filter((one) => !isRight(one) && isShape(one)))
  const around = chance.shuffled(all.filter((one) => !isRight(one) && !isShape(one)))
  const controls = Math.max(1, Math.floor(count / 20))
  const right = [
    ...Array.from({ length: controls }, () => UNCHANGED),
    ...chance.shuffled(all.filter(isRight)).slice(0, Math.floor(count / 5)),
  ]
  const wanted = count - right.length
  const fromShape = shape.slice(0, Math.max(Math.ceil(wanted / 2), wanted - around.length))
  const picked = [...right, ...fromShape, ...around.slice(0, Math.max(0, wanted - fromShape.length))]
  while (picked.length < count) picked.push(randomChange(operation, sample, chance))
  return chance.shuffled(picked)
}

function tokenOf(stage: Stage, lane: Lane, who: Who): string | null {
  if (who === 'operator') return stage.run.operator
  return who === 'none' ? null : (lane.pair[who] ?? null)
}

async function answerTo(run: LaneRun, sent: Sent, place: string): Promise<Got> {
  try {
    return await run.client.send(sent)
  } catch (error) {
    throw new Error(`no answer (${String(error)})\n${place}\n${shown(sent)}`)
  }
}

const SPENT = new Set(['task_not_active', 'token_stale', 'no_active_task', 'token_invalid', 'conflict'])

function isSpent(endpoint: Endpoint, got: Got): boolean {
  if (got.status < 300) return endpoint.isSpentBySuccess === true || typeof got.json.phase_token === 'string'
  return SPENT.has(String(got.json.code))
}

const UNFINISHED = new Set(['executeTool', 'batchTools'])

/** An operation for nobody in particular is open to everybody; tokens of participants are not tried there. */
function listCallers({ mayCall }: Described): readonly Who[] {
  return mayCall.length === 0 ? EVERYBODY.filter((who) => who !== 'participant') : mayCall
}

/** The call that tells operators where the state directory is. */
function mayShow({ operation, who }: LaneRun, leak: string): boolean {
  return operation.id === 'checkServer' && who === 'operator' && leak === 'the path of the state directory'
}

/** What is wrong with an answer; null when nothing is. */
function judge(run: LaneRun, got: Got): string | null {
  const { operation, who } = run
  const leak = run.stage.leakIn(got.text)
  if (leak !== null && !mayShow(run, leak)) return `the answer leaks ${leak}`
  for (const [, token] of got.text.matchAll(/"(?:phase_token|agent_token|operator_token|review_token)":"([^"]+)"/g))
    run.stage.issued(token ?? '')
  // An agent CLI is refused with 200, in its own words, with the code at the end of the reason.
  if (operation.id.startsWith('hook') && got.status === 200 && /\[[a-z]+(?:_[a-z]+)+\]/.test(got.text)) return null
  if (got.status < 300)
    return listCallers(operation).includes(who) || got.text === '' ? null : `${who} got in where it may not call`
  const isUnfinished = got.json.code === 'confinement_unavailable' && UNFINISHED.has(operation.id)
  if (got.status >= 500 && !isUnfinished) return 'the server blames itself'
  return problemFault(got)
}

/** An answer that is no success must be a problem document (RFC 9457) with a code that we know. */
export function problemFault(got: Got): string | null {
  if (got.text === '') return null
  if (!String(got.headers['content-type']).startsWith('application/problem+json')) return 'the answer is no problem'
  const { type, title, status, detail, code } = got.json
  for (const text of [type, title, detail, code])
    if (typeof text !== 'string' || text === '') return 'a member of the problem is missing'
  if (status !== got.status) return 'the problem has another status than the answer'
  return Object.hasOwn(CODES, String(code)) ? null : `the code ${String(code)} is not known`
}

function shown(sent: Sent): string {
  const body = sent.body === null ? '' : sent.body.toString('latin1').slice(0, 1500)
  const headers = Object.entries(sent.headers).map(([name, value]) => `${name}: ${String(value).slice(0, 200)}`)
  return `${sent.method} ${sent.target.slice(0, 500)}\n${headers.join('\n')}\n\n${body}`
}
