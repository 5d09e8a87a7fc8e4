import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../src/core/json.js'
import { readClaudeCodeHook } from '../../src/hooks/claude-code.js'
import { CLAUDE_CODE_ANSWERS } from '../../src/hooks/claude-code-answers.js'
import { toFact } from '../../src/hooks/claude-code-facts.js'
import { toContractCalls } from '../../src/hooks/claude-code-tools.js'
import { resolveTreePath } from '../../src/hooks/tree-path.js'

const BODY: JsonObject = {
  session_id: 's',
  transcript_path: '/home/a/.claude/projects/-tree/s.jsonl',
  cwd: '/tree',
  permission_mode: 'default',
  hook_event_name: 'PreToolUse',
  tool_name: 'Bash',
  tool_input: { command: 'npm test' },
  tool_use_id: 'toolu_1',
}

function hookOf(change: Readonly<Record<string, Json>>) {
  const read = readClaudeCodeHook({ ...BODY, ...change })
  if (!read.ok) throw new Error(read.detail)
  if (read.hook.kind !== 'before_tool' && read.hook.kind !== 'after_tool') throw new Error(read.hook.kind)
  return read.hook
}

const translated = (tool_name: string, tool_input: JsonObject, cwd = '/tree') =>
  toContractCalls(hookOf({ tool_name, tool_input, cwd }), '/tree')
const callOf = (tool_name: string, tool_input: JsonObject, cwd = '/tree') => {
  const found = translated(tool_name, tool_input, cwd)
  if (found.kind !== 'calls' || found.calls[0] === undefined) throw new Error(JSON.stringify(found))
  const { tool, args } = found.calls[0]
  return { tool, args }
}

describe('the body of a hook', () => {
  it.each<[string, Readonly<Record<string, Json>>]>([
    ['tool_name', { tool_name: 7 }],
    ['tool_name', { tool_name: '' }],
    ['tool_name', { tool_name: 'x'.repeat(201) }],
    ['tool_name', { tool_name: 'Bash\u0000' }],
    ['tool_input', { tool_input: 'rm' }],
    ['tool_input', { tool_input: ['rm'] }],
    ['tool_input', { tool_input: null }],
    ['tool_use_id', { tool_use_id: {} }],
    ['tool_use_id', { tool_use_id: '../../etc' }],
    ['tool_use_id', { tool_use_id: 'x'.repeat(201) }],
    ['cwd', { cwd: 'tree' }],
    ['cwd', { cwd: '/tree\u0000' }],
    ['cwd', { cwd: `/${'x'.repeat(5000)}` }],
    ['duration_ms', { duration_ms: -1 }],
    ['duration_ms', { duration_ms: '5' }],
    ['transcript_path', { transcript_path: [] }],
    ['agent_id', { agent_id: '../x' }],
    ['session_id', { session_id: '../x' }],
    ['session_id', { session_id: 7 }],
    ['hook_event_name', { hook_event_name: 'Notification' }],
    ['hook_event_name', { hook_event_name: 'constructor' }],
    ['cwd', { hook_event_name: 'Stop', cwd: 7 }],
    ['hook_event_name', { hook_event_name: 'pretooluse' }],
    ['hook_event_name', { hook_event_name: ['PreToolUse'] }],
  ])('[REQ-HOOK-1] a wrong %s is refused by name: %j', (field, change) => {
    const read = readClaudeCodeHook({ ...BODY, ...change })
    expect(read).toMatchObject({ ok: false, detail: expect.stringMatching(new RegExp(`^${field}: `)) })
  })

  it('[REQ-HOOK-1] fields that are not known are ignored', () => {
    expect(readClaudeCodeHook({ ...BODY, effort: { level: 'high' }, future: [1, 2] })).toMatchObject({ ok: true })
  })

  it('[REQ-HOOK-2] a refusal keeps everything from running, and never keeps an agent from ending', () => {
    const { refuse } = CLAUDE_CODE_ANSWERS
    for (const body of [null, 'x', [], {}, { hook_event_name: 7 }, { hook_event_name: 'PreToolUse' }])
      expect(refuse(body, 'no')).toMatchObject({ hookSpecificOutput: { permissionDecision: 'deny' } })
    for (const event of ['PostToolUse', 'UserPromptSubmit', 'ConfigChange', 'PreCompact', 'Unheard'])
      expect(refuse({ hook_event_name: event }, 'no')).toEqual({ decision: 'block', reason: 'no' })
    for (const event of ['Stop', 'SubagentStop', 'SessionEnd'])
      expect(refuse({ hook_event_name: event }, 'no')).toEqual({ continue: true, systemMessage: 'no' })
    for (const event of ['SessionStart', 'SubagentStart'])
      expect(refuse({ hook_event_name: event }, 'no')).toMatchObject({ hookSpecificOutput: { hookEventName: event } })
  })
})

