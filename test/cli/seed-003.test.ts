import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Running, start } from '../http/harness.js'
import { built, type Ended, Place } from './program.js'

const T = Date.UTC(2026, 0, 5, 4, 26, 0)
const place = new Place()
let server: Running
let folder: string

beforeAll(built)
beforeEach(async () => {
  server = await start({ contract: 'name: idle\nversion: "1"\nphases: [{id: A}, {id: B}]\n' })
  server.now = T
  folder = mkdtempSync(join(place.home, 'files-'))
})
afterEach(() => server?.stop())

function cli(...args: readonly string[]): Promise<Ended> {
  const env = { PHASELOCK_URL: server.url, PHASELOCK_STATE_DIR: server.stateDir }
  return place.run(args, { env, cwd: folder })
}

function contract(rules: string): string {
  const file = join(folder, 'nodes.yaml')
  writeFileSync(
    file,
    `
mode: discovery
start_node: code
nodes:
  code: {prompt: CODE, rules: ${rules}, transitions: [{when: code_complete, to: done}]}
enforcement: {confinement: best_effort, reconcile: off}
`,
  )
  return file
}

type Fact = readonly [count: number, tool: string, args: Record<string, unknown>]

async function did(facts: readonly Fact[]): Promise<void> {
  const run = JSON.parse(readFileSync(join(server.stateDir, 'run.json'), 'utf8'))
  for (const [count, tool_name, args] of facts)
    for (let i = 0; i < count; i += 1)
      await (tool_name === 'usage'
        ? server.call('POST', '/usage', run.agent_token, args)
        : server.call('POST', '/tools/execute', run.agent_token, { task_id: run.task_id, tool_name, args }))
}

const write = (path: string) => ({ path, content: 'x' })

const CASES: readonly (readonly [
  id: string,
  name: string,
  rules: string,
  facts: readonly Fact[],
  seconds: number,
  said: string,
])[] = [
  [
    'REQ-SEED-1',
    'case 1: a token budget',
    '[{token_budget: {max_tokens: 1000}}]',
    [[1, 'usage', { input_tokens: 800, output_tokens: 700 }]],
    0,
    'Token Budget Exceeded\n\nDiagnostic: Token budget exceeded: 1,500 / 1,000\n',
  ],
  [
    'REQ-SEED-2',
    'case 2: a repeated command',
    '[{repeated_command: {threshold: 3, window: 60}}]',
    [
      [1, 'bash', { command: 'pwd' }],
      [4, 'bash', { command: 'ls' }],
    ],
    0,
    'Repeated Command Detected\n\nDiagnostic: ls executed 4 times in 1 minute\nRecent executions:\n  - 04:26:00: ls\n',
  ],
  [
    'REQ-SEED-3',
    'case 3: a phase timeout',
    '[{phase_timeout: {max_duration: 300}}]',
    [],
    400,
    'Phase Timeout Exceeded\n\nDiagnostic: Phase running for 6m 40s (limit: 5m)\nPhase start: 04:26:00\nCurrent time: 04:32:40\nDuration: 400 seconds\n',
  ],
  [
    'REQ-SEED-4',
    'case 4: a pattern of commands',
    '[{repeated_command: {pattern: "cargo (build|test)", threshold: 5, window: 120}}]',
    [
      [3, 'bash', { command: 'cargo build' }],
      [2, 'bash', { command: 'cargo test' }],
      [1, 'bash', { command: 'cargo fmt' }],
    ],
    0,
    'Diagnostic: cargo build, cargo test executed 5 times in 2 minutes\nPattern: cargo (build|test)\n',
  ],
  [
    'REQ-SEED-5',
    'case 5: a pattern of paths',
    '[{repeated_file_edit: {path_pattern: "src/.*\\\\.rs", threshold: 6, window: 180}}]',
    [
      [4, 'write_files', write('src/main.rs')],
      [3, 'write_files', write('src/lib.rs')],
      [2, 'write_files', write('README.md')],
    ],
    0,
    'Repeated File Edit Detected\n\nDiagnostic: src/main.rs, src/lib.rs edited 7 times in 3 minutes\nPattern: src/.*\\.rs\nRecent edits:\n',
  ],
  [
    'REQ-SEED-6',
    'case 6: the first of several',
    '[{token_budget: {max_tokens: 1000}}, {repeated_command: {threshold: 2, window: 600}}, {phase_timeout: {max_duration: 10}}]',
    [[2, 'bash', { command: 'ls' }]],
    60,
    'WORKFLOW INTERRUPT: Repeated Command Detected',
  ],
]

test.each(CASES)('[%s] %s is told by the command line', async (id, _name, rules, facts, seconds, said) => {
  expect((await cli('start', contract(rules), '--task', 'Stop')).stdout).toContain('CODE')
  await did(facts)
  server.now = T + seconds * 1000
  const asked = await cli('next', 'code_complete')
  expect(asked).toMatchObject({ code: 4 })
  expect(asked.stdout).toContain(said)
  expect(asked.stdout).toContain('  - Run: phaselock continue\n')
  expect((await cli('continue')).stdout).toContain('CODE')
  // Where another rule is violated too, it is its turn now.
  expect(await cli('next', 'code_complete')).toMatchObject({ code: id === 'REQ-SEED-6' ? 4 : 0 })
})

test.each([
  ['case 7', '{repeated_command: {pattern: "[invalid(", threshold: 3, window: 60}}', 'contract.invalid_rule_pattern'],
  ['case 8', '{token_budget: {max_tokens: 0}}', 'contract.invalid_rule_threshold'],
  ['case 9', '{repeated_command: {threshold: 3, window: -10}}', 'contract.invalid_rule_threshold'],
])('[REQ-SEED-7] %s is an error of start and validate, at its place', async (_, rule, code) => {
  const file = contract(`[${rule}]`)
  for (const command of ['validate', 'start']) {
    const ended = await cli(command, file)
    expect(ended.code, command).toBe(1)
    expect(`${ended.stdout}${ended.stderr}`, command).toMatch(new RegExp(`nodes.yaml:5:\\d+: error ${code}`))
  }
})
