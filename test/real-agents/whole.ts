import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { git } from '../e2e/projects.js'
import type { Found } from '../participants/real-agents.js'
import { type Body, KEY, Stage, until } from './stage.js'
import type { USAGE } from './talk.js'
import { CODE, CODE_TEXT, honest, TEST, TEST_TEXT } from './work.js'

const PHASES = ['PLAN', 'TDD', 'IMPL', 'REVIEW', 'COMPLETE']

export interface Agent {
  readonly name: string
  readonly harness: string
  readonly find: () => Found
  /** For `phaselock run`. */
  readonly more: readonly string[]
  /** The tools that its model is offered besides those of Phaselock. */
  readonly others: readonly string[]
  /** What it tells of each answer of its model. */
  readonly usage: typeof USAGE
}

/** An honest agent, from the first phase to the commit; then everything that can be seen of it is looked at. */
export async function goesThrough(program: string, { harness, more, others, usage }: Agent): Promise<void> {
  const stage = await Stage.open({ ok: true, program }, { honest })
  try {
    const running = stage.run(harness, '[[script:honest]] Sum up the prices of a cart', ...more)
    await stage.approve()
    const { code, output } = await running
    expect(code, output).toBe(0)
    expectLogged(output)
    await expectWork(stage)
    await expectLedger(stage)
    const { tools } = stage.model.talks[0] ?? { tools: [] }
    expect(tools.filter((name) => /request_transition$/.test(name))).toHaveLength(1)
    expect(tools.filter((name) => !/^(mcp__?)?phaselock_/.test(name))).toEqual(others)
    // The key was added on the way: the agent has none.
    expect([...stage.model.keys]).toEqual([KEY])
    await expectUsage(stage, usage)
  } finally {
    await stage.close()
  }
}

/** The log has each call with what came of it, in order, whichever CLI made it. */
function expectLogged(output: string): void {
  const own = output.split('\n').flatMap((line) => /^--- \S+Z (.*)$/.exec(line)?.[1] ?? [])
  const wanted = [
    ...[/^read_files \{"path":"src\/price.js"\}$/, /^read_files: done, \d+ ms$/],
    ...[/^transition to TDD$/, /^transition to TDD: blocked \[\w+\] \S/, /^now in TDD$/],
    ...[/^write_files \{"path":"tests\/sum.test.js",/, /^write_files: done, \d+ ms$/],
    ...[/^run_tests \{\}$/, /^run_tests: done, exit code 1, \d+ ms$/, /^now in IMPL$/],
    ...[/^git_commit \{/, /^git_commit: done, exit code 0, \d+ ms$/, /^transition to COMPLETE$/],
  ]
  let at = 0
  for (const pattern of wanted) {
    const found = own.findIndex((line, index) => index >= at && pattern.test(line))
    expect(found, `${pattern} after line ${at} of\n${own.join('\n')}`).toBeGreaterThanOrEqual(0)
    at = found + 1
  }
}

async function expectWork({ place }: Stage): Promise<void> {
  const text = (path: string): string => readFileSync(join(place.workspace, path), 'utf8')
  expect([text(TEST), text(CODE)]).toEqual([TEST_TEXT, CODE_TEXT])
  expect(git(place.workspace, 'log', '-1', '--format=%s').trim()).toBe('Sum up prices')
  expect(git(place.workspace, 'show', '--name-only', '--format=', 'HEAD').trim().split('\n').sort()).toEqual([
    CODE,
    TEST,
  ])
  expect(git(place.workspace, 'status', '--porcelain')).toBe('')
}

async function expectLedger(stage: Stage): Promise<void> {
  expect(await stage.phases()).toEqual(PHASES)
  expect(await stage.task()).toMatchObject({ status: 'completed' })
  const { agents } = await stage.get('/agents')
  // Ended at the gate, where people had to do something, and started again: that is no crash.
  expect(agents).toMatchObject([
    { spawn: { outcome: 'completed', restarts: 1, lost: { detail: 'it waits for an approval' } } },
  ])
  const entered = (await stage.events()).filter(({ type }) => type === 'phase_entered')
  const observed = entered.map(({ data }) =>
    (data.artifacts as Body[]).filter(({ grade }) => grade === 'observed' || grade === 'proved'),
  )
  expect(observed.map((all) => all.map(({ type }) => type))).toEqual([
    [],
    [],
    ['test_run_result'],
    ['test_run_result'],
    [],
  ])
  expect(await stage.get('/audit/verify')).toMatchObject({ ok: true })
  const verified = await stage.phaselock('audit', 'verify')
  expect(verified.code, verified.output).toBe(0)
}

/** Every answer of the model is counted, titles and the like included, also the one after the task was completed. */
async function expectUsage(stage: Stage, each: typeof USAGE): Promise<void> {
  const { id } = await stage.task()
  const { answers } = stage.model
  const wanted = {
    ...{ input: each.input * answers, output: each.output * answers },
    ...{ cache_read: each.cacheRead * answers, cache_write: each.cacheWrite * answers },
    grade: 'observed',
  }
  const totals = async (): Promise<Body> => (await stage.get(`/tasks/${id}/metrics`)).totals as Body
  const { tokens } = await until(totals, (one) => JSON.stringify(one.tokens) === JSON.stringify(wanted))
  expect(tokens).toEqual(wanted)
}