describe('paths', () => {
  const place = { cwd: '/tree/sub', tree: '/tree' }

  it.each([
    ['', 'is empty'],
    ['a\0b', 'contains a NUL character'],
    ['a\\b', 'contains a backslash'],
    [' /etc/passwd', 'begins or ends with white space'],
    ['src/a ', 'begins or ends with white space'],
    ['~/.ssh/id', 'begins with "~"'],
    ['cafe\u0301', 'is not in the Unicode form NFC'],
  ])('[REQ-HOOK-3] %j is not a path: the agent CLI would read it otherwise', (path, problem) => {
    expect(resolveTreePath(path, place)).toEqual({ ok: false, problem })
  })

  it.each([
    ['/etc/passwd', '/etc/passwd'],
    ['/tree/../etc/passwd', '/etc/passwd'],
    ['../../etc/passwd', '/etc/passwd'],
    ['/treehouse/a', '/treehouse/a'],
    ['/tree-2', '/tree-2'],
    ['/', '/'],
  ])('[REQ-HOOK-3] %s is outside and stays absolute', (path, absolute) => {
    expect(resolveTreePath(path, place)).toEqual({ ok: true, path: absolute })
  })

  it.each([
    ['/tree/src/a.ts', 'src/a.ts'],
    ['/tree/./src/../a.ts', 'a.ts'],
    ['a.ts', 'sub/a.ts'],
    ['../a.ts', 'a.ts'],
    ['/tree', '.'],
    ['/tree/', '.'],
  ])('[REQ-HOOK-3] %s becomes %s', (path, relative) => {
    expect(resolveTreePath(path, place)).toEqual({ ok: true, path: relative })
  })
})

describe('calls', () => {
  it('[REQ-HOOK-4] a tool that maps to nothing is never a tool of the contract by its name', () => {
    for (const name of ['bash', 'read_files', 'Monitor', 'Skill', 'CronCreate', 'mcp__', 'mcp__x', 'BASH', 'Bash '])
      expect(callOf(name, {}).tool).toBe(`claude-code:${name}`)
  })

  it('[REQ-HOOK-4] what cannot be read is not a call', () => {
    expect(translated('Write', { content: 'x' }).kind).toBe('unreadable')
    expect(translated('Edit', { file_path: 7 }).kind).toBe('unreadable')
    expect(translated('Read', { file_path: '~/x' }).kind).toBe('unreadable')
    expect(translated('Grep', { pattern: 'x', path: ['a'] }).kind).toBe('unreadable')
    expect(translated('apply_patch', { command: 'rm -rf /' }).kind).toBe('unreadable')
    expect(translated('AskUserQuestion', { questions: [{}] }).kind).toBe('unreadable')
  })

  it('[REQ-HOOK-4] an argument that is not known goes on, to be refused', () => {
    expect(callOf('Bash', { command: 'x', run_in_background: true }).args).toHaveProperty('run_in_background')
    expect(callOf('Bash', { command: 'x', dangerouslyDisableSandbox: true }).args).toHaveProperty(
      'dangerouslyDisableSandbox',
    )
    expect(callOf('Write', { file_path: '/tree/a', content: 'x', new_flag: 1 }).args).toHaveProperty('new_flag')
    expect(callOf('Bash', { command: 'x', run_in_background: false }).args).toEqual({ command: 'x' })
  })

  it.each<[string, JsonObject, string, JsonObject]>([
    ['Bash', { command: 'ls', description: 'List', timeout: 1500 }, 'bash', { command: 'ls', timeout: 2 }],
    ['Write', { file_path: '/tree/a', content: 'x' }, 'write_files', { path: 'a', content: 'x' }],
    ['Write', { file_path: '/etc/a', content: 'x' }, 'write_files', { path: '/etc/a', content: 'x' }],
    ['Read', { file_path: '/tree/a', offset: 1, limit: 5 }, 'read_files', { path: 'a', offset: 0, limit: 5 }],
    [
      'Edit',
      { file_path: '/tree/a', old_string: 'x', new_string: 'y', replace_all: false },
      'edit_files',
      { path: 'a', edits: [{ old: 'x', new: 'y', replace_all: false }] },
    ],
    [
      'MultiEdit',
      { file_path: '/tree/a', edits: [{ old_string: 'x', new_string: 'y' }] },
      'edit_files',
      { path: 'a', edits: [{ old: 'x', new: 'y' }] },
    ],
    [
      'NotebookEdit',
      { notebook_path: '/tree/a.ipynb', cell_id: '1', new_source: 'x' },
      'edit_files',
      { path: 'a.ipynb', edits: [{ old: '', new: 'x' }] },
    ],
    ['Grep', { pattern: 'x', '-i': true, output_mode: 'content' }, 'grep', { pattern: 'x', ignore_case: true }],
    ['Glob', { pattern: '*.ts', path: '/tree/src' }, 'glob', { pattern: '*.ts', path: 'src' }],
    ['WebFetch', { url: 'https://x.test', prompt: 'p' }, 'web_fetch', { url: 'https://x.test' }],
    ['WebSearch', { query: 'q' }, 'web_search', { query: 'q' }],
    ['Agent', { prompt: 'p' }, 'spawn_agent', { prompt: 'p' }],
    ['Task', { prompt: 'p' }, 'spawn_agent', { prompt: 'p' }],
    ['AskUserQuestion', { questions: [{ question: 'a?' }] }, 'ask_user_question', { question: 'a?' }],
    ['mcp__db__run__it', { q: 1 }, 'db.run__it', { q: 1 }],
  ])('[REQ-HOOK-4] %s %j is %s', (name, input, tool, args) => {
    expect(callOf(name, input)).toEqual({ tool, args })
  })

  it('[REQ-HOOK-4] a command runs in the folder of the agent CLI', () => {
    expect(callOf('Bash', { command: 'x' }, '/tree/sub').args).toEqual({ command: 'x', cwd: 'sub' })
    expect(callOf('Bash', { command: 'x' }, '/etc').args).toEqual({ command: 'x', cwd: '/etc' })
  })

  it('[REQ-HOOK-4] a patch is one call for each file it names', () => {
    const command =
      '*** Begin Patch\n*** Update File: a.ts\n@@\n-x\n+y\n*** Add File: /etc/x\n+z\n*** Move to: b.ts\n*** End Patch'
    const found = translated('apply_patch', { command })
    expect(found.kind === 'calls' && found.calls.map((one) => one.args.path)).toEqual(['a.ts', '/etc/x', 'b.ts'])
  })
})

