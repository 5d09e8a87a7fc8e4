import { afterEach, describe, expect, it } from 'vitest'
import { ADD, CODE, makeScene } from './baselining.js'

const COVERAGE = 'node --test --experimental-test-coverage --test-reporter=lcov tests/'

const contractOf = (more: { tests?: string; coverage?: string; evidence?: string; checks?: string } = {}): string => `
name: covered
version: "1"
phases:
  - id: TDD
    allowed_tools: [write_files]
    gates: [{id: red, type: validation, blockers: [{check: tests_are_failing, message: RED}]}]
  - id: IMPL
    allowed_tools: [write_files]
${more.evidence ?? ''}
    gates:
      - id: green
        type: validation
        blockers: [${more.checks ?? '{check: coverage_threshold_met, threshold: 60, message: COVERAGE}'}]
  - {id: DONE, allowed_tools: []}
commands:
  tests: {run: node --test tests/, format: node, timeout_seconds: 60}
  coverage: {run: ${JSON.stringify(more.coverage ?? COVERAGE)}, format: lcov, timeout_seconds: 60}
${more.tests === undefined ? '' : `tests: ${more.tests}`}
enforcement: {denial_budget: 1000}
`

describe('coverage of a tree in which a test failed before the task', () => {
  const { scene, begin, write, told } = makeScene()
  afterEach(() => scene.run.stop())
  const inImpl = async (contract: string) => {
    await begin(contract)
    await write('tests/add.test.mjs', ADD)
    expect((await told('IMPL')).blockers).toBe('')
  }

  it('[REQ-BASELINE-9] is not refused for it, but for a test that the task broke or left failing', async () => {
    await inImpl(contractOf())
    expect((await told('DONE')).blockers).toContain('ended with exit code 1')
    await write('src/add.mjs', CODE)
    await write('src/old.mjs', 'export const old = () => 3\n')
    expect((await told('DONE')).blockers).toContain('ended with exit code 1')
    await write('src/old.mjs', 'export const old = () => 1\n')
    expect(await told('DONE')).toMatchObject({ blockers: '', warnings: expect.stringContaining('old is broken') })
  })

  it('[REQ-BASELINE-9] is still too low where it is, and evidence has its value', async () => {
    const low = `${COVERAGE} > /dev/null; code=$?; printf "SF:a\\\\nDA:1,1\\\\nDA:2,0\\\\nend_of_record\\\\n"; exit $code`
    const evidence = '    checkpoint: {evidence: {coverage: {type: number, grade: observed, min: 10}}}'
    await inImpl(contractOf({ coverage: low, evidence }))
    await write('src/add.mjs', CODE)
    expect((await told('DONE')).blockers).toBe('COVERAGE: 50 % of the lines, 60 % asked for')
  })

  it('[REQ-BASELINE-9] is refused for it with `baseline: forbid`', async () => {
    await inImpl(contractOf({ tests: '{baseline: forbid}' }))
    await write('src/add.mjs', CODE)
    expect((await told('DONE')).blockers).toContain('ended with exit code 1')
  })
})
