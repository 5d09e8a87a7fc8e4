import { describe, expect, it } from 'vitest'
import { compareRuns, listArtifacts, listRuns } from '../../dashboard/src/pages/task/observed-runs.js'
import type { TaskEvent } from '../../dashboard/src/pages/task/task-types.js'
import { buildTimeline, countKinds, foldItems, summarizeCalls } from '../../dashboard/src/pages/task/timeline-items.js'

let version = 0

function event(type: string, data: Record<string, unknown> = {}, phase = 'PLAN'): TaskEvent {
  version += 1
  const at = new Date(1_790_000_000_000 + version * 1000).toISOString()
  return {
    seq: version + 100,
    stream: 'task:t',
    version,
    type,
    at,
    actor: 'agent:a',
    epoch: 1,
    phase,
    contract: 'c',
    data,
  }
}

const call = (tool: string) => [event('tool_allowed', { tool_name: tool }), event('tool_finished', { tool_name: tool })]

describe('the timeline of a task', () => {
  it('folds consecutive calls, and joins a request with what became of it', () => {
    const events = [
      ...call('grep'),
      ...call('read_files'),
      ...call('grep'),
      event('tool_denied', { tool_name: 'bash' }),
      event('transition_requested', { to: 'TDD' }),
      event('gate_blocked', { to: 'TDD' }),
      ...call('grep'),
    ]
    const items = foldItems(events)
    expect(items.map(({ kind }) => kind)).toEqual(['calls', 'one', 'gate', 'calls'])
    expect(summarizeCalls(items[0]?.events ?? [])).toBe('3 calls: grep 2, read_files 1')
    expect(items[2]).toMatchObject({ asked: { type: 'transition_requested' }, outcome: { type: 'gate_blocked' } })
    expect(Object.fromEntries(countKinds(events))).toEqual({ call: 4, refusal: 1, artifact: 1, gate: 1 })
  })

  it('has one part for each visit, newest first, and filters by kind', () => {
    const events = [
      event('task_created'),
      event('phase_entered', { to: 'PLAN', from: null, visit: 1 }),
      ...call('grep'),
      event('phase_entered', { to: 'TDD', from: 'PLAN', visit: 2 }, 'TDD'),
      event('tool_denied', { tool_name: 'bash' }, 'TDD'),
    ]
    const visits = buildTimeline(events, null)
    expect(visits.map(({ phase, visit, eventCount }) => [phase, visit, eventCount])).toEqual([
      ['TDD', 2, 2],
      ['PLAN', 1, 3],
      ['PLAN', 0, 1],
    ])
    expect(visits[0]?.items[0]?.last.type).toBe('tool_denied')
    expect(buildTimeline(events, 'refusal').map(({ phase }) => phase)).toEqual(['TDD'])
  })

  it('counts the stays in one phase, not those before it in other phases', () => {
    const enter = (to: string, visit: number) => event('phase_entered', { to, visit }, to)
    const visits = buildTimeline([event('task_created'), enter('PLAN', 1), enter('TDD', 2), enter('PLAN', 3)], null)
    expect(visits.map(({ phase, nth }) => [phase, nth])).toEqual([
      ['PLAN', 2],
      ['TDD', 1],
      ['PLAN', 1],
      ['PLAN', 0],
    ])
  })

  it('a gate that stayed closed is a refusal too, unless it only waits for a person', () => {
    const events = [
      event('gate_blocked', { to: 'TDD', code: 'approval_pending', counted: false }),
      event('gate_blocked', { to: 'TDD', code: 'gate_blocked', counted: true }),
      event('tool_denied', { tool_name: 'bash' }),
    ]
    expect([...countKinds(events)]).toEqual([
      ['gate', 2],
      ['refusal', 2],
    ])
    expect(buildTimeline(events, 'refusal')[0]?.items.map(({ last }) => last.data.code)).toEqual([
      undefined,
      'gate_blocked',
    ])
  })

  it('an unknown type of event is still shown', () => {
    expect(foldItems([event('something_new')])).toMatchObject([{ kind: 'one', last: { type: 'something_new' } }])
  })
})

describe('evidence', () => {
  it('numbers the versions of an artifact, and names the same content once', () => {
    const plan = (sha256: string) => ({ type: 'plan_document', sha256, bytes: 2, grade: 'reported' })
    const events = ['aa', 'aa', 'bb'].map((sha) => event('transition_requested', { artifacts: [plan(sha)] }))
    expect(listArtifacts(events).map(({ sha256, version: one }) => [sha256, one])).toEqual([
      ['aa', 1],
      ['bb', 2],
    ])
  })

  it('tests against the run before are new, turned red, turned green or lost', () => {
    const before = { tests: [test('a', 'passed'), test('b', 'failed'), test('c', 'passed'), test('d', 'passed')] }
    const run = { tests: [test('a', 'failed'), test('b', 'passed'), test('e', 'failed'), test('d', 'passed')] }
    expect(compareRuns(run, before)).toEqual([
      { id: 'c', status: 'lost', mark: 'lost' },
      { id: 'a', status: 'failed', mark: 'turned red' },
      { id: 'e', status: 'failed', mark: 'new' },
      { id: 'b', status: 'passed', mark: 'turned green' },
      { id: 'd', status: 'passed', mark: null },
    ])
    expect(compareRuns(run, null).every(({ mark }) => mark === null)).toBe(true)
  })

  it('lists the baseline and every observed run once', () => {
    const run = {
      name: 'tests',
      command: 'npm test',
      sha256: 'r1',
      grade: 'observed',
      passed: 1,
      failed: 0,
      skipped: 0,
    }
    const events = [
      event('baseline_recorded', { run: 'b0', passed: 3, failed: 0, skipped: 0, flaky: 0, reason: null }),
      event('transition_requested', { observed: [run] }),
      event('transition_requested', { observed: [{ ...run, cached: true }] }),
    ]
    expect(listRuns(events).map(({ name, sha256 }) => [name, sha256])).toEqual([
      ['baseline', 'b0'],
      ['tests', 'r1'],
    ])
  })
})

function test(id: string, status: 'passed' | 'failed') {
  return { id, status }
}
