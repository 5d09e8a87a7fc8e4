import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Files, git, makeRepository } from '../e2e/projects.js'
import { built, Place, SCRIPT } from './program.js'

const MS = 300_000
const CONTRACT = 'agent_workflow.yaml'
const place = new Place()

function repository(name: string, files: Files): string {
  const dir = join(place.home, name)
  makeRepository(dir, { 'package.json': '{"type":"module","scripts":{"test":"node --test"}}', ...files })
  return dir
}

const nodeTest = (body: string): string =>
  `import { test } from 'node:test'\nimport { writeFileSync } from 'node:fs'\ntest('one', async () => { ${body} })\n`

type DoctorFinding = { name: string; status: string; detail: string; remedy: string }

async function findingsOf(cwd: string): Promise<readonly DoctorFinding[]> {
  const { stdout } = await place.run(['doctor', '--port', '0', '--json'], { cwd })
  return (JSON.parse(stdout) as { findings: DoctorFinding[] }).findings
}

describe('what init and doctor say of repositories with something wrong', () => {
  beforeAll(built, MS)

  it('[REQ-INIT-5] a manifest that cannot be read is named', { timeout: MS }, async () => {
    const cwd = repository('unreadable', { 'package.json': '{"scripts":' })
    const ended = await place.run(['init', '--yes'], { cwd })
    expect(ended).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/package\.json is not valid JSON .*Correct it/),
    })
    expect(existsSync(join(cwd, CONTRACT))).toBe(false)
    await place.run(['init', '--yes', '--no-trial', '--tests', 'node --test'], { cwd })
    const found = (await findingsOf(cwd)).find(({ name }) => name === 'manifest')
    expect(found).toMatchObject({ status: 'missing', detail: expect.stringContaining('package.json') })
  })

  it('[REQ-INIT-2] two build systems: says which was taken and how to choose', { timeout: MS }, async () => {
    const cwd = repository('two', { 'pyproject.toml': '[project]\nname = "x"\n', 'a.test.js': nodeTest('') })
    const ended = await place.run(['init', '--yes'], { cwd })
    expect(ended.code, ended.stdout + ended.stderr).toBe(0)
    expect(ended.stdout).toMatch(/Also here +Python \(pyproject\.toml.*\): python3 -m unittest -v/)
    expect(ended.stdout).toContain('JavaScript was taken; choose with --language NAME or --tests COMMAND.')
    const wrong = await place.run(['init', '--force', '--language', 'cobol'], { cwd })
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('found here: JavaScript, Python') })
    const given = await place.run(['init', '--force', '--json', '--tests', 'node --test a.test.js'], { cwd })
    expect(JSON.parse(given.stdout)).toMatchObject({
      test_command: 'node --test a.test.js',
      trial: { status: 'ok', format: 'node', counts: { passed: 1 }, ids_complete: true },
    })
  })

  it('[REQ-INIT-5] no tests at all, and an empty repository: the next step is named', { timeout: MS }, async () => {
    const bare = repository('without-tests', { 'package.json': '{}', 'index.js': '' })
    const none = await place.run(['init', '--yes'], { cwd: bare })
    expect(none).toMatchObject({ code: 1, stderr: expect.stringMatching(/package\.json names no tests; .*--tests/) })
    const first = await place.run(['init', '--yes'], { cwd: repository('no-tests-yet', { 'index.js': '' }) })
    expect(first).toMatchObject({ code: 0, stdout: expect.stringContaining('There are no tests yet') })
    const empty = join(place.home, 'empty')
    mkdirSync(empty)
    git(empty, 'init', '--quiet')
    const ended = await place.run(['init', '--yes'], { cwd: empty })
    expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining('This repository is empty') })
    expect((await findingsOf(empty)).find(({ name }) => name === 'tests')).toMatchObject({
      ...{ status: 'warning', detail: 'not tried: the repository is empty' },
    })
  })

  it('[REQ-INIT-5] tests that hang are stopped at the limit', { timeout: MS }, async () => {
    const cwd = repository('hanging', { 'a.test.js': nodeTest('await new Promise(() => setInterval(() => {}, 1000))') })
    const ended = await place.run(['init', '--yes', '--timeout', '3'], { cwd })
    expect(ended).toMatchObject({ code: 1, stdout: expect.stringContaining('timed out: after 3 s') })
    expect(ended.stdout).toContain('give it longer with --timeout SECONDS')
    expect(ended.stdout).toMatch(/a part of it that is enough for your tasks \(--tests "npm test FOLDER"\)/)
    await place.run(['init', '--yes', '--timeout', '3', '--no-trial'], { cwd })
    expect((await findingsOf(cwd)).find(({ name }) => name === 'tests')).toMatchObject({
      ...{ status: 'missing', detail: expect.stringContaining('timed out: after 3 s') },
    })
  })

  it('[REQ-INIT-5] tests that write tracked files: the files are named', { timeout: MS }, async () => {
    const cwd = repository('writing', {
      'a.test.js': nodeTest("writeFileSync('test/data.json', '2')"),
      'test/data.json': '1',
      'notes.txt': '1',
    })
    const ended = await place.run(['init', '--yes'], { cwd })
    expect(ended).toMatchObject({ code: 1, stdout: expect.stringMatching(/wrote test\/data\.json: a run that writes/) })
    expect(ended.stdout).toContain('Data that they have to write can be allowed: --may-write GLOB.')
    const allowed = await place.run(['init', '--yes', '--may-write', 'test/*.json'], { cwd })
    expect(allowed.code, allowed.stdout).toBe(0)
    expect((await findingsOf(cwd)).find(({ name }) => name === 'tests')).toMatchObject({ status: 'ok' })
    rmSync(join(cwd, CONTRACT))
    writeFileSync(join(cwd, 'a.test.js'), nodeTest("writeFileSync('notes.txt', '2')"))
    const other = await place.run(['init', '--yes'], { cwd })
    expect(other).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('The tests write tracked files: notes.txt'),
    })
    expect(git(cwd, 'status', '--porcelain', 'notes.txt', 'test')).toBe('')
  })

  it('[REQ-INIT-5] tests that write new tests: the files are named, unless git ignores them', {
    timeout: MS,
  }, async () => {
    const cwd = repository('making', { 'a.test.js': nodeTest("writeFileSync('b.test.js', '')") })
    const made = await place.run(['init', '--yes'], { cwd })
    expect(made).toMatchObject({ code: 1, stdout: expect.stringMatching(/wrote b\.test\.js: a run that writes/) })
    writeFileSync(join(cwd, '.git/info/exclude'), 'b.test.js\n')
    const ignored = await place.run(['init', '--yes'], { cwd })
    expect(ignored.code, ignored.stdout).toBe(0)
  })

  it('[REQ-INIT-5] tests that fail before any task are named and block nothing', {
    timeout: MS,
  }, async () => {
    const cwd = repository('failing', { 'a.test.js': nodeTest("throw new Error('no')") })
    const ended = await place.run(['init', '--yes'], { cwd })
    expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining('read 0 passed, 1 failed, 0 skipped') })
    expect(ended.stdout).toMatch(/Failing already: .*one/)
  })

  it('[REQ-INIT-5] a folder without git', { timeout: MS }, async () => {
    const cwd = join(place.home, 'no-git')
    mkdirSync(cwd)
    writeFileSync(join(cwd, 'package.json'), '{"type":"module","scripts":{"test":"node --test"}}')
    writeFileSync(join(cwd, 'a.test.js'), nodeTest(''))
    const ended = await place.run(['init', '--yes'], { cwd })
    expect(ended).toMatchObject({ code: 0, stdout: expect.stringMatching(/Git +no: .*git init/) })
    expect((await findingsOf(cwd)).find(({ name }) => name === 'git repository')).toMatchObject({
      ...{ status: 'warning', remedy: 'Run: git init' },
    })
  })

  it('[REQ-INIT-3] a build that tests need stays in front of them; a linter that fails is left out', {
    timeout: MS,
  }, async () => {
    const scripts = {
      build: 'mkdir -p out && cp src/a.js out/',
      lint: 'node -e "process.exit(3)"',
      test: 'npm run build && npm run lint && node --test',
    }
    const cwd = repository('built', {
      'package.json': JSON.stringify({ type: 'module', scripts }),
      '.gitignore': 'out\n',
      'src/a.js': 'export const one = 1\n',
      'a.test.js': `import '#one'\n${nodeTest('')}`.replace('#one', './out/a.js'),
    })
    // What an earlier build left there does not hide that the tests need one.
    mkdirSync(join(cwd, 'out'))
    writeFileSync(join(cwd, 'out/a.js'), 'export const one = 1\n')
    const { stdout } = await place.run(['init', '--yes', '--json'], { cwd })
    expect(JSON.parse(stdout)).toMatchObject({ test_command: 'npm run build && node --test', steps: [] })
    expect(JSON.parse(stdout).notes).toEqual([
      '`npm run build` stays in front of the tests: without it they do not run.',
      expect.stringMatching(/^`npm run lint` ran .*; exit code 3: it fails before any task/),
    ])
  })

  it('[REQ-INIT-1] the names of all tests of pytest are read, whether or not it is asked to list them', {
    timeout: MS,
  }, async () => {
    if (spawnSync('python3', ['-m', 'pytest', '--version']).status !== 0) return
    const cwd = join(place.home, 'pytest')
    makeRepository(cwd, {
      'pyproject.toml': '[tool.pytest.ini_options]\n',
      'tests/test_a.py': 'def test_a():\n    assert True\n',
    })
    const env = { HOME: process.env.HOME }
    const { stdout } = await place.run(['init', '--yes'], { cwd, env: env as NodeJS.ProcessEnv })
    expect(stdout).toMatch(/Trial +python3 -m pytest\n.*read 1 passed, 0 failed, 0 skipped as pytest; ids complete/)
  })

  it('[REQ-INIT-5] an interpreter that the sandbox does not show is named', { timeout: MS }, async () => {
    const cwd = join(place.home, 'hidden-python')
    makeRepository(cwd, {
      'pyproject.toml': '[tool.pytest.ini_options]\n',
      'tests/test_a.py': '',
      '.gitignore': '.venv',
    })
    mkdirSync(join(cwd, '.venv/bin'), { recursive: true })
    writeFileSync(join(cwd, '.venv/pyvenv.cfg'), '')
    writeFileSync(join(place.home, 'own-python'), '#!/bin/sh\n', { mode: 0o755 })
    symlinkSync(join(place.home, 'own-python'), join(cwd, '.venv/bin/python'))
    const ended = await place.run(['init', '--yes'], { cwd })
    expect(ended.code).toBe(1)
    expect(ended.stdout).toMatch(/\.venv\/bin\/python leads to \S+own-python, which is not visible in the sandbox/)
  })

  it('[REQ-INIT-1] a signal ends the trial, and nothing is left', { timeout: MS }, async () => {
    const cwd = repository('interrupted', {
      'a.test.js': nodeTest('await new Promise(() => setInterval(() => {}, 1000))'),
    })
    const temporary = join(tmpdir(), `phaselock-init-${process.pid}`)
    mkdirSync(temporary)
    const env = { ...place.environment, TMPDIR: temporary }
    const child = spawn(process.execPath, [SCRIPT, 'init', '--yes'], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
    let told = ''
    child.stderr.on('data', (chunk) => (told += chunk))
    while (!told.includes('in the sandbox')) await new Promise((resolve) => setTimeout(resolve, 50))
    await new Promise((resolve) => setTimeout(resolve, 1000))
    child.kill('SIGINT')
    const code = await new Promise((resolve) => child.once('close', resolve))
    expect(code).toBe(4)
    expect(told).toContain('Interrupted; nothing was written.')
    expect(existsSync(join(cwd, CONTRACT))).toBe(false)
    expect(readdirSync(temporary).filter((name) => name.startsWith('phaselock-trial'))).toEqual([])
  })

  it('[REQ-INIT-2] on a terminal it asks which one, shows that the tests run, and asks before it writes', {
    timeout: MS,
  }, async () => {
    const cwd = repository('asked', {
      'pyproject.toml': '',
      Makefile: 'check:\n\tfalse\ntest:\n\tnode --test\n',
      'a.test.js': nodeTest(''),
    })
    const said = await onTerminal(cwd, [
      [/Which one\?/, '3\n'],
      [/Write agent_workflow\.yaml\?/, 'n\n'],
    ])
    expect(said).toMatch(/1\. JavaScript .*2\. Python .*3\. make \(Makefile with the target test\): make test/s)
    expect(said).toMatch(/Running `make test` in the sandbox \(at most 600 s\) \.\.\. \d+ s \(Ctrl-C stops it\)/)
    expect(said).toMatch(/read 1 passed, 0 failed, 0 skipped as node; ids complete.*Nothing was written/s)
    expect(existsSync(join(cwd, CONTRACT))).toBe(false)
    await onTerminal(cwd, [
      [/Which one\?/, '\n'],
      [/Write agent_workflow\.yaml\?/, 'y\n'],
    ])
    expect(existsSync(join(cwd, CONTRACT))).toBe(true)
  })

  // Ctrl-C as a terminal sends it, while the tests run.
  it('[REQ-INIT-1] Ctrl-C on a terminal ends the trial', { timeout: MS }, async () => {
    const cwd = repository('stopped', { 'a.test.js': nodeTest('await new Promise(() => setInterval(() => {}, 1000))') })
    const said = await onTerminal(cwd, [[/in the sandbox \(at most 600 s\) \.\.\. 1 s/, '\u0003']])
    expect(listProcessesIn(cwd), 'what still runs').toEqual([])
    expect(said).toContain('Interrupted; nothing was written.')
    expect(existsSync(join(cwd, CONTRACT))).toBe(false)
  })
})

function listProcessesIn(folder: string): readonly string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readlinkSync(`/proc/${pid}/cwd`).startsWith(folder)
    } catch {
      return false
    }
  })
}

/** Runs `init` on a terminal and types each answer when its question is there. */
async function onTerminal(
  cwd: string,
  answers: readonly (readonly [question: RegExp, answer: string])[],
): Promise<string> {
  const line = `'${process.execPath}' '${SCRIPT}' init`
  const child = spawn('script', ['-qec', line, '/dev/null'], { cwd, env: { ...place.environment, TERM: 'xterm' } })
  let said = ''
  let from = 0
  const waiting = [...answers]
  child.stdout.on('data', (chunk) => {
    said += chunk
    const [next] = waiting
    if (next === undefined || !next[0].test(said.slice(from))) return
    from = said.length
    waiting.shift()
    child.stdin.write(next[1])
  })
  await new Promise((resolve) => child.once('close', resolve))
  return said
}
