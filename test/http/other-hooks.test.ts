import { afterEach, describe, expect, it } from 'vitest'
import { type Answer, type Running, start } from './harness.js'

const CONTRACT = `
name: hooked
version: "1"
phases:
  - id: PLAN
    allowed_tools: [read_files, grep, glob]
  - id: CODE
    allowed_tools: [read_files, write_files, edit_files, bash]
    tool_constraints:
      write_files: {allowed_patterns: ["src/**"]}
      edit_files: {allowed_patterns: ["src/**"]}
    rules: [{repeated_command: {pattern: "npm test", threshold: 3, window: 60}}]
  - {id: DONE, allowed_tools: []}
transitions: [{from: PLAN, to: CODE}, {from: CODE, to: DONE}]
enforcement: {confinement: best_effort, reconcile: off, denial_budget: 100}
`

const DOORS = [
  { cli: 'codex', before: 'PreToolUse', after: 'PostToolUse', shell: 'Bash', write: ['apply_patch', 'command'] },
  {
    cli: 'gemini',
    before: 'BeforeTool',
    after: 'AfterTool',
    shell: 'run_shell_command',
    write: ['write_file', 'file_path'],
  },
  { cli: 'cursor', before: 'preToolUse', after: 'postToolUse', shell: 'Shell', write: ['Write', 'path'] },
  { cli: 'copilot', before: 'PreToolUse', after: 'PostToolUse', shell: 'Bash', write: ['Write', 'path'] },
  {
    cli: 'opencode',
    before: 'tool.execute.before',
    after: 'tool.execute.after',
    shell: 'bash',
    write: ['write', 'filePath'],
  },
] as const
/** The name of a tool of Phaselock, and what is said beside it. */
const OWN: Readonly<Record<string, object>> = {
  codex: { tool_name: 'mcp__phaselock__claim_task' },
  gemini: { tool_name: 'mcp_phaselock_claim_task', mcp_context: { server_name: 'phaselock', tool_name: 'claim_task' } },
  cursor: { tool_name: 'MCP:claim_task' },
  copilot: { tool_name: 'phaselock-claim_task' },
  opencode: { tool_name: 'phaselock_claim_task' },
}
const CONTENT: Readonly<Record<string, object>> = {
  gemini: { content: 'x' },
  cursor: { contents: 'x' },
  copilot: { file_text: 'x' },
  opencode: { content: 'x' },
}

let run: Running
let agent: string
let token: string
afterEach(async () => {
  expect(run.faults).toEqual([])
  await run.stop()
})

async function begin(phase: 'PLAN' | 'CODE'): Promise<void> {
  run = await start({ contract: CONTRACT })
  await run.addTask({ id: 'T' })
  agent = await run.addAgent('coder')
  token = await run.claim('coder', agent, 'T')
  if (phase === 'CODE') await run.call('POST', '/tasks/transition', token, { task_id: 'T', target_phase: 'CODE' })
}

/** How one agent CLI talks to its door. */
function talkAs({ cli, before, after, shell, write }: (typeof DOORS)[number]) {
  const send = (body: unknown, as: string | null = agent): Promise<Answer> =>
    run.call('POST', `/hooks/${cli}`, as, body)
  const bodyOf = (more: object): object => ({
    ...{ hook_event_name: before, session_id: 's1', conversation_id: 's1', cwd: run.workspace, ...more },
  })
  return {
    send,
    bodyOf,
    ask: (tool_name: string, tool_input: object, more: object = {}) => send(bodyOf({ tool_name, tool_input, ...more })),
    run: (command: string, more: object = {}) => send(bodyOf({ tool_name: shell, tool_input: { command }, ...more })),
    did: (command: string) =>
      send(bodyOf({ hook_event_name: after, tool_name: shell, tool_input: { command }, tool_result: {} })),
    write: (path: string) =>
      send(
        bodyOf({
          tool_name: write[0],
          tool_input:
            cli === 'codex'
              ? { command: `*** Begin Patch\n*** Add File: ${path}\n+x\n*** End Patch\n` }
              : { [write[1]]: `${run.workspace}/${path}`, ...CONTENT[cli] },
        }),
      ),
  }
}

function readWord(cli: string, { status, body }: Answer): string {
  expect(status).toBe(200)
  const inner = body.hookSpecificOutput as { permissionDecision?: string } | undefined
  const word = inner?.permissionDecision ?? body.permissionDecision ?? body.permission ?? body.decision
  return String(word ?? (cli === 'codex' ? 'allow' : ''))
}

