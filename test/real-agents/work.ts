import type { JsonObject } from '../../src/core/json.js'
import type { Files } from '../e2e/projects.js'
import { implementation, PLAN, testFiles } from '../e2e/walker.js'
import type { Script } from './model.js'
import type { Call, Result, Talk } from './talk.js'

/** A project of two files: small, so that its tests take no time. */
export const PROJECT: Files = {
  'package.json': `${JSON.stringify({
    ...{ name: 'carts', version: '1.0.0', private: true, type: 'module' },
    scripts: { test: 'node --test tests/' },
  })}\n`,
  'src/price.js': 'export const cents = (euros) => euros * 100\n',
  'tests/price.test.js': `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cents } from '../src/price.js'

test('a price in cents', () => assert.equal(cents(2), 200))
`,
}

export const TEST = 'tests/sum.test.js'
export const CODE = 'src/sum.js'
export const TEST_TEXT = `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sum } from '../src/sum.js'

test('prices are summed up', () => assert.equal(sum([5, 7]), 12))
test('an empty cart costs nothing', () => assert.equal(sum([]), 0))
`
export const CODE_TEXT = 'export const sum = (prices) => prices.reduce((all, one) => all + one, 0)\n'
export const WRONG_CODE = 'export const sum = () => 12\n'

export const call = (name: string, input: JsonObject): Call => ({ name, input })
export const own = (name: string, input: JsonObject): Call => ({ name, input, isOwn: true })
export const go = (target: string, artifacts: JsonObject = {}): Call =>
  call('request_transition', { target_phase: target, artifacts })

const REVIEW = { review_report: { reviews: { peer: { status: 'completed' } }, blocking_issues: [] } }
const SUMMARY = { completion_summary: { summary: 'The sum is there', files_changed: [CODE, TEST] } }

/** What is done in each phase. All of it can be done again by a process that does not know that it was done. */
const STEPS: readonly (readonly [string, readonly Call[]])[] = [
  ['PLAN', [call('read_files', { path: 'src/price.js' }), go('TDD', { plan_document: PLAN })]],
  [
    'TDD',
    [call('write_files', { path: TEST, content: TEST_TEXT }), call('run_tests', {}), go('IMPL', testFiles(TEST))],
  ],
  ['IMPL', [call('write_files', { path: CODE, content: CODE_TEXT }), go('REVIEW', implementation(CODE))]],
  ['REVIEW', [call('git_diff', {}), go('COMPLETE', REVIEW)]],
  ['COMPLETE', [call('git_commit', { message: 'Sum up prices' }), go('COMPLETE', SUMMARY)]],
]

/** Goes through all phases from the one that it is started in, and ends where people have to do something. */
export const honest: Script = (talk) => {
  if (waitsForPeople(talk)) return null
  const from = STEPS.findIndex(([phase]) => phase === talk.phase)
  const steps = STEPS.slice(Math.max(0, from)).flatMap(([, calls]) => calls)
  return steps[talk.step] ?? null
}

export function waitsForPeople({ results }: Talk): boolean {
  return isPending(results.at(-1))
}

/** The refusal itself: the prompt of PLAN mentions the code too. */
export function isPending(result: Result | undefined): boolean {
  return /\bcode\W+approval_pending\b|\[approval_pending\]/.test(result?.text ?? '')
}
