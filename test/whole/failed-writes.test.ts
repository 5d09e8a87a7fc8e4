import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { type Running, start } from '../http/harness.js'
import { CONTRACT } from './operations.js'

describe('a file that the system does not let go', () => {
  let run: Running
  let mounted = ''
  afterEach(async () => {
    if (mounted !== '') spawnSync('umount', [mounted])
    await run.stop()
  })

  it('[REQ-WHOLE-7] fails the call: nothing is changed, and its event names no change', async (context) => {
    run = await start({ contract: CONTRACT })
    const at = (name: string) => join(run.workspace, name)
    for (const name of ['a', 'held', 'other']) writeFileSync(at(name), `${name}\n`)
    await run.addTask({ id: 't' })
    let token = await run.claim('agent', await run.addAgent('agent'), 't')
    const moved = await run.call('POST', '/tasks/transition', token, { task_id: 't', target_phase: 'WORK' })
    token = String(moved.body.phase_token)
    // Nothing can be renamed over a file that is mounted.
    if (spawnSync('mount', ['--bind', at('other'), at('held')]).status !== 0) return context.skip('no right to mount')
    mounted = at('held')
    const files = ['a', 'held'].map((path) => ({ path, content: 'new\n' }))
    const args = { task_id: 't', tool_name: 'write_files', args: { files } }
    expect(await run.call('POST', '/tools/execute', token, args)).toMatchObject({ status: 400 })
    spawnSync('umount', [mounted])
    mounted = ''
    expect(['a', 'held'].map((name) => readFileSync(at(name), 'utf8'))).toEqual(['a\n', 'held\n'])
    expect(readdirSync(run.workspace).filter((name) => name.includes('.phaselock-'))).toEqual([])
    const query = '/audit/query?type=tool_finished&tool_name=write_files'
    const { body } = await run.call('GET', query, run.operator)
    expect(body.events).toMatchObject([{ data: { success: false, change_count: 0 } }])
    expect(JSON.stringify(body.events)).not.toContain('tree_change')
    const revert = await run.call('POST', '/tasks/t/tree/revert', run.operator, { reason: 'nothing differs' })
    expect(revert.body.detail).toBe('Nothing in the work tree changed without an allowed call.')
    const again = { ...args, args: { files: [{ path: 'a', content: 'new\n' }] } }
    expect(await run.call('POST', '/tools/execute', token, again)).toMatchObject({ status: 200 })
  })
})
