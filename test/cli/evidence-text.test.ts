import type { LedgerEvent, TaskDetails } from 'phaselock/sdk'
import { expect, test } from 'vitest'
import { formatEventLine } from '../../src/cli/terminal/event-lines.js'
import { formatNewestTests, runText } from '../../src/cli/terminal/evidence-text.js'
import { showTask } from '../../src/cli/terminal/task-text.js'
import type { JsonObject } from '../../src/core/json.js'

const requested = (observed: readonly JsonObject[]): LedgerEvent => ({
  ...{ seq: 1, stream: '', actor: '', type: 'transition_requested', phase: 'IMPL', at: '2026-01-01T00:00:00Z' },
  data: { to: 'REVIEW', observed: [...observed] },
})
const NONE = { proved: 0, survived: 0, not_judged: 0, no_evidence: 0 }
const PROVED = { name: 'tests', grade: 'proved', passed: 5, failed: 0, skipped: 1, inverted: { ...NONE, proved: 2 } }
const RED = { name: 'tests', grade: 'observed', passed: 3, failed: 2, skipped: 0 }

test('[REQ-TWINS-15] a run is shown by its counts and the results of its new tests', () => {
  expect(runText(PROVED)).toBe('5 passed, 1 skipped; new tests: 2 proved')
  expect(runText({ ...PROVED, inverted: { proved: 1, survived: 1, not_judged: 3, no_evidence: 1 } })).toBe(
    '5 passed, 1 skipped; new tests: 1 proved, 1 cannot fail, 3 not judged, 1 without evidence',
  )
  expect(runText(RED)).toBe('2 failed, 3 passed')
  expect(runText({ ...RED, failed: 0, not_loaded: 1 })).toBe('1 not built or loaded, 3 passed')
  // Old tests of a changed file and subtests are not new tests.
  expect(runText({ ...PROVED, inverted: { ...NONE, proved: 6, new_proved: 3, new_survived: 0 } })).toBe(
    '5 passed, 1 skipped; new tests: 3 proved',
  )
})

test('[REQ-TWINS-15] task show and its timeline name the grade of the newest run of the tests', () => {
  const events = [requested([RED]), requested([PROVED, { name: 'coverage', grade: 'observed' }]), requested([])]
  expect(formatNewestTests(events)).toBe('proved: 5 passed, 1 skipped; new tests: 2 proved')
  expect(formatNewestTests([])).toBe('')
  const task = {
    ...{ id: 'one', title: 'One', status: 'active', description: '', completed_phases: [], contract: { hash: '' } },
    ...{
      alerts: [],
      reviewers_wanted: [],
      pending_approval: null,
      pending_consensus: null,
      depends_on: [],
      requires: [],
    },
  }
  expect(showTask(task as unknown as TaskDetails, { events, reviews: [] }, 30)).toMatch(/^ {2}Tests +proved: 5 passed/m)
  expect(formatEventLine(events[1]!)).toContain('-> REVIEW · tests proved · coverage observed')
})
