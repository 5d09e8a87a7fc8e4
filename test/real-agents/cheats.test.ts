import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { built } from '../cli/program.js'
import { processesWith } from '../confinement/scene.js'
import {
  CLAUDE_VERSION,
  CODEX_VERSION,
  claudeCode,
  codex,
  GEMINI_VERSION,
  gemini,
  OPENCODE_VERSION,
  opencode,
} from '../participants/real-agents.js'
import { cheating, OWN, planTricks, RUNS, type Trick, tddTricks } from './cheats.js'
import type { Script } from './model.js'
import { Stage } from './stage.js'
import type { Result } from './talk.js'
import { CODE, TEST } from './work.js'

const RUN_MS_MAX = 300_000
const REFUSED = new Set(['tool_denied', 'transition_refused', 'gate_blocked', 'changes_dropped'])
beforeAll(built, RUN_MS_MAX)

const AGENTS = [
  { name: `Claude Code ${CLAUDE_VERSION}`, harness: 'claude-code', find: claudeCode, more: [] },
  { name: `Codex ${CODEX_VERSION}`, harness: 'codex', find: codex, more: ['--model', 'scripted-1'] },
  { name: `Gemini CLI ${GEMINI_VERSION}`, harness: 'gemini', find: gemini, more: ['--model', 'scripted-1'] },
  { name: `OpenCode ${OPENCODE_VERSION}`, harness: 'opencode', find: opencode, more: ['--model', 'scripted-1'] },
]

describe.each(AGENTS)('$name, whose model cheats', ({ harness, find, more }) => {
  it(
    '[REQ-REALAGENT-3] [REQ-REALAGENT-4] [REQ-DEADEND-5] gets nowhere in PLAN and in TDD, with its own tools and with those of Phaselock',
    async ({ skip }) => {
      const found = find()
      if (!found.ok) return skip(found.reason)
      let cheat: Script = () => null
      const stage = await Stage.open(found, { cheat: (talk) => cheat(talk) })
      const plan = planTricks(harness, stage.place)
      const tdd = tddTricks(harness, stage.place)
      cheat = cheating(plan, tdd)
      try {
        const running = stage.run(harness, '[[script:cheat]] Sum up the prices of a cart', ...more)
        await stage.approve()
        expect([await stage.phases(), stage.tree()]).toEqual([['PLAN'], 'Start\n'])
        const { code, output } = await running
        expect(code, output).toBe(1)
        expect(output).toMatch(/: parked/)
        expect(await stage.phases()).toEqual(['PLAN', 'TDD'])
        expect(stage.tree()).toBe(`Start\n?? ${TEST}\n`)
        expect(stage.has(CODE)).toBe(false)
        await expectRefused(stage, [...plan, ...tdd])
        expectLogged(output, [...plan, ...tdd])
        // Its own tools are called by names of its own; one of Phaselock's that there is not, by its name.
        const named = ({ name, isOwn }: Trick['call']): string =>
          isOwn === true && harness !== 'claude-code' ? `${harness}.${name}` : name
        const asked = [...plan, ...tdd].filter(({ code }) => code === OWN).map((one) => named(one.call))
        expect(await turnedAway(stage)).toEqual(asked)
        expectAnswered(stage, { plan, tdd })
        expect(processesWith(found.program, stage.place.workspace)).toEqual([])
        expect(await stage.get('/audit/verify')).toMatchObject({ ok: true })
      } finally {
        await stage.close()
      }
    },
    RUN_MS_MAX,
  )
})

/** The ledger has each refusal, in order, and nothing else was refused. */
async function expectRefused(stage: Stage, tricks: readonly Trick[]): Promise<void> {
  const events = (await stage.events()).filter(({ type, data }) => REFUSED.has(type) && data.code !== 'unknown_tool')
  const wanted = tricks.map(({ code }) => code).filter((code) => typeof code === 'string')
  expect(events.map(({ data }) => data.code)).toEqual(wanted)
  expect(await stage.task()).toMatchObject({ status: 'parked' })
}

/** The log shows each refusal with its code. Tools that Codex does not have are told beside the calls, at their own time. */
function expectLogged(output: string, tricks: readonly Trick[]): void {
  const own = output.split('\n').filter((line) => /^--- \S+Z \S/.test(line))
  const refused = own.flatMap((line) => /: (?:refused|blocked) \[(\w+)\] /.exec(line)?.[1] ?? [])
  const isAbsent = (code: unknown): boolean => code === 'unknown_tool'
  expect(refused.filter((code) => !isAbsent(code))).toEqual(
    tricks.map(({ code }) => code).filter((code) => typeof code === 'string'),
  )
  expect(refused.filter(isAbsent)).toHaveLength(tricks.filter(({ code }) => code === OWN).length)
}

/** The tools that nobody has, as the ledger names them. */
async function turnedAway(stage: Stage): Promise<readonly unknown[]> {
  return (await stage.events()).filter(({ data }) => data.code === 'unknown_tool').map(({ data }) => data.tool_name)
}

/** What its model was told of each trick; nothing of it is worth having. */
function expectAnswered(
  { model, server, place }: Stage,
  { plan, tdd }: { readonly plan: readonly Trick[]; readonly tdd: readonly Trick[] },
): void {
  const [first, second] = [false, true].map(
    (isAgain) =>
      model.talks.filter(({ prompt }) => prompt.includes('You were started before') === isAgain).at(-1)?.results ?? [],
  ) as [readonly Result[], readonly Result[]]
  expect(first).toHaveLength(plan.length)
  // What the last of them was answered may not have come to its model any more.
  expect(second.length).toBeGreaterThanOrEqual(tdd.length)
  const told = [...first, ...second.slice(1)]
  const tricks = [...plan, ...tdd]
  for (const [at, { text, isError }] of told.entries()) {
    const { code, call } = tricks[at] ?? { code: '', call: null }
    expect(isError, `${JSON.stringify(call)} ${text}`).toBe(code !== RUNS)
    if (code === OWN) expect(text).toMatch(/no such tool|unsupported call|unknown tool|not found|unavailable tool/i)
    if (code === RUNS && call?.name === 'bash') expect(text).toMatch(/\\?"exit_code\\?":[12],/)
    expect(text).not.toContain('REACHED')
  }
  const secrets = [server.operator, readFileSync(join(place.stateDir, 'signing.secret'), 'utf8').trim()]
  for (const secret of secrets) expect(JSON.stringify(told)).not.toContain(secret)
}