describe('facts', () => {
  const fact = (change: Readonly<Record<string, Json>>) =>
    toFact(hookOf({ hook_event_name: 'PostToolUse', ...change }), '/tree')

  it('[REQ-HOOK-5] an id that comes again with another command is another call', () => {
    const first = fact({ tool_use_id: 't1' })
    expect(fact({ tool_use_id: 't1' }).factId).toBe(first.factId)
    expect(fact({ tool_use_id: 't1', hook_event_name: 'PostToolUseFailure' }).factId).toBe(first.factId)
    expect(fact({ tool_use_id: 't1', tool_input: { command: 'npm test ' } }).factId).not.toBe(first.factId)
    expect(fact({ tool_use_id: null }).factId).toBeNull()
  })

  it('[REQ-HOOK-5] each editing tool reports its path, even one that would be refused', () => {
    const paths = (tool_name: string, tool_input: JsonObject) => fact({ tool_name, tool_input }).paths
    expect(paths('Edit', { file_path: '/tree/src/a.ts' })).toEqual(['src/a.ts'])
    expect(paths('Write', { file_path: '/etc/passwd' })).toEqual(['/etc/passwd'])
    expect(paths('MultiEdit', { file_path: '/tree/src/../a.ts' })).toEqual(['a.ts'])
    expect(paths('NotebookEdit', { notebook_path: '~/n.ipynb' })).toEqual(['~/n.ipynb'])
    expect(paths('Write', { file_path: 'a\0b' })).toEqual(['a\ufffdb'])
    expect(paths('Edit', { file_path: 7 })).toEqual([])
    expect(paths('Read', { file_path: '/tree/a' })).toEqual([])
  })

  it('[REQ-HOOK-5] files that a shell command changed are edits, however they are listed', () => {
    const tool_response = { bashEditDiff: { changedFiles: ['/tree/a', { filePath: '/tree/b' }, 7, null] } }
    expect(fact({ tool_response })).toMatchObject({ command: 'npm test', paths: ['a', 'b'], success: true })
    for (const response of [null, 'x', { bashEditDiff: 'x' }, { bashEditDiff: { changedFiles: {} } }])
      expect(fact({ tool_response: response }).paths).toEqual([])
    const many = { bashEditDiff: { changedFiles: Array.from({ length: 5000 }, (_, i) => `/tree/${i}`) } }
    expect(fact({ tool_response: many }).paths).toHaveLength(100)
  })

  it('[REQ-HOOK-5] a failure is none', () => {
    expect(fact({ hook_event_name: 'PostToolUseFailure', duration_ms: 12.4 })).toMatchObject({
      success: false,
      durationMs: 12,
    })
  })
})

describe('answers', () => {
  it('[REQ-HOOK-2] a decision is where the agent CLI looks for it, and is never longer than it shows', () => {
    expect(CLAUDE_CODE_ANSWERS.decide('deny', 'no')).toEqual({
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        permissionDecision: 'deny',
        permissionDecisionReason: 'no',
      },
    })
    expect(JSON.stringify(CLAUDE_CODE_ANSWERS.decide('deny', '😀'.repeat(50_000))).length).toBeLessThan(10_000)
  })

  it('[REQ-HOOK-6] nothing to say is an empty object', () => {
    expect(CLAUDE_CODE_ANSWERS.tellAfter('PostToolUse', { interrupt: null, note: null })).toEqual({})
    expect(CLAUDE_CODE_ANSWERS.tellAfter('PostToolUseFailure', { interrupt: 'stop', note: 'n' })).toEqual({
      hookSpecificOutput: { hookEventName: 'PostToolUseFailure', additionalContext: 'stop' },
      systemMessage: 'n',
    })
  })
})
