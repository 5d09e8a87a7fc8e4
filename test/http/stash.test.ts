import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Answer, type Running, start } from './harness.js'

const contract = `
name: stashed
version: "1"
phases:
  - id: PLAN
    allowed_tools: [write_files]
    tool_constraints: {write_files: {allowed_patterns: ["docs/**"]}}
  - id: CODE
    allowed_tools: [write_files, bash]
    tool_constraints: {write_files: {allowed_patterns: ["src/**", "docs/**"]}}
  - id: DONE
    allowed_tools: []
enforcement: {reconcile: block, reconcile_ignore: ["generated/**"]}
`

describe('a stash', () => {
  let run: Running
  let token = ''
  const at = (path: string) => join(run.workspace, path)
  const text = (path: string) => readFileSync(at(path), 'utf8')
  const execute = async (tool_name: string, args: object): Promise<Answer> => {
    const answer = await run.call('POST', '/tools/execute', token, { task_id: 't', tool_name, args })
    expect(answer).toMatchObject({ status: 200 })
    return answer
  }
  const move = async (target_phase: string): Promise<Answer> => {
    const answer = await run.call('POST', '/tasks/transition', token, { task_id: 't', target_phase })
    if (typeof answer.body.phase_token === 'string') token = answer.body.phase_token
    return answer
  }
  const save = (more: object = {}, who = run.operator, id = 't') =>
    run.call('POST', `/tasks/${id}/stash`, who, { reason: 'something urgent', ...more })
  const act = (what: 'pop' | 'drop', id: string, who = run.operator) =>
    run.call('POST', `/stashes/${id}/${what}`, who, {})
  const list = async () => (await run.call('GET', '/stashes', run.operator)).body.stashes as Record<string, unknown>[]
  const planFile = (id: string) => join(run.stateDir, 'stashes', id, 'plan.json')
  const setStage = (id: string, stage: string) =>
    writeFileSync(planFile(id), JSON.stringify({ ...JSON.parse(readFileSync(planFile(id), 'utf8')), stage }))
  const begun = () => {
    expect([text('src/kept'), text('src/gone'), text('docs/plan')]).toEqual(['kept\n', 'gone\n', 'old plan\n'])
    expect(readlinkSync(at('src/link'))).toBe('kept')
    expect(existsSync(at('src/new')) || existsSync(at('src/deep/new')) || existsSync(at('src/other'))).toBe(false)
  }
  const worked = () => {
    expect([text('src/kept'), text('src/new'), text('src/deep/new'), text('docs/plan')]).toEqual([
      ...['changed\n', '#!/bin/sh\n', 'deep\n', 'plan\n'],
    ])
    expect(existsSync(at('src/gone'))).toBe(false)
    expect(statSync(at('src/new')).mode & 0o777).toBe(0o755)
    expect(readlinkSync(at('src/other'))).toBe('deep/new')
    expect(lstatSync(at('src/link')).isFile()).toBe(true)
  }
  const work = async () => {
    await execute('write_files', { path: 'docs/plan', content: 'plan\n' })
    await move('CODE')
    await execute('write_files', { path: 'src/kept', content: 'changed\n' })
    await execute('bash', {
      command: `rm src/gone; mkdir src/deep; echo deep > src/deep/new; printf '#!/bin/sh\\n' > src/new
        chmod 755 src/new; ln -s deep/new src/other; rm src/link; echo file > src/link`,
    })
    worked()
  }

  beforeEach(async () => {
    run = await start({ contract })
    for (const folder of ['src', 'docs', 'generated']) mkdirSync(at(folder))
    for (const [path, content] of [
      ['src/kept', 'kept\n'],
      ['src/gone', 'gone\n'],
      ['docs/plan', 'old plan\n'],
      ['README', 'readme\n'],
    ] as const)
      writeFileSync(at(path), content)
    symlinkSync('kept', at('src/link'))
    await run.addTask({ id: 't', title: 'First' })
    token = await run.claim('a', await run.addAgent('a'), 't')
  })
  afterEach(async () => {
    expect(run.faults).toEqual([])
    await run.stop()
  })

  it('[REQ-STASH-1] agents, strangers and unknown ids are refused, and an agent’s attempt is recorded', async () => {
    await work()
    for (const answer of [
      await save({}, token),
      await act('pop', 'st-000000000000', token),
      await act('drop', 'st-000000000000', token),
    ])
      expect(answer).toMatchObject({ status: 403, body: { code: 'not_permitted' } })
    expect(await run.call('GET', '/stashes', token)).toMatchObject({ status: 403 })
    expect((await run.call('GET', '/audit/query?code=not_permitted', run.operator)).body.events).toMatchObject(
      Array.from({ length: 4 }, () => ({ type: 'request_refused' })),
    )
    expect(await save({}, run.operator, 'nobody')).toMatchObject({ status: 404, body: { code: 'not_found' } })
    for (const id of ['st-000000000000', '..', '%2e%2e%2f%2e%2e', 'st-0', 'st-00000000000/'])
      expect((await act('pop', id)).status).toBe(404)
    expect(await save({ reason: '' })).toMatchObject({ status: 400 })
    expect(await save({ name: '\u001b[2Jhidden' })).toMatchObject({ status: 400 })
    expect(await save({ name: 'x'.repeat(101) })).toMatchObject({ status: 400 })
    expect(await list()).toEqual([])
    worked()
  })

  it('[REQ-STASH-2] only a task that somebody works on can be put aside, and only once', async () => {
    await run.addTask({ id: 'fresh' })
    expect(await save({}, run.operator, 'fresh')).toMatchObject({
      status: 409,
      body: { detail: 'Work on task fresh has not started.' },
    })
    await work()
    expect(await save()).toMatchObject({ status: 201 })
    expect(await save()).toMatchObject({ status: 409, body: { detail: expect.stringContaining('already') } })
    await run.call('POST', '/tasks/t/cancel', run.operator, { reason: 'no' })
    expect(await save()).toMatchObject({ status: 409, body: { code: 'task_not_active' } })
    const [stash] = await list()
    expect(stash).toMatchObject({ status: 'lost', task_status: 'cancelled' })
    expect(await act('pop', String(stash?.id))).toMatchObject({ status: 409 })
    expect(await act('drop', String(stash?.id))).toMatchObject({ status: 200, body: { status: 'dropped' } })
    expect(await list()).toEqual([])
  })

  it('[REQ-STASH-3] the tree is put back, and pop brings everything back exactly', async () => {
    await work()
    writeFileSync(at('generated/x'), 'x')
    const saved = await save({ name: 'the parser' })
    expect(saved).toMatchObject({
      status: 201,
      body: { name: 'the parser', status: 'saved', task_status: 'parked', path_count: 7, warnings: [], phase: 'CODE' },
    })
    begun()
    expect(text('generated/x')).toBe('x')
    expect((await run.call('GET', '/tasks/t', run.operator)).body).toMatchObject({
      ...{ status: 'parked', stash: saved.body.id, parked_reason: 'stashed: something urgent' },
    })
    expect(
      (await run.call('POST', '/tools/execute', token, { task_id: 't', tool_name: 'bash', args: { command: 'ls' } }))
        .status,
    ).toBe(409)
    const popped = await act('pop', String(saved.body.id))
    expect(popped).toMatchObject({ status: 200, body: { id: 't', status: 'active', stash: null, restored_count: 7 } })
    worked()
    expect(await list()).toEqual([])
    expect(readdirSync(join(run.stateDir, 'stashes'))).toEqual([])
    // The agent goes on with the token it had, and nothing in the tree is unexplained.
    await execute('write_files', { path: 'src/more', content: 'more' })
    expect(await move('DONE')).toMatchObject({ body: { allowed: true } })
  })

  it('[REQ-STASH-4] a task whose work is put aside goes on by pop and by nothing else', async () => {
    await work()
    const id = String((await save()).body.id)
    for (const [what, body] of [
      ['resume', {}],
      ['rewind', { to_phase: 'PLAN' }],
      ['rewind', { to_phase: 'PLAN', restore_tree: true }],
      ['reassign', {}],
    ] as const)
      expect(await run.call('POST', `/tasks/t/${what}`, run.operator, { reason: 'go on', ...body })).toMatchObject({
        ...{ status: 409, body: { code: 'conflict', detail: expect.stringContaining(id) } },
      })
    begun()
    expect(await act('pop', id)).toMatchObject({ status: 200 })
    worked()
  })

  it('[REQ-STASH-5] pop refuses when a path that it would write is not as it was, names it, and changes nothing', async () => {
    await work()
    const id = String((await save()).body.id)
    writeFileSync(at('src/kept'), 'mine\n')
    writeFileSync(at('src/new'), 'mine too\n')
    rmSync(at('src/gone'))
    expect(await act('pop', id)).toMatchObject({
      status: 409,
      body: { code: 'conflict', paths: ['src/gone', 'src/kept', 'src/new'], path_count: 3 },
    })
    expect([text('src/kept'), text('src/new'), existsSync(at('src/gone'))]).toEqual(['mine\n', 'mine too\n', false])
    expect(text('docs/plan')).toBe('old plan\n')
    // A link in the place of a folder leads nowhere.
    writeFileSync(at('src/kept'), 'kept\n')
    writeFileSync(at('src/gone'), 'gone\n')
    rmSync(at('src/new'))
    rmSync(at('src/deep'), { recursive: true, force: true })
    symlinkSync('/etc', at('src/deep'))
    expect(await act('pop', id)).toMatchObject({ status: 409 })
    expect(existsSync('/etc/new')).toBe(false)
    begun()
    rmSync(at('src/deep'))
    expect(await act('pop', id)).toMatchObject({ status: 200 })
    worked()
  })

  it('[REQ-STASH-6] what no allowed call explains is not laundered by putting it aside and back', async () => {
    await work()
    writeFileSync(at('README'), 'by nobody\n')
    // Nobody kept what it was: it could not be put back.
    expect(await save()).toMatchObject({ status: 409, body: { paths: ['README'] } })
    writeFileSync(at('README'), 'readme\n')
    for (const path of ['src/kept', 'smuggled']) writeFileSync(at(path), 'by nobody\n')
    const id = String((await save()).body.id)
    expect([text('src/kept'), existsSync(at('smuggled'))]).toEqual(['kept\n', false])
    expect(await act('pop', id)).toMatchObject({ status: 200 })
    expect([text('smuggled'), text('src/kept')]).toEqual(['by nobody\n', 'by nobody\n'])
    const refused = await move('DONE')
    expect(refused.body).toMatchObject({ allowed: false })
    expect(JSON.stringify(refused.body.blockers)).toContain('smuggled')
  })

  it('[REQ-STASH-7] another task works in the tree meanwhile, and each finds its own work', async () => {
    await work()
    const id = String((await save()).body.id)
    await run.addTask({ id: 'u' })
    const other = await run.claim('b', await run.addAgent('b'), 'u')
    expect(await act('pop', id)).toMatchObject({ status: 409, body: { task_id: 'u' } })
    const wrote = await run.call('POST', '/tools/execute', other, {
      ...{ task_id: 'u', tool_name: 'write_files', args: { path: 'docs/urgent', content: 'u\n' } },
    })
    expect(wrote.status).toBe(200)
    expect(await save({}, run.operator, 'u')).toMatchObject({ status: 201, body: { path_count: 1 } })
    expect(existsSync(at('docs/urgent'))).toBe(false)
    expect((await list()).map((one) => one.task_id).sort()).toEqual(['t', 'u'])
    expect(await act('pop', id)).toMatchObject({ status: 200 })
    worked()
    expect(existsSync(at('docs/urgent'))).toBe(false)
    expect(await move('DONE')).toMatchObject({ body: { allowed: true } })
  })

  it('[REQ-STASH-7] what another task did meanwhile stays when the first one is put aside again', async () => {
    await work()
    const id = String((await save()).body.id)
    await run.addTask({ id: 'u' })
    const other = await run.claim('b', await run.addAgent('b'), 'u')
    const args = { path: 'docs/urgent', content: 'u\n' }
    await run.call('POST', '/tools/execute', other, { task_id: 'u', tool_name: 'write_files', args })
    const moved = await run.call('POST', '/tasks/transition', other, { task_id: 'u', target_phase: 'CODE' })
    const done = await run.call('POST', '/tasks/transition', String(moved.body.phase_token), {
      ...{ task_id: 'u', target_phase: 'DONE' },
    })
    expect(done.body).toMatchObject({ allowed: true })
    expect(await act('pop', id)).toMatchObject({ status: 200, body: { restored_count: 7 } })
    worked()
    expect(await save()).toMatchObject({ status: 201, body: { path_count: 7 } })
    begun()
    expect(text('docs/urgent')).toBe('u\n')
  })

  it('[REQ-STASH-8] what cannot be kept or put back is refused, and nothing happens', async () => {
    await work()
    symlinkSync('/etc/passwd', at('src/out'))
    expect(await save()).toMatchObject({ status: 409, body: { paths: ['src/out'] } })
    rmSync(at('src/out'))
    writeFileSync(at('src/large'), Buffer.alloc(16 * 1024 * 1024 + 1))
    expect(await save()).toMatchObject({ status: 409, body: { paths: ['src/large'] } })
    rmSync(at('src/large'))
    mkdirSync(at('src/many'))
    for (let one = 0; one <= 2000; one += 1) writeFileSync(at(`src/many/${one}`), '')
    expect(await save()).toMatchObject({ status: 409, body: { detail: expect.stringContaining('at most 2000') } })
    rmSync(at('src/many'), { recursive: true })
    worked()
    expect(readdirSync(join(run.stateDir, 'stashes'))).toEqual([])
    expect((await run.call('GET', '/tasks/t', run.operator)).body).toMatchObject({ status: 'active', stash: null })
  })

  it('[REQ-STASH-9] drop gives the work up and leaves the task parked for an operator', async () => {
    await work()
    const id = String((await save()).body.id)
    expect(await act('drop', id)).toMatchObject({ status: 200, body: { id, status: 'dropped' } })
    expect(await act('drop', id)).toMatchObject({ status: 404 })
    expect((await run.call('GET', '/tasks/t', run.operator)).body).toMatchObject({ status: 'parked', stash: null })
    begun()
    expect(await run.call('POST', '/tasks/t/resume', run.operator, { reason: 'anew' })).toMatchObject({ status: 200 })
  })

  it('[REQ-STASH-10] a save that was cut off is finished at the next start', async () => {
    await work()
    const id = String((await save()).body.id)
    // As if the server had been killed after the ledger said so, with half of the tree put back.
    setStage(id, 'saving')
    writeFileSync(at('src/kept'), 'changed\n')
    rmSync(at('src/gone'))
    writeFileSync(at('src/new'), '#!/bin/sh\n')
    chmodSync(at('src/new'), 0o755)
    run = await run.restart()
    begun()
    expect(await list()).toMatchObject([{ id, status: 'saved' }])
    expect(await act('pop', id)).toMatchObject({ status: 200 })
    worked()
  })

  it('[REQ-STASH-10] a save that the ledger knows nothing of never was', async () => {
    await work()
    const id = String((await save()).body.id)
    await act('pop', id)
    const folder = join(run.stateDir, 'stashes')
    for (const name of [`${id}.new`, `${id}.gone`]) mkdirSync(join(folder, name))
    mkdirSync(join(folder, id))
    writeFileSync(
      planFile(id),
      JSON.stringify({ id, taskId: 't', tree: run.workspace, stage: 'saving', paths: [], savedAt: 0 }),
    )
    run = await run.restart()
    expect(readdirSync(folder)).toEqual([])
    worked()
  })

  it('[REQ-STASH-10] a pop that was cut off is undone at the next start, unless the task goes on already', async () => {
    await work()
    const id = String((await save()).body.id)
    setStage(id, 'popping')
    writeFileSync(at('src/kept'), 'changed\n')
    rmSync(at('src/gone'))
    rmSync(at('src/link'))
    run = await run.restart()
    begun()
    expect(await list()).toMatchObject([{ id, status: 'saved' }])
    expect((await run.call('GET', '/tasks/t', run.operator)).body).toMatchObject({ status: 'parked', stash: id })
    expect(await act('pop', id)).toMatchObject({ status: 200 })
    worked()
  })

  it('[REQ-STASH-11] a path that somebody changed after a cut is not overwritten; the stash says that it is unfinished', async () => {
    await work()
    const id = String((await save()).body.id)
    setStage(id, 'popping')
    writeFileSync(at('src/kept'), 'a third thing\n')
    run = await run.restart()
    expect(text('src/kept')).toBe('a third thing\n')
    expect(await list()).toMatchObject([{ id, status: 'unfinished' }])
    expect(await act('pop', id)).toMatchObject({ status: 409, body: { detail: expect.stringContaining('src/kept') } })
    writeFileSync(at('src/kept'), 'kept\n')
    expect(await act('pop', id)).toMatchObject({ status: 200 })
    worked()
  })

  it('[REQ-STASH-12] a stash whose contents were damaged brings nothing back', async () => {
    await work()
    const id = String((await save()).body.id)
    const folder = join(run.stateDir, 'stashes', id)
    for (const name of readdirSync(folder)) if (/^[0-9a-f]{64}$/.test(name)) writeFileSync(join(folder, name), 'other')
    expect(await act('pop', id)).toMatchObject({ status: 409, body: { detail: expect.stringContaining('damaged') } })
    begun()
    expect(await list()).toMatchObject([{ id, status: 'saved' }])
  })
})
