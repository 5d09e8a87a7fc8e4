import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Answer, type Running, start } from './harness.js'

const contract = `
name: looked-at
version: "1"
phases:
  - id: PLAN
    allowed_tools: [write_files]
    tool_constraints: {write_files: {allowed_patterns: ["docs/**"]}}
  - id: IMPL
    allowed_tools: [write_files, bash]
    tool_constraints: {write_files: {allowed_patterns: ["src/**", "docs/**"]}}
  - id: DONE
    allowed_tools: []
transitions:
  - {from: PLAN, to: IMPL}
  - {from: IMPL, to: PLAN, when: plan_is_wrong}
  - {from: IMPL, to: DONE}
enforcement: {reconcile: block}
`

interface FileShown {
  readonly path: string
  readonly status: string
  readonly omitted: string | null
  readonly binary: boolean
  readonly unexplained: boolean
  readonly additions: number
  readonly hunks: readonly { readonly lines: readonly string[] }[]
}

let run: Running
let token = ''
const at = (path: string) => join(run.workspace, path)
const move = async (target_phase: string, claims = {}): Promise<Answer> => {
  const answer = await run.call('POST', '/tasks/transition', token, { task_id: 't', target_phase, claims })
  if (typeof answer.body.phase_token === 'string') token = answer.body.phase_token
  return answer
}
const execute = (tool_name: string, args: object) =>
  run.call('POST', '/tools/execute', token, { task_id: 't', tool_name, args })
const write = (path: string, content: string) => execute('write_files', { path, content })
const ask = (query = '', who = run.operator) => run.call('GET', `/tasks/t/diff${query}`, who)
const files = async (query = ''): Promise<readonly FileShown[]> => {
  const answer = await ask(query)
  expect(answer.status).toBe(200)
  return answer.body.files as readonly FileShown[]
}

beforeEach(async () => {
  run = await start({ contract })
  for (const folder of ['src', 'docs']) mkdirSync(at(folder))
  writeFileSync(at('src/kept'), 'one\ntwo\nthree\n')
  writeFileSync(at('src/gone'), 'gone\n')
  await run.addTask({ id: 't' })
})
afterEach(async () => {
  expect(run.faults).toEqual([])
  await run.stop()
})

const begin = async () => {
  token = await run.claim('a', await run.addAgent('a'), 't')
}

describe('what a task changed: what is refused', () => {
  it('[REQ-CHANGED-2] an unknown task, visit or path is not found; other paths than those of the tree are refused', async () => {
    await begin()
    expect(await run.call('GET', '/tasks/none/diff', run.operator)).toMatchObject({ status: 404 })
    expect(await ask('?from=7')).toMatchObject({ status: 404, body: { detail: expect.stringContaining('no visit 7') } })
    expect(await ask('?to=7')).toMatchObject({ status: 404 })
    for (const from of ['0', '-1', 'end', '1e3', '99999999'])
      expect(await ask(`?from=${from}`)).toMatchObject({ status: 400 })
    symlinkSync('/etc/passwd', at('src/out'))
    for (const path of ['../../etc/passwd', '/etc/passwd', 'src/../../x', './src/kept', '.git/config', 'a//b', 'a%00b'])
      expect({ path, ...(await ask(`?path=${path}`)) }).toMatchObject({
        path,
        status: 400,
        body: { code: 'invalid_request' },
      })
    expect(await ask('?path=src/kept')).toMatchObject({ status: 404, body: { code: 'not_found' } })
    expect(await ask('?path=src/no-such-file')).toMatchObject({ status: 404 })
  })

  it('[REQ-CHANGED-2] agents are not let in, with any token', async () => {
    await begin()
    expect(await ask('', token)).toMatchObject({ status: 403, body: { code: 'not_permitted' } })
    expect(await ask('', await run.addAgent('b'))).toMatchObject({ status: 403 })
  })

  it('[REQ-CHANGED-2] before the first claim there is nothing to compare, and the answer says so', async () => {
    expect(await ask()).toMatchObject({
      status: 200,
      body: { available: false, files: [], unavailable_reason: expect.stringContaining('No agent has worked') },
    })
  })
})

