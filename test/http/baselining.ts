import { expect } from 'vitest'
import { type Files, put } from '../forgery/task-stage.js'
import { type Running, start } from './harness.js'

export const HEAD = "import assert from 'node:assert/strict'\nimport { test } from 'node:test'\n"
/** One test that passes when work begins, and one that fails. */
export const OLD = `${HEAD}import { old } from '../src/old.mjs'
test('old works', () => assert.equal(old(), 1))
test('old is broken', () => assert.equal(old(), 2))
`
export const ADD = `${HEAD}test('adds', async () => assert.equal((await import('../src/add.mjs')).add(2, 3), 5))\n`
export const CODE = 'export const add = (a, b) => a + b\n'
export const PROJECT: Files = { 'src/old.mjs': 'export const old = () => 1\n', 'tests/old.test.mjs': OLD }

interface Event {
  readonly type: string
  readonly at: string
  readonly data: Record<string, unknown>
}

/** A server, and the token of the agent that works on its task `t`. */
export interface Scene {
  run: Running
  token: string
}

/** What the agent of a scene does; the scene itself is filled by `begin`. */
export function makeScene() {
  const scene = { token: '' } as Scene
  return {
    scene,
    /** Takes the task on a server with this contract. */
    begin: async (contract: string, files: Files = PROJECT): Promise<void> => {
      scene.run = await start({ contract })
      put(scene.run.workspace, files)
      await scene.run.addTask({ id: 't' })
      scene.token = await scene.run.claim('a', await scene.run.addAgent('a'), 't')
    },
    write: async (path: string, content: string): Promise<void> => {
      const call = { task_id: 't', tool_name: 'write_files', args: { path, content } }
      expect((await scene.run.call('POST', '/tools/execute', scene.token, call)).status).toBe(200)
    },
    /** Asks for a phase; what blocks it and what causes a warning. */
    told: async (target_phase: string): Promise<{ readonly blockers: string; readonly warnings: string }> => {
      const { body } = await scene.run.call('POST', '/tasks/transition', scene.token, { task_id: 't', target_phase })
      if (typeof body.phase_token === 'string') scene.token = body.phase_token
      const words = (list: unknown) => ((list ?? []) as { message: string }[]).map(({ message }) => message).join('\n')
      expect(body.allowed, JSON.stringify(body)).toBeDefined()
      return { blockers: words(body.blockers), warnings: words(body.warnings) }
    },
    baselines: async (task = 't'): Promise<readonly Event[]> => {
      const { body } = await scene.run.call('GET', `/tasks/${task}/timeline`, scene.run.operator)
      return (body.events as Event[]).filter((event) => event.type === 'baseline_recorded')
    },
  }
}
