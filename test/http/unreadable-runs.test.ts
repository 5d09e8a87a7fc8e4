import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { formatProblem } from '../../src/cli/terminal/problem-text.js'
import { formatAnswer } from '../../src/cli/workflow/run-text.js'
import type { JsonObject } from '../../src/core/json.js'
import { toToolResult } from '../../src/mcp/results.js'
import { sample } from '../depth.js'
import { type Answer, type Running, start } from './harness.js'

const contract = (command: string, seconds = 60): string => `
name: unreadable
version: "1"
phases:
  - id: TDD
    allowed_tools: [run_tests]
    gates: [{id: red, type: validation, blockers: [{check: tests_are_failing, message: The tests must fail}]}]
  - id: DONE
commands:
  tests: {run: ${JSON.stringify(command)}, format: node, timeout_seconds: ${seconds}}
enforcement: {reconcile: off}
`

interface Blocker {
  readonly message: string
  readonly remedy: string
  readonly run?: { readonly cause: string; readonly mended_by: string; readonly last_lines: readonly string[] }
}

let run: Running
afterEach(() => run.stop())

async function begin(text: string, files: Readonly<Record<string, string>> = {}): Promise<string> {
  run = await start({ contract: text })
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(run.workspace, path, '..'), { recursive: true })
    writeFileSync(join(run.workspace, path), content)
  }
  await run.addTask({ id: 't' })
  return run.claim('a', await run.addAgent('a'), 't')
}

const runTests = (token: string): Promise<Answer> =>
  run.call('POST', '/tools/execute', token, { task_id: 't', tool_name: 'run_tests', args: {} })

async function blockers(token: string, target = 'DONE'): Promise<readonly Blocker[]> {
  const answer = await run.call('POST', '/tasks/transition', token, { task_id: 't', target_phase: target })
  expect(answer.body).toMatchObject({ allowed: false })
  return answer.body.blockers as readonly Blocker[]
}

const saidAtGate = (cause: string): string =>
  cause.startsWith('no counts') ? `the run ended with exit code 0, and ${cause}` : `no failing test was seen: ${cause}`

interface Case {
  readonly name: string
  readonly command: string
  readonly files?: Readonly<Record<string, string>>
  readonly cause: string
  readonly mendedBy: 'agent' | 'operator'
  readonly lines: RegExp
}

const CASES: readonly Case[] = [
  {
    name: 'a program that is not there',
    command: 'nothere --test',
    cause: 'command not found',
    mendedBy: 'operator',
    lines: /nothere: command not found/,
  },
  {
    name: 'a package that is not installed',
    command: 'node run.cjs',
    files: { 'run.cjs': "require('a-package-that-is-not-there')\n" },
    cause: 'module missing',
    mendedBy: 'operator',
    lines: /Cannot find module 'a-package-that-is-not-there'/,
  },
  {
    name: 'a file of the project that is not there',
    command: 'node run.cjs',
    files: { 'run.cjs': "require('./gone.cjs')\n" },
    cause: 'module missing',
    mendedBy: 'agent',
    lines: /Cannot find module '.\/gone.cjs'/,
  },
  {
    name: 'a file that does not parse',
    command: 'node run.mjs',
    files: { 'run.mjs': 'test(\n' },
    cause: 'compile failed',
    mendedBy: 'agent',
    lines: /SyntaxError/,
  },
  {
    name: 'a compiler that stops',
    command: 'echo "src/a.c:3:5: error: expected expression before ; token" >&2; exit 1',
    cause: 'compile failed',
    mendedBy: 'agent',
    lines: /a\.c:3:5: error/,
  },
  {
    name: 'a connection to the outside',
    command: `node -e "fetch('http://example.com')"`,
    cause: 'no network',
    mendedBy: 'operator',
    lines: /EAI_AGAIN|ENOTFOUND|ENETUNREACH|ECONNREFUSED/,
  },
  {
    name: 'a program that is killed',
    command: 'echo before the end; kill -9 $$',
    cause: 'killed',
    mendedBy: 'agent',
    lines: /before the end/,
  },
  {
    name: 'a linter before the tests',
    command: 'npm test',
    files: {
      'package.json': '{"name": "adder", "scripts": {"lint": "node own.mjs", "test": "npm run lint && node --test"}}',
      'own.mjs': "console.error('src/a.js has a long line')\nprocess.exitCode = 1\n",
    },
    cause: 'a linter failed',
    mendedBy: 'agent',
    lines: /src\/a\.js has a long line/,
  },
  {
    name: 'output without counts',
    command: 'echo everything is fine',
    cause: 'no counts could be read from the output',
    mendedBy: 'operator',
    lines: /everything is fine/,
  },
]