describe('what a task changed', () => {
  it('[REQ-CHANGED-3] shows added, modified and deleted files since the start, the phase, and a visit', async () => {
    await begin()
    await write('docs/plan', 'plan\n')
    await move('IMPL')
    await write('src/kept', 'one\n2\nthree\n')
    await execute('bash', { command: 'rm src/gone; echo new > src/new' })
    expect(await ask()).toMatchObject({
      status: 200,
      body: {
        ...{ task_id: 't', from: { kind: 'start', visit: 1, phase: 'PLAN' }, to: { kind: 'now', phase: 'IMPL' } },
        ...{ available: true, truncated: false, totals: { files: 4, additions: 3, deletions: 2 } },
        files: [
          { path: 'docs/plan', status: 'added', hunks: [{ lines: ['+plan'] }], unexplained: false, pinned: false },
          { path: 'src/gone', status: 'deleted', hunks: [{ lines: ['-gone'] }] },
          { path: 'src/kept', status: 'modified', hunks: [{ lines: [' one', '-two', '+2', ' three'], old_start: 1 }] },
          { path: 'src/new', status: 'added', additions: 1, deletions: 0 },
        ],
      },
    })
    const names = async (query: string) => (await files(query)).map(({ path }) => path)
    expect(await names('?from=phase')).toEqual(['src/gone', 'src/kept', 'src/new'])
    expect(await names('?path=src/new')).toEqual(['src/new'])
    await move('PLAN', { plan_is_wrong: true })
    await write('docs/plan', 'better\n')
    expect(await names('?from=phase')).toEqual(['docs/plan'])
    expect(await names('?from=2')).toEqual(['docs/plan', 'src/gone', 'src/kept', 'src/new'])
    expect(await names('?from=2&to=2')).toEqual(['src/gone', 'src/kept', 'src/new'])
    expect(await names('?from=1&to=1')).toEqual(['docs/plan'])
  })

  it('[REQ-CHANGED-3] what no call explains is marked', async () => {
    await begin()
    writeFileSync(at('src/by-hand'), 'by hand\n')
    expect(await files()).toMatchObject([{ path: 'src/by-hand', unexplained: true }])
  })

  it('[REQ-CHANGED-3] a completed task shows what it did, not what came after; a server that restarted does as well', async () => {
    await begin()
    await move('IMPL')
    await write('src/kept', 'changed\n')
    await move('DONE')
    writeFileSync(at('src/kept'), 'by somebody else\n')
    run = await run.restart()
    expect(await ask()).toMatchObject({ body: { to: { kind: 'end' }, totals: { files: 1 } } })
    expect((await files())[0]?.hunks[0]?.lines).toEqual(['-one', '-two', '-three', '+changed'])
  })

  it('[REQ-CHANGED-3] a task with its own work tree shows its changes after they were merged and the tree is gone', async () => {
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd: run.workspace })
    git('init', '-q', '-b', 'main')
    git('add', '.')
    git('commit', '-qm', 'first')
    const added = await run.call('POST', '/tasks', run.operator, { id: 'w', title: 'W', worktree: true })
    expect(added.status).toBe(201)
    const own = await run.claim('b', await run.addAgent('b'), 'w')
    const call = (path: string, body: object, who: string) => run.call('POST', path, who, { task_id: 'w', ...body })
    const inImpl = await call('/tasks/transition', { target_phase: 'IMPL' }, own)
    const phase = String(inImpl.body.phase_token)
    const args = { path: 'src/kept', content: 'one\nII\nthree\n' }
    await call('/tools/execute', { tool_name: 'write_files', args }, phase)
    await call('/tasks/transition', { target_phase: 'DONE' }, phase)
    const merged = await run.call('POST', '/tasks/w/merge', run.operator, { commit: true, reason: 'done' })
    expect(merged).toMatchObject({ status: 200, body: { worktree: { status: 'merged' } } })
    expect(existsSync(String(added.body.workspace))).toBe(false)
    expect(await run.call('GET', '/tasks/w/diff', run.operator)).toMatchObject({
      status: 200,
      body: {
        ...{ available: true, to: { kind: 'end' } },
        files: [{ path: 'src/kept', hunks: [{ lines: [' one', '-two', '+II', ' three'] }] }],
      },
    })
  })

  it('[REQ-CHANGED-4] no secret is shown, on one line or on many; a change of nothing else says so', async () => {
    await begin()
    await move('IMPL')
    const key = (text: string) => `-----BEGIN PRIVATE KEY-----\n${text.repeat(40)}\n-----END PRIVATE KEY-----\n`
    await write('src/config', `before\npassword = "hunter2-hunter2"\n${key('AAAA')}after\n`)
    const [added] = await files()
    expect(JSON.stringify(added)).not.toMatch(/hunter2|AAAA/)
    expect(added?.hunks[0]?.lines).toEqual(['+before', '+password = "[redacted]"', '+[redacted]', '+after'])
    await move('PLAN', { plan_is_wrong: true })
    await move('IMPL')
    await write('src/config', `before\npassword = "hunter3-hunter3"\n${key('BBBB')}after\n`)
    expect(await files('?from=phase')).toMatchObject([{ path: 'src/config', omitted: 'secret', hunks: [] }])
  })

  it('[REQ-CHANGED-4] binary and huge files are named without lines, links are never followed, long lines are cut', async () => {
    await begin()
    await move('IMPL')
    const bash =
      'printf "a\\0b" > src/binary; head -c 3000000 /dev/zero | tr "\\0" "x\\n" > src/huge; ln -s kept src/link'
    await execute('bash', { command: bash })
    await execute('bash', { command: 'head -c 900000 /dev/zero | tr "\\0" x > src/line' })
    const found = new Map((await files()).map((file) => [file.path, file]))
    expect(found.get('src/binary')).toMatchObject({ binary: true, omitted: 'binary', hunks: [] })
    expect(found.get('src/huge')).toMatchObject({ omitted: 'too_large', hunks: [] })
    expect(found.get('src/link')).toMatchObject({ hunks: [{ lines: ['+link kept'] }] })
    expect(found.get('src/line')?.hunks[0]?.lines[0]).toMatch(/^\+x{2000}… \[898000 more characters\]$/)
    expect(await ask()).toMatchObject({ body: { truncated: true } })
    expect(await files('?path=src/huge')).toMatchObject([{ omitted: null }])
  })

  it('[REQ-CHANGED-4] of thousands of files the first are shown and the others named', async () => {
    await begin()
    mkdirSync(at('src/many'))
    for (let one = 0; one < 5000; one += 1) writeFileSync(at(`src/many/${one}`), `${one}\n`)
    const answer = await ask()
    expect(answer).toMatchObject({ status: 200, body: { truncated: true, totals: { files: 5000 } } })
    const all = answer.body.files as readonly FileShown[]
    expect(all.filter(({ omitted }) => omitted === null)).toHaveLength(300)
    expect(all.filter(({ omitted }) => omitted === 'too_many_files')).toHaveLength(4700)
  })
})
