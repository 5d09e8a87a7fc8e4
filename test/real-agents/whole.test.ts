import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { built } from '../cli/program.js'
import { git } from '../e2e/projects.js'
import { CLAUDE_VERSION, CODEX_VERSION, claudeCode, codex } from '../participants/real-agents.js'
import { type Body, KEY, Stage, until } from './stage.js'
import { USAGE } from './talk.js'
import { CODE, CODE_TEXT, honest, TEST, TEST_TEXT } from './work.js'

const RUN_MS_MAX = 180_000
const PHASES = ['PLAN', 'TDD', 'IMPL', 'REVIEW', 'COMPLETE']
beforeAll(built, RUN_MS_MAX)

const AGENTS = [
  { name: `Claude Code ${CLAUDE_VERSION}`, harness: 'claude-code', find: claudeCode, more: [], others: [], writes: 3 },
  {
    ...{ name: `Codex ${CODEX_VERSION}`, harness: 'codex', find: codex, more: ['--model', 'scripted-1'] },
    // They lead to what Phaselock has to read, and to nobody.
    others: ['list_mcp_resources', 'list_mcp_resource_templates', 'read_mcp_resource', 'request_user_input'],
    // It does not tell what it wrote into the cache.
    writes: 0,
  },
]

describe.each(AGENTS)('$name, started by phaselock run', ({ harness, find, more, others, writes }) => {
  it(
    '[REQ-REALAGENT-1] [REQ-REALAGENT-2] goes through the five phases with the tools of Phaselock alone, up to the commit',
    async ({ skip }) => {
      const found = find()
      if (!found.ok) return skip(found.reason)
      const stage = await Stage.open(found, { honest })
      try {
        const running = stage.run(harness, '[[script:honest]] Sum up the prices of a cart', ...more)
        await stage.approve()
        const { code, output } = await running
        expect(code, output).toBe(0)
        await expectWork(stage)
        await expectLedger(stage)
        const { tools } = stage.model.talks[0] ?? { tools: [] }
        expect(tools.filter((name) => /request_transition$/.test(name))).toHaveLength(1)
        expect(tools.filter((name) => !name.startsWith('mcp__phaselock__'))).toEqual(others)
        // The key was added on the way: the agent has none.
        expect([...stage.model.keys]).toEqual([KEY])
        await expectUsage(stage, { ...USAGE, cacheWrite: writes })
      } finally {
        await stage.close()
      }
    },
    RUN_MS_MAX,
  )
})

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
  const observed = entered.map(({ data }) => (data.artifacts as Body[]).filter(({ grade }) => grade === 'observed'))
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

/** Every answer of the model is counted, also the one after the task was completed. */
async function expectUsage(stage: Stage, each: typeof USAGE): Promise<void> {
  const { id } = await stage.task()
  const answers = stage.model.talks.length
  const wanted = {
    ...{ input: each.input * answers, output: each.output * answers },
    ...{ cache_read: each.cacheRead * answers, cache_write: each.cacheWrite * answers },
    grade: 'observed',
  }
  const totals = async (): Promise<Body> => (await stage.get(`/tasks/${id}/metrics`)).totals as Body
  const { tokens } = await until(totals, (one) => JSON.stringify(one.tokens) === JSON.stringify(wanted))
  expect(tokens).toEqual(wanted)
}
