import { afterEach, describe, expect, it } from 'vitest'
import { PLAN } from '../e2e/walker.js'
import type { Script } from '../real-agents/model.js'
import type { Talk } from '../real-agents/talk.js'
import { CODE, CODE_TEXT, go, honest, isPending, waitsForPeople } from '../real-agents/work.js'
import { Desk } from './desk.js'
import { OTHER_CLIS } from './other-sessions.js'
import { sleep, until, type Window } from './terminal.js'
import { findReason, nameGroup } from './tried-cli.js'

const RUN_MS_MAX = 400_000
const APPROVE = /phaselock approve (apr-\S+)\b/

/** The honest model, which makes the call that waits for a person once more. */
const patient: Script = (talk) => {
  if (waitsForPeople(talk)) return go('TDD', { plan_document: PLAN })
  return honest({ ...talk, step: talk.step - countWaits(talk), results: [] })
}

function countWaits({ results }: Talk): number {
  return results.filter(isPending).length
}

let desk: Desk | null = null
afterEach(() => {
  desk?.close()
  desk = null
})

for (const cli of OTHER_CLIS) {
  const { name, command, found, rules, tool, leave, running } = cli
  const reason = findReason(found)
  describe.skipIf(reason !== null)(nameGroup(`phaselock ${name} (${cli.title})`, reason), () => {
    async function open(script: Script): Promise<{ desk: Desk; window: Window }> {
      desk = await Desk.open(found.ok ? [found.program] : [], { script })
      return { desk, window: desk.window() }
    }

    it(
      '[REQ-LAUNCH-1] [REQ-LAUNCH-4] [REQ-LAUNCH-20] one command goes from a fresh repository to a committed task; the call that waits returns by itself',
      async () => {
        const { desk, window } = await open(patient)
        await window.enter(command('"[[script:script]] Sum up the prices of a cart"'))
        const approval = await desk.approval()
        // The first call says who has to decide; the second one waits.
        const countAll = (): number => Math.max(0, ...desk.model.talks.map(countWaits))
        await until(countAll, (count) => count > 0)
        await sleep(5000)
        expect(countAll()).toBe(1)
        expect(desk.phaselock('approve', approval, '--yes')).toContain('is approved')
        const task = await desk.taskId()
        await desk.reaches(task, 'completed')
        await window.enter(leave)
        await window.shows(/is completed\./)
        expect(await desk.events(task, 'approval_decided')).toMatchObject([{ decision: 'approve', channel: 'cli' }])
        expect(desk.read(CODE)).toBe(CODE_TEXT)
        expect(desk.git('log', '-1', '--format=%s').trim()).toBe('Sum up prices')
        // Nothing was written into the repository, nothing stays behind, and its settings were not followed.
        expect(desk.git('status', '--porcelain', '--ignored')).toBe('')
        expect([desk.leftOver(), desk.ranPlanted]).toEqual([[], false])
        for (const rule of rules) expect(desk.model.sent.join('\n')).toContain(rule)
        expect(desk.model.sent.join('\n')).toContain('tell the person what waits')
        const told = desk.model.talks.flatMap(({ results }) => results).find(({ text }) => APPROVE.test(text))
        expect(told?.text).toContain(approval)
        const tools = desk.model.talks.flatMap((talk) => talk.tools)
        expect(tools.filter((each) => !tool.test(each))).toEqual([])
      },
      RUN_MS_MAX,
    )

    it(
      '[REQ-LAUNCH-6] a killed CLI and a killed command are both taken up again; an open session keeps its task',
      async () => {
        const { desk, window } = await open(patient)
        await window.enter(command('"[[script:script]] Sum up the prices of a cart"'))
        await desk.approval()
        const task = await desk.taskId()
        const other = desk.window()
        await other.enter(command(`--task ${task}`))
        await other.shows(/is open in another terminal/)
        desk.kill(running)
        await window.shows(/is not completed: it is in PLAN and waits for your approval/)
        expect(desk.leftOver()).toEqual([])
        const talks = desk.model.talks.length
        await window.enter(`clear; ${command(`--task ${task}`)}`)
        await until(
          () => desk.model.talks.length,
          (length) => length > talks + 2,
        )
        const before = (await desk.get(`/tasks/${task}`)).agent_id
        desk.kill(`phaselock ${name} --task ${task}`)
        desk.kill(running)
        await other.enter(`clear; ${command(`--task ${task}`)}`)
        expect(desk.phaselock('approve', await desk.approval(), '--yes')).toContain('is approved')
        await desk.reaches(task, 'completed')
        expect((await desk.events(task, 'task_claimed')).at(-1)).toMatchObject({ agent_id: before })
        await other.enter(leave)
        await other.shows(/is completed\./)
        expect(desk.leftOver()).toEqual([])
      },
      RUN_MS_MAX,
    )
  })
}
