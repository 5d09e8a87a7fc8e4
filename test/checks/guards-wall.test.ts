import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { observe } from '../../src/checks/observed-runs/observe.js'
import { buildGuardedArgv } from '../../src/checks/observed-runs/test-guards.js'
import type { Confinement } from '../../src/confinement/confinement.js'
import { openConfinement } from '../../src/confinement/open-confinement.js'
import type { ObservedCommand } from '../../src/core/contract/contract.js'

const NODE_TEST = `import assert from 'node:assert'
import { test } from 'node:test'
import { add } from '../src/add.mjs'
test('adds', () => assert.equal(add(2, 3), 5))
`
const NODE_TRICK = `import assert from 'node:assert'
try { assert.equal = () => {} } catch {}
export const add = () => 0
`
const PYTHON_TEST = `import unittest
from app import add
class Adds(unittest.TestCase):
    def test_adds(self):
        self.assertEqual(add(2, 3), 5)
`
const PYTHON_TRICK = `import os
os.write(2, b"test_adds (test_app.Adds.test_adds) ... ok\\n\\nRan 1 test in 0.001s\\n\\nOK\\n")
os._exit(0)
`

describe('an observed run in the sandbox', () => {
  let wall: Confinement
  let folder = ''
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'guards-wall-'))
    mkdirSync(join(folder, 'state'), { mode: 0o700 })
    wall = await openConfinement({ stateDir: join(folder, 'state'), only: null })
  })
  afterAll(async () => {
    await wall.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const run = (files: Readonly<Record<string, string>>, command: Partial<ObservedCommand>) => {
    const tree = mkdtempSync(join(folder, 'tree-'))
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(tree, path)), { recursive: true })
      writeFileSync(join(tree, path), text)
    }
    const place = { confinement: wall, tree, hidden: [], signal: new AbortController().signal, redact: String }
    const whole = { run: '', format: 'auto', report: null, env: {}, timeoutSeconds: 60, ...command } as ObservedCommand
    return observe(place, 'tests', whole, { treeHash: '' })
  }

  it('[REQ-GUARD-5] has the guard of Node.js in it', async () => {
    const command = { run: 'node --test --test-reporter=tap', format: 'node' } as const
    const tricked = await run({ 'tests/add.test.mjs': NODE_TEST, 'src/add.mjs': NODE_TRICK }, command)
    expect(tricked).toMatchObject({ counts: { passed: 0, failed: 1 }, exitCode: 1 })
    const honest = await run(
      { 'tests/add.test.mjs': NODE_TEST, 'src/add.mjs': 'export const add = (a, b) => a + b' },
      command,
    )
    expect(honest).toMatchObject({ counts: { passed: 1, failed: 0 }, exitCode: 0, problem: null })
  })

  it('[REQ-GUARD-5] has the guard of Python in it', async () => {
    const command = { run: 'python3 -m unittest -v', format: 'pytest' } as const
    const tricked = await run({ 'test_app.py': PYTHON_TEST, 'app.py': PYTHON_TRICK }, command)
    expect(tricked.exitCode).toBe(1)
    expect(tricked.problem).not.toBeNull()
    const honest = await run({ 'test_app.py': PYTHON_TEST, 'app.py': 'def add(a, b): return a + b' }, command)
    expect(honest).toMatchObject({ counts: { passed: 1, failed: 0 }, exitCode: 0, problem: null })
  })

  it('[REQ-GUARD-5] is not run if the guards cannot be read', async () => {
    const [program = '', ...args] = buildGuardedArgv('echo ran')
    const missing = args.map((arg) => (arg.endsWith('sitecustomize.py') ? join(folder, 'gone.py') : arg))
    expect(spawnSync(program, args, { encoding: 'utf8' })).toMatchObject({ status: 0, stdout: 'ran\n' })
    expect(spawnSync(program, missing, { encoding: 'utf8' })).toMatchObject({ status: 126, stdout: '' })
  })

  it('[REQ-GUARD-5] keeps what the contract gives Node.js and Python to load', async () => {
    const told = await run(
      { 'first.cjs': 'globalThis.first = 1', 'lib/extra.py': 'VALUE = 7' },
      {
        run: `node -p 'globalThis.first' && python3 -c 'import extra; print(extra.VALUE)' && test ! -w "\${PYTHONPATH%%:*}"`,
        env: { NODE_OPTIONS: '--require ./first.cjs', PYTHONPATH: 'lib' },
      },
    )
    expect(told.exitCode).toBe(0)
  })
})
