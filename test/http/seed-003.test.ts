import { afterEach, describe, expect, it } from 'vitest'
import { type Running, start } from './harness.js'

const T = Date.UTC(2026, 0, 5, 4, 26, 0)

function nodes(rules: string): string {
  return `
mode: discovery
start_node: code
nodes:
  code: {prompt: CODE, rules: ${rules}, transitions: [{when: code_complete, to: done}]}
enforcement: {confinement: best_effort, reconcile: off}
`
}

let run: Running
let token: string
afterEach(() => run?.stop())

async function begin(rules: string): Promise<void> {
  run = await start({ contract: nodes(rules) })
  run.now = T
  await run.addTask({ id: 'T' })
  token = await run.claim('coder', await run.addAgent('coder'), 'T')
}

async function times(count: number, tool_name: string, args: Record<string, unknown>): Promise<void> {
  for (let i = 0; i < count; i += 1) await run.call('POST', '/tools/execute', token, { task_id: 'T', tool_name, args })
}

async function asked(): Promise<Record<string, unknown>> {
  return (await run.call('POST', '/prompt/next', token, { claims: { code_complete: true } })).body
}

describe('the cases of seed 003 over REST', () => {
  it('[REQ-SEED-1] case 1: a token budget triggers', async () => {
    await begin('[{token_budget: {max_tokens: 1000}}]')
    await run.call('POST', '/usage', token, { input_tokens: 800, output_tokens: 700 })
    expect(await asked()).toMatchObject({ violation: { diagnostic: 'Token budget exceeded: 1,500 / 1,000' } })
  })

  it('[REQ-SEED-2] case 2: a repeated command without a pattern', async () => {
    await begin('[{repeated_command: {threshold: 3, window: 60}}]')
    await times(1, 'bash', { command: 'pwd' })
    await times(4, 'bash', { command: 'ls' })
    expect(await asked()).toMatchObject({ violation: { diagnostic: 'ls executed 4 times in 1 minute' } })
  })

  it('[REQ-SEED-3] case 3: a phase timeout', async () => {
    await begin('[{phase_timeout: {max_duration: 300}}]')
    run.now = T + 400_000
    expect(await asked()).toMatchObject({ violation: { diagnostic: 'Phase running for 6m 40s (limit: 5m)' } })
  })

  it('[REQ-SEED-4] case 4: a repeated command with a pattern', async () => {
    await begin('[{repeated_command: {pattern: "cargo (build|test)", threshold: 5, window: 120}}]')
    await times(3, 'bash', { command: 'cargo build' })
    await times(1, 'bash', { command: 'cargo fmt' })
    await times(5, 'bash', { command: 'git status' })
    await times(1, 'bash', { command: 'cargo test' })
    expect((await run.call('GET', '/prompt', token)).body.kind).toBe('prompt')
    await times(1, 'bash', { command: 'cargo test' })
    const answer = await asked()
    expect(answer).toMatchObject({
      violation: { diagnostic: 'cargo build, cargo test executed 5 times in 2 minutes' },
    })
    expect(answer.text).toContain('Pattern: cargo (build|test)\n')
  })

  it('[REQ-SEED-5] case 5: file edits with a pattern', async () => {
    await begin('[{repeated_file_edit: {path_pattern: "src/.*\\\\.rs", threshold: 6, window: 180}}]')
    await times(2, 'write_files', { path: 'README.md', content: 'x' })
    await times(4, 'write_files', { path: 'src/main.rs', content: 'x' })
    await times(3, 'write_files', { path: 'src/lib.rs', content: 'x' })
    expect(await asked()).toMatchObject({
      violation: { diagnostic: 'src/main.rs, src/lib.rs edited 7 times in 3 minutes' },
    })
  })

  it('[REQ-SEED-6] case 6: of several rules the first that is violated wins', async () => {
    await begin(
      '[{token_budget: {max_tokens: 1000}}, {repeated_command: {threshold: 2, window: 600}}, {phase_timeout: {max_duration: 10}}]',
    )
    await run.call('POST', '/usage', token, { input_tokens: 1, output_tokens: 1 })
    await times(2, 'bash', { command: 'ls' })
    run.now = T + 60_000
    expect(await asked()).toMatchObject({ violation: { rule_type: 'repeated_command' } })
  })

  it.each([
    [
      'case 7: a pattern that is none',
      '{repeated_command: {pattern: "[invalid(", threshold: 3, window: 60}}',
      'InvalidRulePattern',
    ],
    ['case 8: a threshold of zero', '{token_budget: {max_tokens: 0}}', 'InvalidRuleThreshold'],
    ['case 9: a negative window', '{repeated_command: {threshold: 3, window: -10}}', 'InvalidRuleThreshold'],
    ['an unknown rule', '{repeat: {threshold: 3}}', 'UnknownRuleType'],
  ])('[REQ-SEED-7] %s is an error at load', async (_, rule, kind) => {
    await begin('[]')
    const added = await run.call('POST', '/contracts', run.operator, { source: nodes(`[${rule}]`) })
    expect(added).toMatchObject({ status: 400, body: { code: 'contract.invalid' } })
    expect(added.body.errors).toMatchObject([{ kind, line: 5, extra: { rule_id: 'code[0]' } }])
  })
})
