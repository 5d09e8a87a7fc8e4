import { afterEach, describe, expect, it } from 'vitest'
import type { Call } from '../real-agents/talk.js'
import { CODE, call } from '../real-agents/work.js'
import { Desk } from './desk.js'
import { OTHER_CLIS } from './other-sessions.js'
import { until } from './terminal.js'
import { findReason, nameGroup } from './tried-cli.js'

const RUN_MS_MAX = 400_000
let desk: Desk
afterEach(() => desk.close())

for (const cli of OTHER_CLIS) {
  const reason = findReason(cli.found)
  describe.skipIf(reason !== null)(nameGroup(`phaselock ${cli.name} (${cli.title})`, reason), () => {
    it(
      '[REQ-LAUNCH-1] its own tools called by name change nothing, nor does a tool of a later phase',
      async () => {
        let calls: readonly Call[] = []
        desk = await Desk.open(cli.found.ok ? [cli.found.program] : [], { script: ({ step }) => calls[step] ?? null })
        calls = [...cli.cheats(desk.repository), call('write_files', { path: CODE, content: 'x' })]
        const window = desk.window()
        await window.enter(cli.lightCommand('"[[script:script]] Sum up the prices of a cart"'))
        const { results } = await until(
          () => desk.model.talks.find(({ step }) => step === calls.length) ?? { results: [] },
          (talk) => talk.results.length === calls.length,
          () => desk.model.answers,
        )
        for (const { text } of results.slice(0, -1)) expect(text).toMatch(/not found|unavailable tool/)
        expect(results.at(-1)?.text).toContain('Refused: write_files [forbidden_tool]')
        const tools = desk.model.talks.flatMap((talk) => talk.tools)
        expect(tools.filter((each) => !cli.tool.test(each))).toEqual([])
        await window.shows(/Done\./)
        await window.enter(cli.leave)
        await window.shows(/is not completed: it is in PLAN\./)
        expect(desk.git('status', '--porcelain', '--ignored')).toBe('')
        expect([desk.leftOver(), desk.ranPlanted]).toEqual([[], false])
      },
      RUN_MS_MAX,
    )
  })
}
