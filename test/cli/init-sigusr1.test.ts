import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { loadContractFile } from '../../src/contract/load/load-contract.js'
import type { ObservedCommand } from '../../src/core/contract/contract.js'
import { type Files, makeRepository } from '../e2e/projects.js'
import { built, Place, SCRIPT } from './program.js'

const MS = 300_000
const CONTRACT = 'agent_workflow.yaml'
const place = new Place()

function repository(name: string, files: Files): string {
  const dir = join(place.home, name)
  makeRepository(dir, { 'package.json': '{"type":"module","scripts":{"test":"node --test"}}', ...files })
  return dir
}

const HEAD = `import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
const server = () => spawn(process.execPath, ['-e', "process.on('SIGUSR1', () => process.exit(7)); setInterval(() => {}, 1000); console.log('up')"])
`
// As in commander.js: the test fails with EPERM, and the process that it started keeps the run from ending.
const LEAVES = `${HEAD}test('reloads', async () => {
  const child = server()
  await once(child.stdout, 'data')
  child.kill('SIGUSR1')
  assert.equal((await once(child, 'exit'))[0], 7)
})
`
// The refusal is swallowed, and the test waits for an answer that never comes.
const WAITS = LEAVES.replace("child.kill('SIGUSR1')", "child.on('error', () => {}); child.kill('SIGUSR1')")
const HANGS =
  "import { test } from 'node:test'\ntest('one', async () => { await new Promise(() => setInterval(() => {}, 1000)) })\n"
const LISTENS = `// kill -USR1 reloads it.
process.on('SIGUSR1', () => {})
export const one = 1
`
const TEST = "import { test } from 'node:test'\ntest('one', () => {})\n"
const NAMED = /tests\/reload\.test\.js names SIGUSR1, which observed runs refuse with EPERM/

async function readTests(cwd: string): Promise<ObservedCommand | undefined> {
  const loaded = await loadContractFile(join(cwd, CONTRACT))
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.diagnostics))
  return loaded.contract.commands.get('tests')
}

