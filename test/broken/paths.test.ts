import { afterAll, describe, expect, it } from 'vitest'
import { CODES } from '../../src/core/codes.js'
import { sample } from '../depth.js'
import { type Answered, Copies, type Damage, MEANINGFUL_DAMAGES } from './copies.js'

const copies = await Copies.make()
afterAll(() => copies.remove())

const kinds = copies.listKinds()
const CASES = [...kinds.keys()].flatMap((kind) => MEANINGFUL_DAMAGES.map((damage) => [kind, damage] as const))
const CASE_MS_MAX = 300_000

/** Without these the server can record nothing. */
const NEEDED_BY_ALL = /^state(\/ledger\..+)?$/

/** The server blames itself, without a code of its own that says what to do. */
function isFault({ call, answer: { status, body } }: Answered): boolean {
  if (status < 500 || (call === '/ready' && status === 503)) return false
  return body.code === 'internal_error' || !Object.hasOwn(CODES, String(body.code))
}

function show({ call, who, answer, fault }: Answered): string {
  const stack = fault instanceof Error ? (fault.stack ?? '').split('\n').slice(0, 8).join('\n') : String(fault)
  return `${call} as ${who}: ${answer.status} ${JSON.stringify(answer.body).slice(0, 300)}\n${stack}`
}

describe('a server whose files and folders are damaged', () => {
  it('[REQ-GONE-4] answers every right request when nothing is damaged', { timeout: CASE_MS_MAX }, async () => {
    const answered = await copies.damage([], null)
    expect(answered.filter(isFault).map(show)).toEqual([])
    const right = answered.filter(({ who, answer }) => who === 'its caller' && answer.status < 300)
    expect(right.length).toBeGreaterThan(90)
  })

  it.each(sample(CASES, 4))(
    '[REQ-GONE-4] answers every route, and other tasks go on: %s %s',
    { timeout: CASE_MS_MAX },
    async (kind: string, damage: Damage) => {
      const answered = await copies.damage(kinds.get(kind) ?? [], damage)
      expect(answered.filter(isFault).map(show)).toEqual([])
      const others = answered.slice(0, 3).map(({ answer }) => answer.status)
      if (!NEEDED_BY_ALL.test(kind)) expect(others).toEqual([200, 201, 200])
    },
  )
})