function expectDenied(cli: string, answer: Answer, code: string): void {
  expect(readWord(cli, answer), `${cli} ${JSON.stringify(answer.body)}`).toBe('deny')
  expect(JSON.stringify(answer.body), cli).toContain(`[${code}]`)
}

const expectAllowed = (cli: string, answer: Answer): void =>
  expect(readWord(cli, answer), `${cli} ${JSON.stringify(answer.body)}`).toBe('allow')

describe('the hooks of Codex, Gemini CLI, Cursor, Copilot CLI and OpenCode', () => {
  it('[REQ-HOOK-31] malformed, truncated, huge, foreign and unknown ones are refused in their words, and the server lives on', async () => {
    await begin('CODE')
    for (const door of DOORS) {
      const { send, bodyOf, run: shell } = talkAs(door)
      const { cli } = door
      expectDenied(cli, await send('{"hook_event_name": "PreToolUse", "tool_na'), 'invalid_request')
      expectDenied(cli, await send('[]'), 'invalid_request')
      expectDenied(cli, await send({}), 'invalid_request')
      expectDenied(cli, await send(bodyOf({ tool_name: door.shell, tool_input: 'ls' })), 'invalid_request')
      expectDenied(cli, await send(bodyOf({ tool_name: 7, tool_input: {} })), 'invalid_request')
      expectDenied(cli, await send(bodyOf({ hook_event_name: 'FromTheFuture' })), 'invalid_request')
      expectDenied(cli, await shell('x'.repeat(11 * 1024 * 1024)), 'payload_too_large')
      expectDenied(cli, await shell('ls', { cwd: '.', workspace_roots: ['.'] }), 'invalid_request')
      // The payload of another agent CLI.
      const foreign = { hook_event_name: cli === 'gemini' ? 'PreToolUse' : 'BeforeTool', tool_name: 'Bash' }
      expectDenied(cli, await send(bodyOf({ ...foreign, tool_input: { command: 'ls' } })), 'invalid_request')
      expectAllowed(cli, await shell('ls'))
    }
  })

  it('[REQ-HOOK-31] a wrong secret, an operator, a stale token and the session of somebody else are refused', async () => {
    await begin('CODE')
    const other = await run.addAgent('other')
    for (const door of DOORS) {
      const { send, bodyOf, run: shell } = talkAs(door)
      const { cli } = door
      const body = bodyOf({ tool_name: door.shell, tool_input: { command: 'ls' } })
      expectDenied(cli, await send(body, null), 'token_missing')
      expectDenied(cli, await send(body, 'x.y.z'), 'token_invalid')
      expectDenied(cli, await send(body, run.operator), 'not_permitted')
      expectDenied(cli, await send(body, other), 'no_active_task')
      expectDenied(cli, await send(body, token), 'token_stale')
      expectAllowed(cli, await send(body))
      expectDenied(cli, await shell('ls', { session_id: 's2', conversation_id: 's2' }), 'token_mismatch')
    }
  })

  it('[REQ-HOOK-30] the contract decides: phase, path and unknown tools; tools of Phaselock pass before a claim', async () => {
    await begin('PLAN')
    const other = await run.addAgent('other')
    for (const door of DOORS) {
      const { ask, run: shell, send, bodyOf, write } = talkAs(door)
      expectDenied(door.cli, await shell('ls'), 'forbidden_tool')
      expectDenied(door.cli, await write('src/a.js'), 'forbidden_tool')
      expectDenied(door.cli, await ask('from_the_future', {}), 'unknown_tool')
      expectAllowed(door.cli, await send(bodyOf({ tool_input: {}, ...OWN[door.cli] }), other))
    }
    await run.call('POST', '/tasks/transition', agent, { task_id: 'T', target_phase: 'CODE' })
    for (const door of DOORS) {
      const { run: shell, write } = talkAs(door)
      expectDenied(door.cli, await write('docs/a.md'), 'constraint_violation')
      expectAllowed(door.cli, await write('src/a.js'))
      expectAllowed(door.cli, await shell('ls'))
    }
  })

  it.each(DOORS)(
    '[REQ-HOOK-32] what $cli did counts for rules, and the interrupt comes back in its words',
    async (door) => {
      await begin('CODE')
      const { did } = talkAs(door)
      await did('npm test')
      await did('npm test')
      expect(JSON.stringify((await did('npm test')).body)).toMatch(/npm test.*continue/s)
    },
  )
})
