import { afterEach, describe, expect, it } from 'vitest'
import { type Answer, type Running, start } from './harness.js'

const contract = (rules: string) => `
mode: discovery
start_node: code
nodes:
  code:
    prompt: You are in the CODE phase
    rules: ${rules}
    transitions: [{when: code_complete, to: review}]
  review:
    prompt: You are in the REVIEW phase
    transitions: [{when: review_complete, to: done}]
enforcement: {confinement: best_effort, reconcile: off}
`
const LOOP = '[{repeated_command: {pattern: "cargo build", threshold: 3, window: 60}}]'

let run: Running
let agent: string
afterEach(() => run?.stop())

async function begin(rules: string): Promise<void> {
  run = await start({ contract: contract(rules) })
  run.now = Date.UTC(2026, 0, 5, 4, 0, 0)
  await run.addTask({ id: 'T' })
  agent = await run.addAgent('coder')
  await run.claim('coder', agent, 'T')
}
let uses = 0
const hook = (tool_name: string, tool_input: object): Promise<Answer> => {
  uses += 1
  return run.call('POST', '/hooks/claude-code', agent, {
    hook_event_name: 'PostToolUse',
    ...{ cwd: run.workspace, tool_name, tool_input, tool_use_id: `toolu_${uses}` },
  })
}
const build = () => hook('Bash', { command: 'cargo build' })
const next = (claim: string) => run.call('POST', '/prompt/next', agent, { claims: { [claim]: true } })
const cont = () => run.call('POST', '/prompt/continue', agent, {})

describe('the success criteria of seed 003', () => {
  it('[REQ-CRITERION-1] case 10, through hooks: a loop replaces the prompt by guidance, and continue gives it back once', async () => {
    await begin(LOOP)
    for (const _ of [1, 2, 3, 4]) await build()
    const asked = await next('claim')
    expect(asked.body).toMatchObject({ kind: 'interrupt', phase: 'code' })
    const text = String(asked.body.text)
    for (const words of [
      'Diagnostic: cargo build executed 4 times in 1 minute',
      'Recent executions:\n  - 04:00:00: cargo build',
      "Suggestion: You're stuck in a build loop.",
      'REFLECT AND DECIDE:',
      'If you can fix this yourself:',
      'If you need human help:',
    ])
      expect(text).toContain(words)
    expect(text).not.toContain('You are in the CODE phase')
    expect((await cont()).body).toEqual({ kind: 'prompt', text: 'You are in the CODE phase', phase: 'code' })
    expect((await next('claim')).body.kind, 'bypassed once').toBe('interrupt')
  })

  it('[REQ-CRITERION-2] without a task, continue and next say so, and what to do', async () => {
    await begin('[]')
    await run.call('POST', '/tasks/release', agent, {})
    for (const answer of [await cont(), await next('code_complete')])
      expect(answer.body).toMatchObject({
        code: 'no_active_task',
        remedy: expect.stringMatching(/./),
        title: expect.any(String),
      })
  })

  it('[REQ-CRITERION-3] each of the five rules is known by its name, in either shape', async () => {
    const shapes = [
      ['repeated_command', 'threshold: 3, window: 60'],
      ['repeated_file_edit', 'path_pattern: "src/.*", threshold: 3, window: 60'],
      ['phase_timeout', 'max_duration: 5'],
      ['token_budget', 'max_tokens: 5'],
      ['require_commits', 'lookback_phases: 1'],
    ] as const
    await begin('[]')
    for (const rule of shapes.flatMap(([type, fields]) => [`{${type}: {${fields}}}`, `{type: ${type}, ${fields}}`]))
      expect(await run.call('POST', '/contracts', run.operator, { source: contract(`[${rule}]`) })).toMatchObject({
        status: 201,
      })
  })

  it.each([
    ['{repeated_command: {pattern: "(?=x)", threshold: 1, window: 1}}', 'InvalidRulePattern'],
    ['{repeated_file_edit: {path_pattern: "(a", threshold: 1, window: 1}}', 'InvalidRulePattern'],
    ['{phase_timeout: {max_duration: 0}}', 'InvalidRuleThreshold'],
    ['{token_budget: {max_tokens: 1.5}}', 'InvalidRuleThreshold'],
    ['{loop_detector: {threshold: 1}}', 'UnknownRuleType'],
  ])('[REQ-CRITERION-4] %s does not load: %s, where it stands, which rule, and what to do', async (rule, kind) => {
    await begin('[]')
    const added = await run.call('POST', '/contracts', run.operator, { source: contract(`[${rule}]`) })
    expect(added).toMatchObject({ status: 400, body: { code: 'contract.invalid', remedy: expect.stringMatching(/./) } })
    expect(added.body.errors).toMatchObject([
      { kind, line: 7, message: expect.stringMatching(/./), extra: { rule_id: 'code[0]' } },
    ])
  })

  it('[REQ-CRITERION-5] rules of CODE do not hold in REVIEW, where the clock starts again', async () => {
    await begin('[{phase_timeout: {max_duration: 60}}, {repeated_command: {threshold: 3, window: 3600}}]')
    run.now = (run.now ?? 0) + 50_000
    expect((await next('code_complete')).body).toMatchObject({ kind: 'prompt', phase: 'review' })
    run.now = (run.now ?? 0) + 3_600_000
    for (const _ of [1, 2, 3, 4, 5]) expect((await build()).body).toEqual({})
    expect((await run.call('GET', '/prompt', agent)).body).toMatchObject({ kind: 'prompt', phase: 'review' })
  })
})