describe('init where tests send SIGUSR1', () => {
  beforeAll(built, MS)

  it('[REQ-INIT-8] a trial that times out names the file and the option, and nothing is allowed unasked', {
    timeout: MS,
  }, async () => {
    const cwd = repository('waiting', { 'tests/reload.test.js': WAITS })
    const ended = await place.run(['init', '--yes', '--timeout', '8'], { cwd })
    expect(ended.code).toBe(1)
    expect(ended.stdout).toMatch(/timed out: after 8 s\. tests\/reload\.test\.js names SIGUSR1/)
    expect(ended.stdout).toContain('If the tests need it, run init again with --sigusr1 allow.')
    expect(existsSync(join(cwd, CONTRACT))).toBe(false)
    await place.run(['init', '--yes', '--timeout', '8', '--no-trial'], { cwd })
    expect((await readTests(cwd))?.allowsSigusr1).toBeUndefined()
    const { stdout } = await place.run(['doctor', '--port', '0', '--json'], { cwd })
    const { findings } = JSON.parse(stdout) as { findings: { name: string; detail: string; remedy: string }[] }
    expect(findings.find(({ name }) => name === 'tests')).toMatchObject({
      detail: expect.stringMatching(NAMED),
      remedy: expect.stringContaining('set sigusr1: allow for it in the contract'),
    })
  })

  it('[REQ-INIT-8] a run that hangs for another reason is not blamed on SIGUSR1', { timeout: MS }, async () => {
    const cwd = repository('hanging', { 'tests/a.test.js': HANGS, 'src/server.js': LISTENS })
    const ended = await place.run(['init', '--yes', '--timeout', '3'], { cwd })
    expect(ended).toMatchObject({ code: 1, stdout: expect.stringContaining('timed out: after 3 s') })
    expect(ended.stdout).not.toContain('SIGUSR1')
    expect(ended.stdout).toContain('docs/troubleshooting.md#tests-that-hang-only-in-the-sandbox')
  })

  it('[REQ-INIT-8] a run that prints nothing after SIGUSR1 was refused is stopped before its time', {
    timeout: MS,
  }, async () => {
    const cwd = repository('leaving', { 'tests/reload.test.js': LEAVES })
    const ended = await place.run(['init', '--yes', '--timeout', '200', '--json'], { cwd })
    expect(ended.code).toBe(1)
    const { trial } = JSON.parse(ended.stderr) as { trial: { saw: string; duration_ms: number } }
    expect(trial.saw).toMatch(/stopped \(no output for \d+ s; last: tests\/reload\.test\.js\)/)
    expect(trial.saw).toMatch(/SIGUSR1 was refused: tests\/reload\.test\.js names SIGUSR1/)
    expect(trial.duration_ms).toBeLessThan(100_000)
    expect(existsSync(join(cwd, CONTRACT))).toBe(false)
  })

  it('[REQ-INIT-8] with --sigusr1 allow the trial passes, and the contract says so for the tests alone', {
    timeout: MS,
  }, async () => {
    const scripts = { test: 'npm run lint && node --test', lint: 'node --check tests/reload.test.js' }
    const cwd = repository('allowed', {
      'package.json': JSON.stringify({ type: 'module', scripts }),
      'tests/reload.test.js': LEAVES,
    })
    const wrong = await place.run(['init', '--yes', '--sigusr1', 'maybe'], { cwd })
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('allow, refuse') })
    const ended = await place.run(['init', '--yes', '--sigusr1', 'allow'], { cwd })
    expect(ended.code, ended.stdout + ended.stderr).toBe(0)
    expect(ended.stdout).toContain('read 1 passed, 0 failed, 0 skipped as node; ids complete')
    expect(ended.stdout).toContain('The tests may send SIGUSR1 (sigusr1: allow in the contract)')
    expect(await readTests(cwd)).toMatchObject({ run: 'node --test', allowsSigusr1: true })
    expect(readFileSync(join(cwd, CONTRACT), 'utf8').match(/sigusr1/g)).toHaveLength(1)
  })

  it('[REQ-INIT-8] --sigusr1 allow counts without a trial, and for documents', { timeout: MS }, async () => {
    const cwd = repository('untried', { 'tests/reload.test.js': LEAVES })
    const options = ['--yes', '--no-trial', '--sigusr1', 'allow']
    expect(await place.run(['init', ...options], { cwd })).toMatchObject({ code: 0 })
    expect(await readTests(cwd)).toMatchObject({ allowsSigusr1: true })
    const { stdout } = await place.run(['init', '--json', '--template', 'documents', ...options], { cwd })
    const { file, sigusr1 } = JSON.parse(stdout) as { file: string; sigusr1: string }
    expect(sigusr1).toBe('allow')
    const loaded = await loadContractFile(file)
    expect(loaded.ok && loaded.contract.commands.get('tests')).toMatchObject({ allowsSigusr1: true })
  })

  it('[REQ-INIT-8] on a terminal it asks, and only yes allows it', { timeout: MS }, async () => {
    const cwd = repository('asked', { 'tests/reload.test.js': WAITS })
    const no = await answerOnTerminal(cwd, [
      [/Allow SIGUSR1 for this command, and try it again\? \[y\/N\]/, '\n'],
      [/Write agent_workflow\.yaml\?/, 'y\n'],
    ])
    expect(no).toMatch(/recorded\s+with\s+`sigusr1:\s+allowed`\s+and\s+is\s+weaker\s+evidence/)
    expect((await readTests(cwd))?.allowsSigusr1).toBeUndefined()
    const yes = await answerOnTerminal(cwd, [
      [/already exists\. Overwrite it\?/, 'y\n'],
      [/Allow SIGUSR1 for this command, and try it again\? \[y\/N\]/, 'y\n'],
      [/Write agent_workflow\.yaml\?/, 'y\n'],
    ])
    expect(yes).toContain('read 1 passed, 0 failed, 0 skipped as node; ids complete')
    expect(await readTests(cwd)).toMatchObject({ allowsSigusr1: true })
  })

  it('[REQ-INIT-8] what does not help is not allowed', { timeout: MS }, async () => {
    const cwd = repository('useless', { 'tests/reload.test.js': WAITS.replace('process.exit(7)', '0') })
    const said = await answerOnTerminal(cwd, [
      [/Allow SIGUSR1 for this command, and try it again\? \[y\/N\]/, 'y\n'],
      [/Write agent_workflow\.yaml\?/, 'y\n'],
    ])
    expect(said).toContain('With SIGUSR1 allowed the tests cannot be used either, so the contract does not allow it.')
    expect((await readTests(cwd))?.allowsSigusr1).toBeUndefined()
  })

  it('[REQ-INIT-9] Ctrl-C says for how long nothing was printed, and what came last', { timeout: MS }, async () => {
    const cwd = repository('quiet', { 'tests/a.test.js': TEST, 'tests/b.test.js': HANGS })
    const said = await answerOnTerminal(cwd, [[/\n {2}no output for \d+ s; last: /, '\u0003']])
    expect(said).toMatch(/Interrupted; nothing was written\. `npm test` had run for \d+ s, no output for \d+ s; last: /)
    expect(existsSync(join(cwd, CONTRACT))).toBe(false)
  })
})

/** Runs `init` on a terminal and types each answer when its question is there. */
async function answerOnTerminal(
  cwd: string,
  answers: readonly (readonly [question: RegExp, answer: string])[],
): Promise<string> {
  const line = `'${process.execPath}' '${SCRIPT}' init --timeout 10`
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
