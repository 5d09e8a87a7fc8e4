import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { type Answer, type Running, start } from '../http/harness.js'

/** A phase with rules, and one behind it. */
function nodes(rules: string): string {
  return `
mode: discovery
start_node: code
nodes:
  code:
    prompt: Write
    rules: ${rules}
    transitions: [{when: code_complete, to: review}]
  review:
    prompt: Look
    transitions: [{when: review_complete, to: done}]
enforcement: {confinement: best_effort, reconcile: off}
`
}

let run: Running
let token: string
afterEach(() => run?.stop())

async function begin(contract: string): Promise<void> {
  run = await start({ contract })
  run.now = Date.UTC(2026, 0, 5, 4, 0, 0)
  await run.addTask({ id: 'T', title: 'Loop unseen' })
  token = await run.claim('coder', await run.addAgent('coder'), 'T')
}
const use = (tool_name: string, args: object): Promise<Answer> =>
  run.call('POST', '/tools/execute', token, { task_id: 'T', tool_name, args })
const bash = (command: string) => use('bash', { command })
const write = (path: string) => use('write_files', { path, content: 'x' })
const cont = () => run.call('POST', '/prompt/continue', token, {})
const status = async () => (await run.call('GET', '/tasks/T', run.operator)).body.status
const refusedByRule = { status: 409, body: { code: 'rule_interrupt' } }

describe('an agent that leaves one violation open to hide behind it', () => {
  it('[REQ-LOOP-1] an interrupt that nobody acknowledges does not keep a rule that denies from denying', async () => {
    await begin(
      nodes(
        '[{repeated_command: {pattern: "^true", threshold: 2, window: 600}}, {repeated_command: {pattern: "^echo", threshold: 2, window: 600, on_violation: deny}}]',
      ),
    )
    for (const _ of [1, 2]) await bash('true')
    await bash('echo a')
    expect((await bash('echo b')).body.interrupt).toMatchObject({ violation: { rule_type: 'repeated_command' } })
    expect(await bash('echo c')).toMatchObject(refusedByRule)
    expect((await bash('true')).status, 'what only interrupts is not refused').toBe(200)
    await cont()
    expect((await bash('echo c')).status).toBe(200)
    expect((await run.call('GET', '/prompt', token)).body.kind, 'the first one is still open').toBe('interrupt')
  })

  it('[REQ-LOOP-1] an interrupt that nobody acknowledges does not keep a rule that parks from parking', async () => {
    await begin(
      nodes('[{repeated_command: {threshold: 2, window: 600}}, {token_budget: {max_tokens: 100, on_violation: park}}]'),
    )
    for (const _ of [1, 2]) await bash('true')
    await run.call('POST', '/usage', token, { input_tokens: 90, output_tokens: 90 })
    expect(await status()).toBe('parked')
  })

  it('[REQ-LOOP-1] two rules that deny refuse both loops, in whichever order they are acknowledged', async () => {
    await begin(
      nodes(
        '[{repeated_command: {pattern: "^true", threshold: 2, window: 600, on_violation: deny}}, {repeated_file_edit: {threshold: 2, window: 600, on_violation: deny}}]',
      ),
    )
    for (const _ of [1, 2]) await bash('true')
    for (const _ of [1, 2]) await write('a.txt')
    expect(await write('a.txt')).toMatchObject(refusedByRule)
    expect(await bash('true')).toMatchObject(refusedByRule)
    expect((await write('b.txt')).status).toBe(200)
    await cont()
    const after = [(await write('a.txt')).status, (await bash('true')).status]
    expect(after.toSorted(), 'one was acknowledged, the other was not').toEqual([200, 409])
    await cont()
    expect([(await write('a.txt')).status, (await bash('true')).status]).toEqual([200, 200])
  })
})

describe('an agent that writes one thing in many ways', () => {
  it('[REQ-LOOP-2] one file is one file, however its path is spelled', async () => {
    await begin(nodes('[{repeated_file_edit: {path_pattern: "^src/", threshold: 3, window: 600, on_violation: deny}}]'))
    await write('./src/a.txt')
    await write('src//a.txt')
    const third = await write('x/../src/./a.txt')
    expect(third.body.interrupt).toMatchObject({ violation: { diagnostic: 'src/a.txt edited 3 times in 10 minutes' } })
    expect(await write('./src/a.txt')).toMatchObject(refusedByRule)
  })

  it('[REQ-LOOP-2] one file is one file without a pattern too, and at the end of a long list', async () => {
    await begin(nodes('[{repeated_file_edit: {threshold: 2, window: 600}}]'))
    const many = (turn: number) =>
      use('write_files', {
        files: [
          ...Array.from({ length: 150 }, (_, index) => ({ path: `f${turn}/${index}`, content: 'x' })),
          { path: turn === 1 ? 'a.txt' : './a.txt', content: String(turn) },
        ],
      })
    expect((await many(1)).body.interrupt).toBeUndefined()
    expect((await many(2)).body.interrupt).toMatchObject({
      violation: { diagnostic: 'a.txt edited 2 times in 10 minutes' },
    })
  })
})

describe('a phase that Phaselock leaves by itself', () => {
  const CONTRACT = `
name: hands-off
version: "1"
phases:
  - id: WRITE
    allowed_tools: [write_files, git_commit]
    rules: [{require_commits: {lookback_phases: 1}}]
    gates:
      - {id: written, type: validation, auto_advance: true, blockers: [{check: file_exists, path: note.md, message: Write}]}
  - {id: READ, allowed_tools: [read_files], gates: [{id: read, type: validation, blockers: [{check: file_exists, path: never.md, message: Never}]}]}
  - {id: DONE, allowed_tools: []}
`

  it('[REQ-LOOP-3] is not left while a rule asks for a commit that nobody made', async () => {
    run = await start({ contract: CONTRACT })
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@y', ...args], { cwd: run.workspace, stdio: 'pipe' })
    if (!existsSync(join(run.workspace, '.git'))) git('init', '-q')
    git('commit', '-q', '--allow-empty', '-m', 'old', '--date', '2020-01-01T00:00:00Z')
    run.now = Date.now() + 3_600_000
    await run.addTask({ id: 'T', title: 'Loop unseen' })
    token = await run.claim('coder', await run.addAgent('coder'), 'T')
    expect((await write('note.md')).body.advanced).toBeUndefined()
    expect((await run.call('GET', '/tasks/T', run.operator)).body.phase).toBe('WRITE')
  })
})
