import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Answer, type Running, start } from './harness.js'

const CONTRACT = `
name: live
version: "1"
phases:
  - id: CODE
    allowed_tools: [read_files, write_files, edit_files, bash]
  - id: CHECK
    allowed_tools: [read_files, write_files]
  - {id: DONE, allowed_tools: []}
transitions: [{from: CODE, to: CHECK}, {from: CHECK, to: DONE}]
enforcement: {confinement: best_effort}
`
const NATIVE = { agent_cli: 'claude-code', place: 'project', mode: 'native' }

let run: Running
let agent = ''
beforeEach(async () => {
  run = await start({ contract: CONTRACT, confirm: 'never' })
})
afterEach(() => run.stop())

async function begin(binding: object | undefined): Promise<void> {
  await run.addTask({ id: 'T' })
  const added = await run.call('POST', '/agents', run.operator, { agent_id: 'coder', binding })
  expect(added.status).toBe(201)
  agent = String(added.body.agent_token)
  await run.claim('coder', agent, 'T')
}

const change = (name: string): void => writeFileSync(join(run.workspace, name), `${name}\n`)
const go = (target: string): Promise<Answer> =>
  run.call('POST', '/tasks/transition', agent, { task_id: 'T', target_phase: target })
const hook = (event: string, name: string): Promise<Answer> =>
  run.call('POST', '/hooks/claude-code', agent, {
    ...{ session_id: 's', cwd: run.workspace, hook_event_name: event, tool_use_id: `toolu_${name}` },
    ...{ tool_name: 'Write', tool_input: { file_path: name, content: `${name}\n` }, tool_response: {} },
  })
async function writeNatively(name: string): Promise<void> {
  await hook('PreToolUse', name)
  change(name)
  await hook('PostToolUse', name)
}
const codesOf = ({ body }: Answer) => ((body.blockers ?? []) as { code: string }[]).map(({ code }) => code)
const rowOf = async () =>
  ((await run.call('GET', '/agents', run.operator)).body.agents as { binding: object }[])[0]?.binding

describe('hooks that see nothing', () => {
  it('[REQ-CONNECT-7] close the gate where files changed, also where the phase allows it', async () => {
    await begin(NATIVE)
    change('a.txt')
    const refused = await go('CHECK')
    expect(codesOf(refused)).toEqual(['enforcement_not_live'])
    expect(JSON.stringify(refused.body.blockers)).toMatch(/a\.txt.*no call of agent coder.*phaselock accept T/)
    expect((await run.call('GET', '/tasks/T', run.operator)).body.phase).toBe('CODE')
  })

  it('[REQ-CONNECT-7] in a later phase as well, and an operator can accept what changed', async () => {
    await begin(NATIVE)
    await writeNatively('a.txt')
    expect((await go('CHECK')).body.allowed).toBe(true)
    change('b.txt')
    expect(codesOf(await go('DONE'))).toEqual(['enforcement_not_live'])
    await run.call('POST', '/tasks/T/tree/accept', run.operator, { reason: 'I did it' })
    expect(codesOf(await go('DONE'))).toEqual([])
  })

  it('[REQ-CONNECT-7] are not asked for where nothing changed, or Phaselock’s own tools made the change', async () => {
    await begin(NATIVE)
    await run.call('POST', '/tools/execute', agent, {
      ...{ task_id: 'T', tool_name: 'write_files', args: { path: 'a.txt', content: 'a\n' } },
    })
    expect((await go('CHECK')).body).toMatchObject({ allowed: true })
  })

  it('[REQ-CONNECT-7] are not asked for from an agent whose own tools are off', async () => {
    await begin({ ...NATIVE, mode: 'tools_only' })
    change('a.txt')
    expect(codesOf(await go('CHECK'))).toEqual([])
  })
})

describe('the binding of an agent', () => {
  it('[REQ-CONNECT-8] is refused where it is not one', async () => {
    for (const binding of [{}, 'x', { ...NATIVE, place: 'moon' }, { ...NATIVE, mode: 'none' }, { ...NATIVE, more: 1 }])
      expect(
        (await run.call('POST', '/agents', run.operator, { agent_id: 'coder', binding })).status,
        JSON.stringify(binding),
      ).toBe(400)
    await begin(undefined)
    expect((await run.call('POST', '/agents', agent, { agent_id: 'x', binding: NATIVE })).status).toBe(403)
  })

  it('[REQ-CONNECT-8] is in the ledger and shown with what it holds', async () => {
    await begin({ ...NATIVE, mode: 'tools_only' })
    expect(await rowOf()).toMatchObject({ kind: 'project', mode: 'tools_only', agent_cli: 'claude-code' })
    await run.call('POST', '/agents', run.operator, { agent_id: 'coder', binding: { ...NATIVE, place: 'managed' } })
    expect(await rowOf()).toMatchObject({
      kind: 'managed',
      mode: 'native',
      holds: expect.stringMatching(/cannot change/),
    })
    await run.call('POST', '/agents', run.operator, { agent_id: 'coder', binding: { ...NATIVE, place: 'session' } })
    expect(await rowOf()).toMatchObject({ kind: 'native', holds: expect.stringMatching(/Hooks ask/) })
  })
})
