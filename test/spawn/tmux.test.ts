import { spawnSync } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { processesWith } from '../confinement/scene.js'
import { contractWith, openStage, type Stage, until } from './stage.js'

const RUN_MS_MAX = 300_000
const isThere = spawnSync('tmux', ['-V']).status === 0
let stage: Stage
afterEach(async () => {
  expect(stage.server.faults).toEqual([])
  await stage.stop()
})

const screenOf = async (agentId: string): Promise<string> =>
  String((await stage.server.call('GET', `/agents/${agentId}/screen`, stage.server.operator)).body.screen ?? '')

describe('an agent with a window', () => {
  it.skipIf(!isThere)(
    '[REQ-SPAWN-19] is shown in a tmux of its own without its token, can be attached to for looking, and the window goes with it',
    async () => {
      stage = await openStage(contractWith())
      const mark = 'window-1193'
      const { agentId } = await stage.spawn(['say:hello-window', 'saytoken', 'claim', 'beat', mark], {
        adapter: 'tmux',
      })
      const screen = await until(
        () => screenOf(agentId),
        (text) => text.includes('claim 200'),
      )
      expect(screen).toContain('hello-window')
      expect(screen).not.toContain('eyJ')
      const { window } = await stage.show(agentId)
      const { socket, session } = window as { socket: string; session: string }
      expect(socket).toBe(join(stage.server.stateDir, 'tmux.sock'))
      const hasSession = () => spawnSync('tmux', ['-S', socket, 'has-session', '-t', `=${session}`]).status === 0
      expect(hasSession()).toBe(true)
      await stage.server.call('POST', `/agents/${agentId}/stop`, stage.server.operator, {})
      expect(processesWith(mark)).toEqual([])
      expect(hasSession()).toBe(false)
      expect((await stage.server.call('GET', `/agents/${agentId}/screen`, stage.server.operator)).body.code).toBe(
        'conflict',
      )
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-SPAWN-20] is refused in plain words where there is no tmux, and one without a window has no screen',
    async () => {
      const bin = realpathSync(mkdtempSync(join(tmpdir(), 'phaselock-bin-')))
      symlinkSync(process.execPath, join(bin, 'node'))
      stage = await openStage(contractWith(), { environment: { PATH: bin } })
      const program = { harness: 'command', command: 'node', args: [stage.agent, 'claim', 'beat'] }
      const task = { task: { title: 'x' } }
      const ask = { ...program, ...task, adapter: 'tmux' }
      const refused = await stage.server.call('POST', '/agents/spawn', stage.server.operator, ask)
      expect(refused.body).toMatchObject({ code: 'agent_unavailable', detail: expect.stringContaining('Install tmux') })
      const { agentId } = await stage.spawn(['claim', 'beat'])
      expect((await stage.server.call('GET', `/agents/${agentId}/screen`, stage.server.operator)).body.code).toBe(
        'conflict',
      )
      rmSync(bin, { recursive: true, force: true })
    },
    RUN_MS_MAX,
  )
})
