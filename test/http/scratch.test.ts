import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Answer, type Running, start } from './harness.js'

const contract = `
name: scratched
version: "1"
commands:
  tests: {run: "test ! -e dist && test ! -e coverage && echo 'ok 1 - clean' || { echo 'not ok 1 - clean'; exit 1; }", format: tap}
phases:
  - id: TDD
    allowed_tools: [read_files, glob, grep, write_files, bash, run_tests]
    tool_constraints: {write_files: {allowed_patterns: ["tests/**"]}}
  - id: IMPL
    allowed_tools: [read_files, write_files, bash, run_tests]
    tool_constraints: {write_files: {allowed_patterns: ["**"], forbidden_patterns: ["tests/**"]}}
  - id: DONE
    allowed_tools: []
enforcement: {reconcile: block}
`

describe('what commands write to ignored paths', () => {
  let run: Running
  let token = ''
  const at = (path: string) => join(run.workspace, path)
  const layer = (task: string) =>
    join(run.stateDir, 'scratch', createHash('sha256').update(task).digest('hex').slice(0, 32))
  const begin = async (gitignore: string | null) => {
    run = await start({ contract })
    for (const folder of ['src', 'tests', 'node_modules/dep']) mkdirSync(at(folder), { recursive: true })
    writeFileSync(at('src/a.js'), 'console.log("built")\n')
    writeFileSync(at('package.json'), '{}\n')
    writeFileSync(at('node_modules/dep/index.js'), 'real\n')
    if (gitignore !== null) writeFileSync(at('.gitignore'), gitignore)
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd: run.workspace })
    git('init', '-q')
    git('add', 'src', 'package.json')
    git('commit', '-qm', 'first')
    await run.addTask({ id: 't' })
    token = await run.claim('a', await run.addAgent('a'), 't')
  }
  const move = async (target_phase: string): Promise<Answer> => {
    const answer = await run.call('POST', '/tasks/transition', token, { task_id: 't', target_phase })
    if (typeof answer.body.phase_token === 'string') token = answer.body.phase_token
    return answer
  }
  const execute = (tool_name: string, args: object, as = token) =>
    run.call('POST', '/tools/execute', as, { task_id: as === token ? 't' : 'u', tool_name, args })
  const bash = async (command: string, as = token) => {
    const answer = await execute('bash', { command }, as)
    return { ...answer, result: (answer.body.result ?? {}) as Record<string, unknown> }
  }

  beforeEach(() => begin('dist/\nnode_modules/\n*.log\n.cache/\n'))
  afterEach(() => run.stop())

  it('[REQ-SCRATCH-1] a command finds what an earlier one of the same task left, changes it and removes it', async () => {
    expect(await bash('mkdir -p dist/deep && cp src/a.js dist/deep/ && echo one > dist/one')).toMatchObject({
      status: 200,
      result: { exit_code: 0, changes: [], scratch: 4 },
    })
    expect(existsSync(at('dist'))).toBe(false)
    expect(await bash('node dist/deep/a.js; cat dist/one')).toMatchObject({ result: { stdout: 'built\none\n' } })
    expect(await bash('echo two > dist/one; rm -r dist/deep; ls dist; cat dist/one')).toMatchObject({
      result: { stdout: 'one\ntwo\n' },
    })
    expect(await bash('ls dist; cat dist/one')).toMatchObject({ result: { stdout: 'one\ntwo\n' } })
    expect(await bash('rm -r dist')).toMatchObject({ status: 200 })
    expect(await bash('ls dist')).toMatchObject({ result: { exit_code: 2 } })
    expect((await move('IMPL')).body).toMatchObject({ allowed: true })
  })

  it('[REQ-SCRATCH-2] observed runs, run_tests, file tools that search and the tree itself never have it', async () => {
    await bash('mkdir -p dist coverage && echo needle > dist/x && echo needle > coverage/y')
    expect((await execute('run_tests', {})).body).toMatchObject({ result: { exit_code: 0 } })
    expect((await execute('grep', { pattern: 'needle' })).body).toMatchObject({ result: { matches: [] } })
    expect(existsSync(at('dist'))).toBe(false)
    expect(existsSync(at('coverage'))).toBe(false)
  })

  it('[REQ-SCRATCH-3] another task in the same tree sees nothing of it', async () => {
    await bash('mkdir -p dist && echo mine > dist/x')
    // Two tasks in one tree: the first one writes elsewhere by now.
    expect((await move('IMPL')).body).toMatchObject({ allowed: true })
    await run.addTask({ id: 'u' })
    const other = await run.claim('b', await run.addAgent('b'), 'u')
    expect(await bash('ls dist', other)).toMatchObject({ result: { exit_code: 2 } })
    expect(await execute('read_files', { path: 'dist/x' }, other)).toMatchObject({ status: 400 })
    expect(await execute('read_files', { path: 'dist/x' })).toMatchObject({
      status: 200,
      body: { result: { content: 'mine\n' } },
    })
  })

  it('[REQ-SCRATCH-4] links that leave the tree, pipes, sockets and rights of others are dropped and refuse nothing', async () => {
    const made = await bash(
      'mkdir dist && cd dist && ln -s /etc/passwd out && ln -s x in && mkfifo pipe && echo x > x && cp x suid && chmod 6755 suid && ln x hard && echo t > ../tests/t',
    )
    expect(made).toMatchObject({ status: 200, result: { changes: [{ path: 'tests/t' }] } })
    expect(await bash('ls dist; stat -c %a dist/suid; stat -c %h dist/x')).toMatchObject({
      result: { stdout: 'hard\nin\nsuid\nx\n755\n1\n' },
    })
    expect(await execute('read_files', { path: 'dist/out' })).toMatchObject({ status: 400 })
    expect(await execute('read_files', { path: 'dist/in' })).toMatchObject({ status: 400 })
  })

  it('[REQ-SCRATCH-5] more than fits is dropped whole, is said, and refuses nothing', async () => {
    await bash('mkdir dist && echo x > dist/x')
    const answer = await bash('truncate -s 300M dist/huge; echo t > tests/t')
    expect(answer).toMatchObject({
      status: 200,
      result: { changes: [{ path: 'tests/t' }], notes: [expect.stringContaining('256 MiB')] },
    })
    expect(await bash('ls dist')).toMatchObject({ result: { exit_code: 2 } })
    expect(readFileSync(at('tests/t'), 'utf8')).toBe('t\n')
  })

  it('[REQ-SCRATCH-5] more paths than are ever read from, ignored or of packages, refuse nothing', async () => {
    const many = '(mkdir -p $d && cd $d && seq 20500 | xargs touch)'
    const built = await bash(`d=dist; ${many}; echo t > tests/t`)
    expect(built).toMatchObject({
      status: 200,
      result: { changes: [{ path: 'tests/t' }], notes: [expect.stringContaining('20000 paths')] },
    })
    expect(
      await bash(`d=node_modules/big; ${many}; mkdir -p node_modules/.cache; echo c > node_modules/.cache/c`),
    ).toMatchObject({
      status: 200,
      result: { changes: [], notes: [expect.stringContaining('node_modules was discarded')] },
    })
    expect(await bash('ls -A node_modules; ls dist')).toMatchObject({
      result: { stdout: '.cache\ndep\n', exit_code: 2 },
    })
    expect(await bash('rm -rf node_modules')).toMatchObject({ status: 200, result: { changes: [] } })
    expect(await bash('ls node_modules')).toMatchObject({ result: { stdout: 'dep\n' } })
  })

  it('[REQ-SCRATCH-6] it survives a restart, and one that was not saved whole is dropped and said', async () => {
    await bash('mkdir dist && echo x > dist/x')
    run = await run.restart()
    token = await run.claim('a', await run.addAgent('a'), 't')
    expect((await execute('read_files', { path: 'dist/x' })).body).toMatchObject({ result: { content: 'x\n' } })
    expect(await bash('cat dist/x')).toMatchObject({ result: { stdout: 'x\n' } })
    run = await run.restart()
    token = await run.claim('a', await run.addAgent('a'), 't')
    writeFileSync(join(layer('t'), 'busy'), '')
    expect(await bash('ls dist')).toMatchObject({
      status: 200,
      result: { exit_code: 2, notes: [expect.stringContaining('could not all be kept')] },
    })
    const after = await bash('mkdir dist; echo y > dist/y')
    expect(after.result.notes).toBeUndefined()
    expect(await bash('ls dist')).toMatchObject({ result: { stdout: 'y\n' } })
  })

  it('[REQ-SCRATCH-7] it goes with its task, and those of tasks that are gone go when the server starts', async () => {
    await bash('mkdir dist && echo x > dist/x')
    expect(existsSync(layer('t'))).toBe(true)
    mkdirSync(join(run.stateDir, 'scratch', 'f'.repeat(32)), { recursive: true })
    run = await run.restart()
    await expect.poll(() => readdirSync(join(run.stateDir, 'scratch'))).toEqual([layer('t').split('/').at(-1)])
    await run.call('POST', '/tasks/t/cancel', run.operator, { reason: 'enough' })
    await expect.poll(() => existsSync(layer('t'))).toBe(false)
  })

  it('[REQ-SCRATCH-8] what a call writes to the tree is not hidden by it, and a folder that is gone takes it along', async () => {
    await move('IMPL')
    await bash('mkdir -p dist src/.cache && echo old > dist/x && echo c > src/.cache/c')
    await execute('write_files', { path: 'dist/x', content: 'new\n' })
    expect(await bash('cat dist/x')).toMatchObject({ result: { stdout: 'new\n' } })
    expect(await bash('cat src/.cache/c; rm -r src')).toMatchObject({ status: 200, result: { stdout: 'c\n' } })
    expect(await bash('ls src; mkdir src; echo b > src/b.js; ls -A src')).toMatchObject({
      status: 200,
      result: { stdout: 'b.js\n', changes: [{ path: 'src' }, { path: 'src/b.js' }] },
    })
  })

  it('[REQ-SCRATCH-8] rights of folders that lead to it are those of the tree', async () => {
    await bash('mkdir -p tests/.cache && echo c > tests/.cache/c')
    execFileSync('chmod', ['750', at('tests')])
    expect(await bash('stat -c %a tests; echo t > tests/t')).toMatchObject({
      status: 200,
      result: { stdout: '750\n', changes: [{ path: 'tests/t' }] },
    })
  })

  it('[REQ-SCRATCH-9] changed packages are dropped with a remedy while package and lock files are kept', async () => {
    await move('IMPL')
    const install =
      'mkdir -p node_modules/left-pad && echo x > node_modules/left-pad/index.js && echo "{\\"a\\":1}" > package.json && echo "{}" > package-lock.json'
    expect(await bash(install)).toMatchObject({
      status: 200,
      result: {
        changes: [{ path: 'package-lock.json' }, { path: 'package.json' }],
        notes: [expect.stringContaining('node_modules was discarded: installed packages are read-only')],
      },
    })
    expect(await bash('ls node_modules')).toMatchObject({ result: { stdout: 'dep\n' } })
    expect((await move('DONE')).body).toMatchObject({ allowed: true })
  })

  const LITTER = [
    'src/__pycache__/a.cpython-312.pyc',
    '.pytest_cache/v/cache/nodeids',
    '.mypy_cache/3.12/a.json',
    '.coverage',
    'coverage/lcov.info',
    'packages/one/coverage/coverage-final.json',
    '.nyc_output/x.json',
    'tsconfig.tsbuildinfo',
    '.DS_Store',
    'src/.DS_Store',
    'node_modules/.cache/x',
    'node_modules/.vitest/results.json',
    'node_modules/.vite/deps/_metadata.json',
  ]

  it.each([
    ['with a .gitignore', 'node_modules/\n'],
    ['without a .gitignore', null],
  ])('[REQ-SCRATCH-10] what tools leave behind closes nothing in any phase, %s', async (_, gitignore) => {
    await run.stop()
    await begin(gitignore)
    for (const [phase, file] of [
      ['IMPL', 'tests/t'],
      ['DONE', 'src/b.js'],
    ] as const) {
      const make = LITTER.map((path) => `mkdir -p "$(dirname ${path})"; echo ${phase} > ${path}`).join('; ')
      expect(await bash(`${make}; echo x > ${file}`), phase).toMatchObject({
        status: 200,
        result: { changes: [{ path: file }] },
      })
      for (const path of LITTER) expect(existsSync(at(path)), path).toBe(false)
      expect((await move(phase)).body).toMatchObject({ allowed: true, phase })
    }
  })

  it.each([
    ['with a .gitignore', 'node_modules/\ndist/\n'],
    ['without a .gitignore', null],
  ])(
    '[REQ-SCRATCH-11] what tools of people leave behind in the tree is not an unledgered change, %s',
    async (_, gitignore) => {
      await run.stop()
      await begin(gitignore)
      for (const round of ['one', 'two'] as const) {
        for (const path of LITTER) {
          mkdirSync(join(at(path), '..'), { recursive: true })
          writeFileSync(at(path), round)
        }
        expect((await move(round === 'one' ? 'IMPL' : 'DONE')).body).toMatchObject({ allowed: true })
      }
    },
  )

  it('[REQ-SCRATCH-12] an edited .gitignore hides no write, and a folder of sources that is named coverage counts', async () => {
    await run.stop()
    await begin(null)
    await move('IMPL')
    expect(await bash('printf "src/\\ntests/\\n" > .gitignore')).toMatchObject({ status: 200 })
    expect(await bash('echo x > src/hidden.js')).toMatchObject({ result: { changes: [{ path: 'src/hidden.js' }] } })
    expect(await bash('echo x > tests/hidden.js')).toMatchObject({
      status: 403,
      body: { code: 'constraint_violation', paths: ['tests/hidden.js'] },
    })
    await execute('write_files', { path: 'src/coverage/measure.js', content: 'one\n' })
    expect(await bash('echo two > src/coverage/measure.js')).toMatchObject({
      result: { changes: [{ path: 'src/coverage/measure.js' }] },
    })
    expect(readFileSync(at('src/coverage/measure.js'), 'utf8')).toBe('two\n')
    rmSync(at('src/hidden.js'))
  })

  it('[REQ-SCRATCH-13] a refused command leaves nothing there either', async () => {
    expect(await bash('mkdir dist; echo x > dist/x; echo x > src/no.js')).toMatchObject({ status: 403 })
    expect(await bash('ls dist')).toMatchObject({ result: { exit_code: 2 } })
  })
})
