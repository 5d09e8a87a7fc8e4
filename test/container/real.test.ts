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
const hasPodman = spawnSync('podman', ['info'], { stdio: 'ignore' }).status === 0
const reason = findReason()
function findReason(): string | null {
  if (!hasPodman) return 'Podman does not run here'
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

describe(`a real container${reason === null ? '' : ` (skipped: ${reason})`}`, () => {
  it.skipIf(reason !== null)(
    '[REQ-CONTAINER-4] the server in it takes a task from an agent CLI on the host to its commit',
    async () => {
      desk = await Desk.open(found.ok ? [found.program] : [], { honest })
      const window = desk.window()
      const settings = ['CONTAINERS_CONF', 'PHASELOCK_CONTAINER_BASE']
        .map((name) => `${name}=${process.env[name] ?? ''}`)
        .join(' ')
      await window.enter(
        `${settings} phaselock up --container --engine podman --port 0 > up.log 2>&1; rm up.log; echo U"P"`,
      )
      await window.shows(/UP$/m)
      expect(desk.phaselock('up')).toMatch(/already runs .*container phaselock-carts-/)
      await window.enter('phaselock claude "[[script:honest]] Sum up the prices of a cart"')
      await window.shows(/may claude-\w+ go from PLAN to TDD/)
      await answerForm(window, 'approve')
      await window.shows(/Done\./)
      await desk.reaches(await desk.taskId(), 'completed')
      await window.enter('/exit')
      expect(desk.read(CODE)).toBe(CODE_TEXT)
      expect(desk.git('log', '-1', '--format=%s').trim()).toBe('Sum up prices')
      const [, volume = ''] = /podman volume rm (\S+)/.exec(desk.phaselock('down')) ?? []
      expect(spawnSync('podman', ['volume', 'rm', volume]).status).toBe(0)
    },
    RUN_MS_MAX,
  )
})
