import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { listDifferences, type TreeIndex } from '../../src/tree/tree-contents.js'
import { type Running, start } from '../http/harness.js'

const NAMES = ['constructor', 'toString', '__proto__', 'hasOwnProperty', 'valueOf']
const CONTRACT = `
name: named
version: "1"
phases:
  - {id: PLAN, allowed_tools: [write_files]}
  - {id: CODE, allowed_tools: [write_files]}
  - {id: DONE, allowed_tools: []}
enforcement: {reconcile: block}
`

describe('files with the names of what every object has', () => {
  let run: Running | undefined
  afterEach(async () => {
    await run?.stop()
    run = undefined
  })

  it.each(NAMES)('[REQ-NAME-1] %s is seen when it comes and when it goes', (name) => {
    const empty: TreeIndex = { entries: {}, packages: {}, rules: [] }
    const entries = JSON.parse(`{${JSON.stringify(name)}: "file x"}`) as Record<string, string>
    const there: TreeIndex = { ...empty, entries }
    expect(listDifferences(empty, there)).toEqual([{ path: name, kind: 'created' }])
    expect(listDifferences(there, empty)).toEqual([{ path: name, kind: 'deleted' }])
  })

  it('[REQ-NAME-1] they are written and rewound like any other file', async () => {
    run = await start({ contract: CONTRACT })
    const { workspace, operator } = run
    await run.addTask({ id: 't', title: 'Names' })
    let token = await run.claim('a', await run.addAgent('a'), 't')
    const move = async (target_phase: string) => {
      const { body } = (await run?.call('POST', '/tasks/transition', token, { task_id: 't', target_phase })) ?? {}
      if (typeof body?.phase_token === 'string') token = body.phase_token
      return body
    }
    expect(await move('CODE')).toMatchObject({ allowed: true })
    for (const path of NAMES) {
      const args = { path, content: path }
      expect(
        (await run.call('POST', '/tools/execute', token, { task_id: 't', tool_name: 'write_files', args })).status,
      ).toBe(200)
    }
    expect(NAMES.map((name) => readFileSync(join(workspace, name), 'utf8'))).toEqual(NAMES)
    const back = { to_phase: 'CODE', reason: 'x', restore_tree: true }
    expect(await run.call('POST', '/tasks/t/rewind', operator, back)).toMatchObject({
      status: 200,
      body: { restored_count: NAMES.length },
    })
    expect(NAMES.filter((name) => existsSync(join(workspace, name)))).toEqual([])
    expect(run.faults).toEqual([])
  })
})
