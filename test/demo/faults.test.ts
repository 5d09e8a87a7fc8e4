import { afterEach, beforeAll, expect, it } from 'vitest'
import { built } from '../cli/program.js'
import { type Fault, plant, Room, type Shown, show } from './showing.js'

const SHOWING_MS_MAX = 300_000
let room: Room

beforeAll(built, SHOWING_MS_MAX)
afterEach(() => room?.remove())

async function shownWith(faults: readonly Fault[]): Promise<{ readonly code: number | null; readonly result: Shown }> {
  room = new Room()
  const root = plant(`${room.dir}/product`, faults)
  const { code, stdout, stderr } = await show(room, ['--json'], { root })
  expect(stdout, stderr).not.toBe('')
  return { code, result: JSON.parse(stdout) as Shown }
}

it(
  '[REQ-DEMO-10] a product that offers every tool, takes old tokens and believes reported test results fails the demo',
  async () => {
    const { code, result } = await shownWith([
      { file: 'core/tool-calls/use-tool.js', from: 'if (!isOffered(phase, command.tool))', to: 'if (false)' },
      {
        file: 'core/identity/admit.js',
        from: 'bearer.epoch !== state.epoch || bearer.phase !== state.phase ||',
        to: '',
      },
      {
        file: 'checks/run-check.js',
        from: "['all_tests_pass', checkAllTestsPass]",
        to: "['all_tests_pass', async () => ({ result: 'holds', found: 'so they say', grade: 'observed' })]",
      },
    ])
    const outcomes = Object.fromEntries(result.cheating.attempts.map(({ id, outcome }) => [id, outcome]))
    expect(outcomes, JSON.stringify(result.cheating.attempts)).toMatchObject({
      later_tool: 'doubtful',
      replay_token: 'opened',
      invent_green: 'opened',
      skip_phases: 'refused',
    })
    expect(result.ok).toBe(false)
    expect(code).toBe(1)
    await expect.poll(() => room.leftovers()).toEqual([])
  },
  SHOWING_MS_MAX,
)

it(
  '[REQ-DEMO-10] a ledger that says something else than happened, and an honest agent that gets stuck, fail the demo',
  async () => {
    const { code, result } = await shownWith([
      {
        file: 'threads/writer-worker.cjs',
        from: 'insertEvent.run(seq, stream, version, type, at,',
        to: "insertEvent.run(seq, stream, version, type, type === 'tool_denied' ? at + 1 : at,",
      },
      {
        file: 'checks/run-check.js',
        from: "['all_tests_pass', checkAllTestsPass]",
        to: "['all_tests_pass', async () => ({ result: 'fails', found: 'never', grade: 'observed' })]",
      },
    ])
    expect(result).toMatchObject({
      ok: false,
      honest: { completed: false },
      ledger: { ok: false },
      score: { opened: 0 },
    })
    expect(result.faults).toEqual([expect.stringContaining('The honest agent could not go on')])
    expect(code).toBe(1)
    await expect.poll(() => room.leftovers()).toEqual([])
  },
  SHOWING_MS_MAX,
)

it(
  '[REQ-DEMO-10] a product that runs the tests and never turns them around fails the demo',
  async () => {
    const { code, result } = await shownWith([
      {
        file: 'checks/run-check.js',
        from: "['tests_can_fail', checkTestsCanFail]",
        to: "['tests_can_fail', async () => ({ result: 'holds', found: 'not asked', grade: 'observed' })]",
      },
    ])
    const outcomes = Object.fromEntries(result.cheating.attempts.map(({ id, outcome }) => [id, outcome]))
    expect(outcomes, JSON.stringify(result.cheating.attempts)).toMatchObject({
      invent_green: 'refused',
      forge_report: 'refused',
      hollow_test: 'opened',
    })
    expect(result).toMatchObject({ ok: false, honest: { completed: true }, score: { opened: 1 } })
    expect(code).toBe(1)
    await expect.poll(() => room.leftovers()).toEqual([])
  },
  SHOWING_MS_MAX,
)
