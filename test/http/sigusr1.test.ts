import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Running, start } from './harness.js'

const contract = (name: string, run: string, more: string): string => `
name: ${name}
version: "1"
phases:
  - id: WORK
    allowed_tools: [run_tests]
    gates: [{id: green, type: validation, blockers: [{check: all_tests_pass, message: The tests must pass}]}]
  - {id: DONE, allowed_tools: [read_files]}
transitions: [{from: WORK, to: DONE, gate: green}]
commands:
  tests: {run: ${JSON.stringify(run)}, ${more}}
enforcement: {reconcile: off}
`

const NODE_HEAD = `import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
const server = () => spawn(process.execPath, ['-e', "process.on('SIGUSR1', () => process.exit(7)); setInterval(() => {}, 1000); console.log('up')"])
`
const RESTARTS = `${NODE_HEAD}test('restarts', async (t) => {
  const child = server()
  t.after(() => child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  process.kill(child.pid, 'SIGUSR1')
  assert.equal((await once(child, 'exit'))[0], 7)
})
`
// The refusal is swallowed, and the test waits for an answer that never comes.
const WAITS = RESTARTS.replace(
  "process.kill(child.pid, 'SIGUSR1')",
  "child.on('error', () => {}); child.kill('SIGUSR1')",
)
// Nothing that ran before is reached, whatever signal is sent.
const REACHES = `${RESTARTS}test('reaches nobody else', () => {
  const others = readdirSync('/proc').filter((name) => /^\\d+$/.test(name) && Number(name) < process.pid)
  assert.ok(others.length > 0)
  for (const pid of others)
    for (const signal of ['SIGUSR1', 'SIGTERM']) assert.throws(() => process.kill(Number(pid), signal), { code: 'EPERM' })
})
`
const PYTHON = `import os, signal, subprocess, sys
import pytest

def test_restarts():
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    os.kill(child.pid, signal.SIGUSR1)
    assert child.wait() == -signal.SIGUSR1

def test_reaches_nobody_else():
    with pytest.raises(PermissionError):
        os.kill(os.getppid(), signal.SIGUSR1)
`
const PACKAGE = { 'package.json': '{"name": "served", "scripts": {"test": "node --test --test-reporter=tap tests/"}}' }

let run: Running
let count = 0
beforeAll(async () => {
  run = await start()
})
afterAll(() => run.stop())

async function begin(files: Readonly<Record<string, string>>, command: string, more: string) {
  count += 1
  const id = `signal-${count}`
  const workspace = join(run.workspace, '..', id)
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(workspace, path)), { recursive: true })
    writeFileSync(join(workspace, path), text)
  }
  const source = contract(id, command, more)
  const added = await run.call('POST', '/contracts', run.operator, { source })
  expect(added.status, JSON.stringify(added.body)).toBe(201)
  await run.addTask({ id, contract: String(added.body.hash), workspace })
  const token = await run.claim(id, await run.addAgent(id), id)
  return {
    runTests: async () =>
      (await run.call('POST', '/tools/execute', token, { task_id: id, tool_name: 'run_tests', args: {} })).body,
    ask: async () =>
      (await run.call('POST', '/tasks/transition', token, { task_id: id, target_phase: 'DONE' })).body as {
        readonly allowed: boolean
        readonly blockers?: readonly { readonly message: string; readonly run?: object }[]
      },
    evidence: async () => (await run.call('GET', `/runs/${id}/report`, run.operator)).body.evidence,
  }
}

const ALLOWED = /an operator sets sigusr1: allow for this command in the contract/

describe('tests that send SIGUSR1', () => {
  it('[REQ-WITNESS-7] fail at once with EPERM, and the run names the file and the setting', async () => {
    const task = await begin({ ...PACKAGE, 'tests/reload.test.mjs': RESTARTS }, 'npm test', 'format: node')
    const { result } = (await task.runTests()) as { result: Record<string, unknown> }
    expect(result).toMatchObject({
      ...{ passed: 0, failed: 1, cause: 'SIGUSR1 was refused', mended_by: 'operator' },
      remedy: expect.stringMatching(ALLOWED),
    })
    expect(JSON.stringify(result.failures)).toContain('kill EPERM')
    expect((await task.ask()).blockers).toMatchObject([{ run: { cause: 'SIGUSR1 was refused' } }])
  })

  it('[REQ-WITNESS-7] that ignore the refusal time out, and the run names the file and the setting', async () => {
    const more = 'format: node, timeout_seconds: 4'
    const task = await begin({ ...PACKAGE, 'tests/reload.test.mjs': WAITS }, 'npm test', more)
    expect(await task.runTests()).toMatchObject({
      detail:
        'run_tests: the command timed out after 4 s. tests/reload.test.mjs names SIGUSR1, which observed runs refuse with EPERM',
      ...{ cause: 'timed out', remedy: expect.stringMatching(ALLOWED) },
    })
    expect((await task.ask()).blockers?.[0]?.message).toContain('tests/reload.test.mjs names SIGUSR1')
  })

  it('[REQ-WITNESS-7] and a database that does is named; another run that times out is not', async () => {
    const more = 'format: node, timeout_seconds: 2'
    const starts = { 'tests/db.test.mjs': "spawnSync('initdb', ['-D', 'data'])\n" }
    const task = await begin(starts, 'sleep 30', more)
    expect((await task.runTests()).detail).toContain('tests/db.test.mjs starts PostgreSQL')
    const other = await begin({ 'tests/a.test.mjs': 'wait()\n' }, 'sleep 30', more)
    expect(await other.runTests()).toMatchObject({
      detail: 'run_tests: the command timed out after 2 s',
      remedy: expect.not.stringMatching(ALLOWED),
    })
  })

  it('[REQ-WITNESS-7] pass with sigusr1: allow, reach nothing that ran before, and the evidence says so', async () => {
    const more = 'format: node, sigusr1: allow'
    const task = await begin({ ...PACKAGE, 'tests/reload.test.mjs': REACHES }, 'npm test', more)
    expect((await task.runTests()).result).toMatchObject({ passed: 2, failed: 0, sigusr1: 'allowed' })
    expect(await task.ask()).toMatchObject({ allowed: true })
    const ran = { name: 'tests', run: expect.objectContaining({ passed: 2, sigusr1: 'allowed' }) }
    expect(await task.evidence()).toContainEqual(expect.objectContaining(ran))
    const python = await begin({ 'tests/test_reload.py': PYTHON }, 'python3 -m pytest -v', 'sigusr1: allow')
    expect((await python.runTests()).result).toMatchObject({ passed: 2, failed: 0, sigusr1: 'allowed' })
  })
})
