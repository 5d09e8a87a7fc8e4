import { spawnSync } from 'node:child_process'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { built } from '../cli/program.js'
import { answerForm } from '../launch/claude-session.js'
import { Desk } from '../launch/desk.js'
import { hasTmux } from '../launch/terminal.js'
import { claudeCode } from '../participants/real-agents.js'
import { CODE, CODE_TEXT, honest } from '../real-agents/work.js'

const RUN_MS_MAX = 600_000
const base = process.env.PHASELOCK_CONTAINER_BASE ?? ''
const found = claudeCode()
/** Handed on to the person's shell, which has an environment of its own. */
const SETTINGS = ['CONTAINERS_CONF', 'DOCKER_HOST', 'PHASELOCK_CONTAINER_BASE']

function findReason(engine: string): string | null {
  if (spawnSync(engine, ['info'], { stdio: 'ignore' }).status !== 0) return `${engine} does not run here`
  if (base === '') return 'PHASELOCK_CONTAINER_BASE names no base image that can be had without a registry'
  if (!found.ok) return found.reason
  return hasTmux ? null : 'tmux is not installed'
}
let desk: Desk | null = null
beforeAll(built, 200_000)
afterEach(() => {
  desk?.close()
  desk = null
})

describe.each(['docker', 'podman'])('a real container of %s', (engine) => {
  const reason = findReason(engine)
  it.skipIf(reason !== null)(
    `[REQ-CONTAINER-4] the server in it takes a task from an agent CLI on the host to its commit${reason === null ? '' : ` (skipped: ${reason})`}`,
    async () => {
      desk = await Desk.open(found.ok ? [found.program] : [], { honest })
      const window = desk.window()
      for (const name of SETTINGS)
        if (process.env[name] !== undefined) await window.enter(`export ${name}=${process.env[name]}`)
      await window.enter(`phaselock up --container --engine ${engine} --port 0 > up.log 2>&1; rm up.log; echo U"P"`)
      await window.shows(/UP$/m)
      await window.enter('clear; phaselock up')
      await window.shows(/already runs .*container phaselock-carts-/)
      await window.enter('phaselock claude "[[script:honest]] Sum up the prices of a cart"')
      await window.shows(/May the agent go from PLAN to TDD/)
      await answerForm(window, 'approve')
      await window.shows(/Done\./)
      await desk.reaches(await desk.taskId(), 'completed')
      await window.enter('/exit')
      await window.shows(/is completed\./)
      expect(desk.read(CODE)).toBe(CODE_TEXT)
      expect(desk.git('log', '-1', '--format=%s').trim()).toBe('Sum up prices')
      await window.enter('clear; phaselock down')
      const [, volume = ''] = /volume rm (\S+)/.exec(await window.shows(/volume rm phaselock-carts-/)) ?? []
      expect(spawnSync(engine, ['volume', 'rm', volume]).status).toBe(0)
    },
    RUN_MS_MAX,
  )
})
