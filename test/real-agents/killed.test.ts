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
import type { Script } from './model.js'
import { type Body, Stage, until } from './stage.js'
import type { Talk } from './talk.js'
import { CODE, honest, TEST } from './work.js'

const RUN_MS_MAX = 300_000
beforeAll(built, RUN_MS_MAX)

const AGENTS = [
  { name: `Claude Code ${CLAUDE_VERSION}`, harness: 'claude-code', find: claudeCode, more: [] },
  { name: `Codex ${CODEX_VERSION}`, harness: 'codex', find: codex, more: ['--model', 'scripted-1'] },
  { name: `Gemini CLI ${GEMINI_VERSION}`, harness: 'gemini', find: gemini, more: ['--model', 'scripted-1'] },
  { name: `OpenCode ${OPENCODE_VERSION}`, harness: 'opencode', find: opencode, more: ['--model', 'scripted-1'] },
]

/** The honest model, which keeps silent once the agent was told that it is in IMPL, until it is let on. */
function silentInImpl(): { readonly script: Script; readonly isSilent: () => boolean; letOn(): void } {
  let isSilent = false
  let letOn = (): void => undefined
  const opened = new Promise<void>((resolve) => {
    letOn = resolve
  })
  // Gemini CLI sends results within other JSON.
  const isThere = ({ results }: Talk): boolean => /\\?"phase\\?":\\?"IMPL\\?"/.test(results.at(-1)?.text ?? '')
  return {
    isSilent: () => isSilent,
    letOn: () => letOn(),
    script: async (talk) => {
      if (isThere(talk)) {
        isSilent = true
        await opened
      }
      return honest(talk)
    },
  }
}

describe.each(AGENTS)('$name, whose server is killed', ({ harness, find, more }) => {
  it(
    '[REQ-REALAGENT-5] is gone with it and writes nothing; started again by the next server it goes on from its phase',
    async ({ skip }) => {
      const found = find()
      if (!found.ok) return skip(found.reason)
      const silent = silentInImpl()
      const stage = await Stage.open(found, { honest: silent.script })
      try {
        const running = stage.run(harness, '[[script:honest]] Sum up the prices of a cart', ...more)
        await stage.approve()
        await until(silent.isSilent, (isSo) => isSo)
        const before = await stage.events()
        const tree = stage.tree()
        expect([tree, await stage.phases()]).toEqual([`Start\n?? ${TEST}\n`, ['PLAN', 'TDD', 'IMPL']])
        expect(processesWith(found.program, stage.place.workspace)).not.toEqual([])
        await stage.server.kill()
        await until(
          () => processesWith(found.program, stage.place.workspace),
          (all) => all.length === 0,
        )
        // What its model says now reaches nobody.
        silent.letOn()
        expect([stage.tree(), stage.has(CODE)]).toEqual([tree, false])
        const talks = stage.model.talks.length

        await stage.restart()
        const { agents } = await until(
          () => stage.get('/agents'),
          (one) => (one.agents as { spawn: Body }[])[0]?.spawn.state === 'ended',
        )
        // Whoever started it from the command line has waited, and is told of the end.
        expect(await running).toMatchObject({ code: 0, output: expect.stringContaining('The connection is lost') })
        expect(agents).toMatchObject([{ spawn: { outcome: 'completed', lost: { cause: 'server_killed' } } }])
        expect(stage.model.talks[talks]).toMatchObject({ phase: 'IMPL', step: 0 })
        expect(await stage.phases()).toEqual(['PLAN', 'TDD', 'IMPL', 'REVIEW', 'COMPLETE'])
        expect(stage.tree()).toBe('Sum up prices\nStart\n')
        // Nothing that was answered is gone, and nothing of it was changed.
        const after = await stage.events()
        expect(after.slice(0, before.length)).toEqual(before)
        expect(await stage.get('/audit/verify')).toMatchObject({ ok: true })
      } finally {
        await stage.close()
      }
    },
    RUN_MS_MAX,
  )
})
