import { describe, expect, it } from 'vitest'
import { findLiveness, sortAgents } from '../../dashboard/src/pages/agents/agent-row.js'
import { readFilter, summarize, toQuery } from '../../dashboard/src/pages/audit/audit-filter.js'
import { layOutGraph } from '../../dashboard/src/pages/contracts/graph-layout.js'
import { findBehind, nameNumber } from '../../dashboard/src/pages/insights/find-behind.js'
import {
  findScale,
  formatSeconds,
  type Insights,
  listDays,
  nameBin,
} from '../../dashboard/src/pages/insights/insight-numbers.js'
import { findRange, findRangeBefore } from '../../dashboard/src/pages/insights/insight-range.js'

const NOTHING: Insights = {
  ...{ since: '2026-11-15T10:00:00.000Z', until: '2026-11-17T10:00:00.000Z', truncated: false },
  tasks: { total: 0, completed: 0, cancelled: 0, parked: 0, open: 0 },
  ...{ first_try: [], phases: [], stuck: [], per_day: [] },
  refusals: { total: 0, by_code: [], by_phase: [], by_agent: [], matrix: [] },
  approvals: { count: 0, waiting: { median: 0, p90: 0, max: 0 }, histogram: [] },
}

describe('insights', () => {
  it('[REQ-PAGES-22] durations have at most two units', () => {
    expect([0, 12, 60, 2280, 9660, 360_000].map(formatSeconds)).toEqual([
      '0 s',
      '12 s',
      '1 min',
      '38 min',
      '2 h 41 min',
      '4 d 4 h',
    ])
  })

  it('[REQ-PAGES-22] an axis ends at a number that four lines divide', () => {
    for (const max of [0, 1, 5, 9, 33, 41, 99, 101, 999, 48_213]) {
      const scale = findScale(max)
      expect(scale).toBeGreaterThanOrEqual(max)
      expect(Number.isInteger(scale / 4), String(scale)).toBe(true)
    }
  })

  it('[REQ-PAGES-22] a number is found by its name in the address, also with odd characters, and only then', () => {
    const code = { key: 'a:b/ü', count: 3, task_ids: ['T1'] }
    const insights = { ...NOTHING, refusals: { ...NOTHING.refusals, by_code: [code] } }
    expect(findBehind(insights, nameNumber('code', 'a:b/ü'))).toMatchObject({ taskIds: ['T1'], count: 3 })
    for (const name of ['', 'code', 'code:other', 'waits:99', 'nothing:x', '%E0%A4%A', 'gate:%'])
      expect(findBehind(insights, name), name).toBeNull()
  })

  it('[REQ-PAGES-22] days without events are in the plot, and the time before is as long', () => {
    expect(listDays(NOTHING, NOTHING.since, NOTHING.until).map(({ day }) => day)).toEqual([
      '2026-11-15',
      '2026-11-16',
      '2026-11-17',
    ])
    const range = findRange('7d', Date.parse('2026-11-17T10:00:30Z'))
    expect(range).toEqual({ since: '2026-11-10T10:01:00.000Z', until: '2026-11-17T10:01:00.000Z' })
    // What happens in this very minute counts, also at its first moment.
    expect(findRange('7d', Date.parse('2026-11-17T10:00:00Z'))).toEqual(range)
    expect(findRangeBefore(range)).toEqual({ since: '2026-11-03T10:01:00.000Z', until: range.since })
  })

  it('[REQ-PAGES-22] bins of waiting times are named by their bounds', () => {
    const bins = [60, 300, 3600, null].map((up_to_seconds) => ({ up_to_seconds, count: 0, approval_ids: [] }))
    expect(bins.map((_, index) => nameBin(bins, index))).toEqual(['under 1 min', '1–5 min', '5–60 min', 'over 1 h'])
  })
})

describe('the graph of a contract', () => {
  it('[REQ-PAGES-23] phases stand below each other; ways back are on the left, what waits is at its gate', () => {
    const { boxes, lines, boxX } = layOutGraph({
      phases: [
        { id: 'A', name: 'A' },
        { id: 'B', name: 'B' },
        { id: 'C', name: 'C' },
      ],
      transitions: [
        { from: 'A', to: 'B', gate: 'g1', kind: 'forward' },
        { from: 'B', to: 'A', gate: null, kind: 'back' },
        { from: 'A', to: 'C', gate: 'g2', kind: 'forward' },
      ],
      counts: { A: 2 },
      waiting: { g1: 1 },
    })
    expect(boxes.map(({ count }) => count)).toEqual([2, 0, 0])
    expect(boxes.map(({ y }) => y)).toEqual([...boxes.map(({ y }) => y)].sort((a, b) => a - b))
    const [forward, back, skip] = lines
    expect(forward).toMatchObject({ isWaiting: true, isBack: false, label: { text: 'g1', waits: '1 waits' } })
    expect(back).toMatchObject({ isBack: true, label: null, lock: null })
    expect(back?.points[1]?.x).toBeLessThan(boxX)
    expect(skip?.points[1]?.x).toBeGreaterThan(boxX)
  })
})

describe('the filters of the audit', () => {
  it('[REQ-PAGES-24] only known fields that say something are read from an address', () => {
    expect(readFilter({ q: ' x ', type: '', evil: 'y', success: true, task_id: ['a'] })).toEqual({
      q: 'x',
      success: 'true',
    })
  })

  it('[REQ-PAGES-24] local times become exact ones, and what is no time stays for the server to refuse', () => {
    expect(toQuery({ since: '2026-11-17T10:00:00Z' })).toEqual({ since: '2026-11-17T10:00:00.000Z' })
    expect(toQuery({ until: 'yesterday' })).toEqual({ until: 'yesterday' })
  })

  it('[REQ-PAGES-24] a summary is one bounded line', () => {
    expect(summarize({ code: 'forbidden_tool', tool_name: 'bash', detail: 'no' })).toBe('forbidden_tool · bash · no')
    expect(summarize({ detail: 'x'.repeat(5000) }).length).toBeLessThan(300)
  })
})

describe('agents', () => {
  const row = {
    ...{
      agent_id: 'a',
      capabilities: [],
      status: 'working',
      task_id: 'T1',
      phase: 'PLAN',
      spawn: null,
      expires_at: null,
    },
    ...{ last_activity: '2026-11-17T10:00:00Z', registered_at: '2026-11-17T09:00:00Z' },
  }
  const now = Date.parse('2026-11-17T10:01:00Z')

  it('[REQ-PAGES-25] an agent that has not called for minutes is silent; those at work come first', () => {
    expect(findLiveness(row, now).word).toBe('Works')
    expect(findLiveness(row, now + 10 * 60_000).word).toBe('Silent')
    expect(findLiveness({ ...row, status: 'revoked' }, now).word).toBe('Revoked')
    const idle = { ...row, agent_id: '0', status: 'idle', task_id: null }
    expect(sortAgents([idle, row], now).map(({ agent_id }) => agent_id)).toEqual(['a', '0'])
  })
})