describe('a run of the tests that could not be read', () => {
  it.each(sample(CASES, 4))('[REQ-DEADEND-2] $name: $cause', async ({ command, files, cause, mendedBy, lines }) => {
    const token = await begin(contract(command), files)
    const { status, body } = await runTests(token)
    expect(status).toBe(200)
    expect(body.result).toMatchObject({ passed: null, failed: null, cause, mended_by: mendedBy })
    const result = body.result as { remedy: string; last_lines: string[] }
    expect(result.remedy).not.toBe('')
    expect(result.last_lines.join('\n')).toMatch(lines)

    const [blocker] = await blockers(token)
    expect(blocker?.message).toContain(`The tests must fail: ${saidAtGate(cause)}`)
    expect(blocker).toMatchObject({ remedy: result.remedy, run: { cause, mended_by: mendedBy } })
    expect(blocker?.run?.last_lines.join('\n')).toMatch(lines)
  })

  it('[REQ-DEADEND-2] a run that takes too long says so, with what it wrote before', async () => {
    const token = await begin(contract('echo begun; sleep 30', 1))
    const { status, body } = await runTests(token)
    expect(status).toBe(400)
    expect(body).toMatchObject({
      code: 'tool_failed',
      detail: 'run_tests: the command timed out after 1 s',
      cause: 'timed out',
      mended_by: 'agent',
      last_lines: ['begun'],
    })
    const problem = { code: 'tool_failed', detail: 'run_tests', recorded: true, extra: body as JsonObject } as const
    const [content] = toToolResult('run_tests', { ok: false, problem }).content
    expect((content as { text: string }).text).toContain('\n    | begun')
    expect(formatProblem(body as JsonObject)).toContain('\n  | begun')
    const [blocker] = await blockers(token)
    expect(blocker).toMatchObject({
      message: 'The tests must fail: no failing test was seen: the command timed out after 1 s',
      remedy: expect.stringContaining('timeout_seconds'),
      run: { cause: 'timed out', mended_by: 'agent', last_lines: ['begun'] },
    })
  })

  it('[REQ-DEADEND-2] a cause in the output opens nothing, and a module that is said to be missing is not a red run', async () => {
    const token = await begin(contract(`echo "Error: Cannot find module './add.js'" >&2; exit 1`))
    const [blocker] = await blockers(token)
    expect(blocker?.message).toContain('no failing test was seen: module missing')
  })

  it('[REQ-DEADEND-2] the last lines are bounded, printable and without secrets', async () => {
    const secret = `ghp_${'a1B2'.repeat(9)}`
    const long = `${'x'.repeat(185)} ${secret}`
    const script = `
      for (let i = 0; i < 500; i++) console.log('line ' + i)
      console.log(${JSON.stringify(long)})
      console.log('\\u001b[31mred\\u001b[0m \\u0007bell\\u202e')
      console.error('PASSWORD=hunter2hunter2')
      process.exitCode = 1`
    const token = await begin(contract('node run.mjs'), { 'run.mjs': script })
    const [blocker] = await blockers(token)
    const { result } = (await runTests(token)).body as { result: { last_lines: readonly string[] } }
    const timeline = JSON.stringify((await run.call('GET', '/tasks/t/timeline', run.operator)).body)
    for (const lines of [blocker?.run?.last_lines ?? [], result.last_lines]) {
      expect(lines.length).toBeGreaterThan(3)
      expect(lines.length).toBeLessThanOrEqual(20)
      expect(lines.every((line) => line.length <= 200)).toBe(true)
      expect(lines).toContain('red  bell')
      expect(lines.join('\n')).toContain('line 499')
      expect(lines.join('\n')).not.toMatch(/ghp_|hunter2/)
    }
    expect(timeline).not.toMatch(/ghp_|hunter2/)
  })
})

const LINT = `
name: linted
version: "1"
phases:
  - id: WORK
    allowed_tools: [bash]
    gates:
      - id: linted
        type: validation
        blockers:
          - {check: command_succeeds, command: lint, message: The code must be clean}
          - {check: command_succeeds, run: "nothere --check", message: The check must pass}
  - id: DONE
commands:
  lint: {run: "echo src/a.js has 2 problems; exit 3"}
enforcement: {reconcile: off}
`

describe('a command that does not succeed', () => {
  it('[REQ-DEADEND-2] shows its last lines and a cause in the blocker', async () => {
    const token = await begin(LINT)
    expect(await blockers(token)).toMatchObject([
      {
        message: 'The code must be clean: echo src/a.js has 2 problems; exit 3 ended with exit code 3',
        remedy: 'Correct what the last lines show, then ask again.',
        run: { cause: 'the command failed', mended_by: 'agent', last_lines: ['src/a.js has 2 problems'] },
      },
      {
        message: expect.stringMatching(/ended with exit code 127 \(command not found: .*nothere: command not found\)$/),
        run: { cause: 'command not found', mended_by: 'operator' },
      },
    ])
  })

  it('[REQ-DEADEND-2] the last lines reach an agent over MCP and a person at the terminal', async () => {
    const token = await begin(LINT)
    const [first] = await blockers(token)
    const answer = { allowed: false, phase: 'WORK', blockers: [first] } as never
    const [content] = toToolResult('request_transition', { ok: true, value: answer }).content
    expect((content as { text: string }).text).toContain('    | src/a.js has 2 problems')
    expect(formatAnswer(answer)).toContain('      | src/a.js has 2 problems')
  })
})
