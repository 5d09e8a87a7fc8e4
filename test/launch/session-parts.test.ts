import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Approval, Question } from 'phaselock/sdk'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { formatApprovalForm, formatQuestionForm, readFormAnswer } from '../../src/cli/launch/approval-form.js'
import { CLAUDE_CODE } from '../../src/cli/launch/claude-code.js'
import { CODEX } from '../../src/cli/launch/codex.js'
import { compareVersions, findAgentCli, requireVersion } from '../../src/cli/launch/find-agent-cli.js'
import { GEMINI } from '../../src/cli/launch/gemini.js'
import { computeBeatMs } from '../../src/cli/launch/keep-lease.js'
import { OPENCODE } from '../../src/cli/launch/opencode.js'
import { checkOwnArguments } from '../../src/cli/launch/own-arguments.js'
import { makePrivateFolder } from '../../src/cli/launch/private-folder.js'
import { readProjectInstructions } from '../../src/cli/launch/project-instructions.js'
import { findSession, removeSessionNote, writeSessionNote } from '../../src/cli/launch/session-note.js'
import { findWaiting, isTaskOver } from '../../src/cli/launch/waiting-for-people.js'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'phaselock-launch-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

describe("the CLI's own arguments", () => {
  it.each([
    [['--tools', 'default']],
    [['--mcp-config', 'x.json']],
    [['--settings', '{"disableAllHooks": true}']],
    [['--settings={}']],
    [['--setting-sources', 'project']],
    [['--plugin-dir', '.']],
    [['--bare']],
    [['--dangerously-skip-permissions']],
    [['-p']],
    [['--model', 'opus', '--tools', 'Bash']],
    [['--continue=x']],
    [['another task']],
    [['--from-the-future']],
    [['--constructor']],
  ])('[REQ-LAUNCH-2] that could undo the binding, or are unknown, are refused: %j', (given) => {
    expect(() => checkOwnArguments(CLAUDE_CODE, given)).toThrow(/is not passed on to Claude Code/)
  })

  it.each([[[]], [['--model', 'opus', '-c']], [['--model=opus']], [['--resume']], [['--resume', 'id', '--verbose']]])(
    '[REQ-LAUNCH-2] that leave it intact are passed on: %j',
    (given) => {
      expect(() => checkOwnArguments(CLAUDE_CODE, given)).not.toThrow()
    },
  )

  it.each([
    [GEMINI, ['--yolo']],
    [GEMINI, ['--policy', 'x.toml']],
    [GEMINI, ['--allowed-mcp-server-names', 'other']],
    [GEMINI, ['--include-directories', '.']],
    [OPENCODE, ['--agent', 'build']],
    [OPENCODE, ['--auto']],
    [OPENCODE, ['--port', '4096']],
    [OPENCODE, ['.']],
  ])('[REQ-LAUNCH-2] of $name that could undo the binding are refused: %j', (kind, given) => {
    expect(() => checkOwnArguments(kind, given)).toThrow(/is not passed on to/)
    expect(() => checkOwnArguments(kind, ['--model', 'a/b'])).not.toThrow()
  })

  it('[REQ-LAUNCH-2] a value may not be missing', () => {
    expect(() => checkOwnArguments(CLAUDE_CODE, ['--model', '--verbose'])).toThrow(/needs a value/)
  })
})

describe('the agent CLI', () => {
  it('[REQ-LAUNCH-2] that is not installed is named with how to install it', () => {
    expect(() => findAgentCli(CLAUDE_CODE, { PATH: dir })).toThrow(/npm install -g @anthropic-ai\/claude-code/)
  })

  it('[REQ-LAUNCH-2] that does not say its version is refused', () => {
    writeFileSync(join(dir, 'claude'), '#!/bin/sh\necho hello\n', { mode: 0o755 })
    expect(() => findAgentCli(CLAUDE_CODE, { PATH: dir })).toThrow(/does not say its version/)
    writeFileSync(join(dir, 'claude'), '#!/bin/sh\necho "2.1.325 (Claude Code)"\n', { mode: 0o755 })
    expect(findAgentCli(CLAUDE_CODE, { PATH: dir }).version).toBe('2.1.325')
  })

  it('[REQ-LAUNCH-2] that is too old is refused, the next version is not', () => {
    const needed = { least: '2.1.295', what: '--native' }
    expect(() => requireVersion(CLAUDE_CODE, { program: 'claude', version: '2.1.294' }, needed)).toThrow(
      /\[agent_cli_too_old\]/,
    )
    requireVersion(CLAUDE_CODE, { program: 'claude', version: '2.1.295' }, needed)
    expect(compareVersions('2.10.0', '2.9.9')).toBeGreaterThan(0)
  })
})

describe('own tools under hooks', () => {
  const plan = {
    ...{ program: 'claude', url: 'http://127.0.0.1:4', secret: 'the-secret', workspace: '/tree', folder: '/private' },
    ...{ instructions: '', prompt: null, own: [], environment: {} },
  }

  it.each([
    [GEMINI, 'no ids by which such a call could be noticed'],
    [OPENCODE, 'can change a call after it was decided'],
  ])('[REQ-NATIVE-1] cannot be held on $title, and are refused', ({ native }, why) => {
    expect(native).toMatchObject({ kind: 'refused', reason: expect.stringContaining(why) })
  })

  it('[REQ-NATIVE-10] on Codex every failure of a hook before a call refuses it, and no file of the session decides', () => {
    const { native } = CODEX
    if (native.kind !== 'held') throw new Error('not held')
    const program = join(dir, 'codex')
    writeFileSync(program, "#!/bin/sh\necho '[]'\n", { mode: 0o755 })
    const { files, args, env } = native.prepare({ ...plan, program, workspace: dir })
    expect(files).toEqual({})
    expect(args.join('\n')).not.toContain('the-secret')
    expect(env).toEqual({ PHASELOCK_HOOKS: plan.url })
    const [before = ''] = args.filter((word) => word.startsWith('hooks.PreToolUse='))
    expect(before).toContain('exit 2')
    expect(before).toContain('hook.sh codex"')
    expect(args.find((word) => word.startsWith('hooks.Stop='))).toContain('hook.sh codex open"')
    for (const needed of ['features.hooks=true', 'features.unified_exec_tty=false', 'features.multi_agent=false'])
      expect(args).toContain(needed)
    expect(args[args.indexOf('-s') + 1]).toBe('workspace-write')
  })

  it('[REQ-NATIVE-10] settings of the person that switch hooks off are refused', () => {
    const { native } = CLAUDE_CODE
    if (native.kind !== 'held') throw new Error('not held')
    writeFileSync(join(dir, 'settings.json'), '{"theme": "dark", "disableAllHooks" : true}')
    const environment = { CLAUDE_CONFIG_DIR: dir }
    expect(() => native.prepare({ ...plan, environment })).toThrow(/disableAllHooks/)
    writeFileSync(join(dir, 'settings.json'), '{"disableAllHooks": false}')
    expect(() => native.prepare({ ...plan, environment })).not.toThrow()
  })

  it('[REQ-LAUNCH-5] a status line of the person stays, and without one the session has its own', () => {
    const { native } = CLAUDE_CODE
    if (native.kind !== 'held') throw new Error('not held')
    const environment = { CLAUDE_CONFIG_DIR: dir }
    for (const { prepare } of [CLAUDE_CODE, native]) {
      writeFileSync(join(dir, 'settings.json'), '{"statusLine": {"type": "command", "command": "mine"}}')
      expect(prepare({ ...plan, environment }).files['settings.json']).not.toContain('statusLine')
      writeFileSync(join(dir, 'settings.json'), '{}')
      const settings = JSON.parse(prepare({ ...plan, environment }).files['settings.json'] ?? '') as object
      expect(settings).toMatchObject({
        statusLine: { type: 'command', command: expect.stringMatching(/^cat .*status/) },
      })
    }
  })

  it('[REQ-NATIVE-10] every tool is asked about, and nothing runs when a hook fails', () => {
    const { native } = CLAUDE_CODE
    if (native.kind !== 'held') throw new Error('not held')
    const { files, args, env } = native.prepare(plan)
    const settings = JSON.parse(files['settings.json'] ?? '') as {
      readonly hooks: Record<string, { matcher?: string; hooks: Record<string, unknown>[] }[]>
    }
    const { SessionStart, ...asked } = settings.hooks
    expect(Object.keys(asked).sort()).toEqual(
      [
        ...['PreToolUse', 'PostToolUse', 'PostToolUseFailure', 'UserPromptSubmit', 'SubagentStart'],
        ...['Stop', 'SubagentStop', 'ConfigChange', 'PreCompact'],
      ].sort(),
    )
    for (const [event, entries] of Object.entries(asked)) {
      expect(entries).toHaveLength(1)
      expect(entries[0]?.matcher).toBe(event.includes('ToolUse') ? '*' : undefined)
      expect(entries[0]?.hooks).toMatchObject([
        { type: 'http', url: `${plan.url}/hooks/claude-code`, onFailure: 'block' },
      ])
    }
    expect(SessionStart?.[0]?.hooks).toMatchObject([{ type: 'command' }])
    expect(settings).toMatchObject({ disableAllHooks: false, disableSkillShellExecution: true })
    expect(JSON.stringify([files, args])).not.toContain(plan.secret)
    expect(args).toEqual(expect.arrayContaining(['--setting-sources', 'user', '--strict-mcp-config']))
    expect(args[args.indexOf('--tools') + 1]?.split(',')).not.toContain('Monitor')
    expect(env).toMatchObject({ CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1' })
    expect(native.dropped).toContain('CLAUDE_CODE_SIMPLE')
    expect(native.least).toBe('2.1.295')
  })
})

describe('an answer from the chat', () => {
  it.each([
    [{ action: 'accept' }],
    [{ action: 'accept', content: {} }],
    [{ action: 'accept', content: { decision: 'APPROVE' } }],
    [{ action: 'accept', content: { decision: ['approve'] } }],
    [{ action: 'accept', content: 'approve' }],
    [{ action: 'cancel', content: { decision: 'approve' } }],
    [{ action: 'approve', content: { decision: 'approve' } }],
  ])('[REQ-LAUNCH-5] approves nothing unless it says so: %j', (answer) => {
    expect(readFormAnswer(answer)).toEqual({ kind: 'dismissed' })
  })

  it('[REQ-LAUNCH-5] is read as it was meant', () => {
    const said = (action: string, content?: unknown) => readFormAnswer({ action, content })
    expect(said('accept', { decision: 'approve' })).toMatchObject({ kind: 'decided', decision: 'approve' })
    expect(said('accept', { decision: 'reject', comment: 'no' })).toMatchObject({ decision: 'reject', comment: 'no' })
    expect(said('decline')).toEqual({ kind: 'dismissed' })
    expect(said('decline', { decision: 'approve' })).toEqual({ kind: 'dismissed' })
    expect(said('decline', { decision: 'approve', comment: 'no' })).toMatchObject({ decision: 'reject', comment: 'no' })
  })

  it('[REQ-LAUNCH-5] to a long question is asked for in short lines, which say where all of it is', () => {
    const about = { id: 'qst-1-t', agent_id: 'claude-1', options: [] }
    const [first, ...lines] = formatQuestionForm(
      { ...about, question: `${'What does an empty cart cost? '.repeat(9)}\u001b[2J` } as unknown as Question,
      'http://localhost:8000',
    ).split('\n')
    expect(first).toBe('claude-1 asks you (all of it: http://localhost:8000, or phaselock answer qst-1-t):')
    expect(lines.length).toBeGreaterThan(2)
    for (const line of lines) expect(line).toMatch(/^│ .{1,118}$/)
    expect(lines.join('')).not.toContain('\u001b')
    const short = { ...about, question: 'Which currency?' } as unknown as Question
    expect(formatQuestionForm(short, 'http://localhost:8000')).toBe('claude-1 asks you:\n│ Which currency?')
  })

  it('[REQ-LAUNCH-5] to an approval is asked for with what the checks found in the lines that every CLI shows', () => {
    const check = {
      ...{ gate: 'g', artifact: null, check: 'tests_pass', severity: 'blocking', status: 'passed' },
      ...{ grade: 'observed', message: '' },
    }
    const approval = {
      ...{
        id: 'apr-1-t',
        agent_id: 'claude-1',
        phase: 'IMPL',
        target_phase: 'REVIEW',
        digest: 'd',
        task_title: 'Carts',
      },
      ...{ artifacts: [], contents: {}, warnings: [], diff: { files: [{ path: 'a.js', additions: 1, deletions: 0 }] } },
      checks: [
        { ...check, message: '41 passed, 0 failed\u001b[2J' },
        { ...check, status: 'failed' },
      ],
    } as unknown as Approval
    const [, about] = formatApprovalForm(approval, 'http://localhost:8000').split('\n')
    expect(about).toBe('a.js +1 -0 · 1 of 2 checks passed · 41 passed, 0 failed')
    const whole = formatApprovalForm({ ...approval, checks: [check] } as Approval, 'http://localhost:8000')
    expect(whole).toContain('· 1 check passed')
    const other = { path: 'b.js', status: 'modified', additions: 2, deletions: 0, other_task: 'task-2' }
    const beside = { ...approval, checks: [], diff: { files: [{ path: 'a.js' }, other] } } as unknown as Approval
    const gates = [{ id: 'g', phase: 'IMPL', status: 'passed', checks: [{ ...check, message: '89 passed' }] }]
    const shown = formatApprovalForm(beside, 'http://localhost:8000', gates as never)
    expect(shown.split('\n')[1]).toBe('a.js · 1 file of another task · 89 passed')
    expect(shown).toContain('b.js (modified +2 -0, changed by task task-2)')
    // What passed is counted; what did not is named.
    expect(whole).not.toContain('tests_pass (observed)')
    expect(formatApprovalForm(approval, 'http://localhost:8000')).toContain('failed   tests_pass (observed)')
    expect(formatApprovalForm({ ...approval, checks: [] }, 'http://localhost:8000')).not.toContain('check')
    const since_last = {
      decision: 'reject',
      comment: 'Say more',
      changed_artifacts: ['plan_document'],
      changed_paths: [],
    }
    const second = formatApprovalForm({ ...approval, since_last } as unknown as Approval, 'http://localhost:8000')
    expect(second).toContain('Before: reject: Say more. Changed since: plan_document')
  })

  it('[REQ-LAUNCH-5] to an approval never scrolls the question out of a small terminal', () => {
    const steps = Array.from({ length: 200 }, (_, at) => `step ${at}`)
    const approval = {
      ...{ id: 'apr-1-t', agent_id: 'claude-1', phase: 'PLAN', target_phase: 'TDD', digest: 'd', task_title: 'Carts' },
      ...{
        artifacts: [{ type: 'plan_document' }],
        contents: { plan_document: { title: 'Carts', steps } },
        warnings: [],
      },
    } as unknown as Approval
    const lines = formatApprovalForm(approval, 'http://localhost:8000').split('\n')
    // Twelve lines are those of the fields.
    expect(lines.length).toBeLessThanOrEqual((process.stdout.rows ?? 24) - 12)
    expect(lines[0]).toMatch(/^May the agent go from PLAN to TDD\?/)
    expect(lines.at(-2)).toMatch(/^… \d+ more lines: phaselock approve$/)
  })

  it('[REQ-LAUNCH-5] is followed by the way to the next task once this one is over', () => {
    expect(isTaskOver({ structuredContent: { allowed: true, phase: 'TDD' } })).toBe(false)
    expect(isTaskOver({ structuredContent: { code: 'forbidden_tool' }, isError: true })).toBe(false)
    expect(isTaskOver({ structuredContent: { allowed: true, completed: true } })).toBe(true)
    expect(isTaskOver({ structuredContent: { code: 'no_active_task' }, isError: true })).toBe(true)
  })

  it('[REQ-LAUNCH-5] is asked for only where the approval is all that is missing', () => {
    const pending_approval = { id: 'apr-1-t', digest: 'x' }
    expect(findWaiting({ structuredContent: { code: 'gate_blocked', pending_approval } })).toBeNull()
    expect(findWaiting({ structuredContent: { code: 'approval_pending' } })).toBeNull()
    expect(findWaiting({ content: [] })).toBeNull()
    expect(findWaiting({ structuredContent: { code: 'approval_pending', pending_approval } })).toEqual({
      kind: 'approval',
      id: 'apr-1-t',
    })
    expect(findWaiting({ structuredContent: { result: { status: 'open', question_id: 'qst-1-t' } } })).toEqual({
      kind: 'question',
      id: 'qst-1-t',
    })
    expect(findWaiting({ structuredContent: { result: { status: 'answered', question_id: 'qst-1-t' } } })).toBeNull()
  })
})

describe('the instructions of the project', () => {
  it('[REQ-LAUNCH-4] reach the model with the files that they include', () => {
    writeFileSync(join(dir, 'CLAUDE.md'), 'Use tabs.\n@AGENTS.md\n@missing.md\n')
    writeFileSync(join(dir, 'AGENTS.md'), 'Speak plainly.\n')
    expect(readProjectInstructions(dir, ['CLAUDE.md', 'CLAUDE.local.md'])).toContain(
      'Use tabs.\nSpeak plainly.\n\n@missing.md',
    )
  })

  it('[REQ-LAUNCH-4] a link shows the model nothing, nor does a path out of the tree', () => {
    const tree = join(dir, 'tree')
    writeFileSync(join(dir, 'secret.md'), 'SECRET\n')
    rmSync(tree, { recursive: true, force: true })
    symlinkSync(dir, tree)
    symlinkSync(join(dir, 'secret.md'), join(dir, 'CLAUDE.md'))
    expect(readProjectInstructions(dir, ['CLAUDE.md', '../secret.md', 'tree/../../secret.md'])).not.toContain('SECRET')
    writeFileSync(join(dir, 'NOTES.md'), '@../secret.md\n@/etc/passwd.md\n')
    expect(readProjectInstructions(dir, ['NOTES.md'])).toContain('@../secret.md')
  })
})

describe('the folder in which Gemini CLI and OpenCode are opened', () => {
  it.each([GEMINI, OPENCODE])('[REQ-LAUNCH-20] $name: is private and the root of an empty repository', (kind) => {
    const workspace = join(dir, 'carts')
    mkdirSync(join(workspace, '.gemini'), { recursive: true })
    writeFileSync(join(workspace, '.gemini/.env'), 'GEMINI_API_KEY=planted\n')
    writeFileSync(join(workspace, 'AGENTS.md'), 'Speak plainly.\n')
    writeFileSync(join(dir, 'opencode'), `#!/bin/sh\necho '{"mcp": {"other": {}}, "agent": {"mine": {}}}'\n`, {
      mode: 0o755,
    })
    const folder = makePrivateFolder(dir)
    const prepared = kind.prepare({
      ...{
        program: join(dir, 'opencode'),
        url: 'http://127.0.0.1:1',
        secret: 'SECRET',
        folder: folder.path,
        workspace,
      },
      ...{ instructions: 'Hello.', prompt: 'Begin.', own: [], environment: { HOME: dir } },
    })
    folder.write(prepared.files)
    const cwd = prepared.cwd ?? ''
    expect(cwd).toBe(join(folder.path, 'opened/carts'))
    const root = execFileSync('git', ['-C', cwd, 'rev-parse', '--show-toplevel'], { encoding: 'utf8' }).trim()
    expect(root).toBe(cwd)
    const all = JSON.stringify(prepared)
    expect(all).toContain('Speak plainly.')
    expect(all).not.toMatch(/planted|SECRET/)
    expect(statSync(cwd).mode & 0o077).toBe(0)
    folder.remove()
    expect(existsSync(cwd)).toBe(false)
  })

  it.each([
    ['it fails', 'exit 1', /does not say how it is configured/],
    ['it answers something else', 'echo hello', /does not say how it is configured/],
    ['a server has our name', `echo '{"mcp": {"phaselock": {}}}'`, /The MCP server "phaselock"/],
    ['an agent has our name', `echo '{"agent": {"phaselock": {}}}'`, /The agent "phaselock"/],
  ])('[REQ-LAUNCH-2] OpenCode whose configuration cannot be held is refused: %s', (_name, answer, refusal) => {
    writeFileSync(join(dir, 'opencode'), `#!/bin/sh\n${answer}\n`, { mode: 0o755 })
    const plan = {
      ...{ program: join(dir, 'opencode'), url: 'http://127.0.0.1:1', secret: 'SECRET', folder: dir, workspace: dir },
      ...{ instructions: '', prompt: null, own: [], environment: {} },
    }
    expect(() => OPENCODE.prepare(plan)).toThrow(refusal)
  })
})

describe('a session', () => {
  it('[REQ-LAUNCH-6] is known to be open while its process lives, and by nobody else', () => {
    writeSessionNote(dir, 'claude-0011aabb')
    expect(findSession(dir, 'claude-0011aabb')).toEqual({ pid: process.pid, isOpen: true })
    expect(findSession(dir, 'claude-0011aabc')).toBeNull()
    expect(findSession(dir, '../launched/claude-0011aabb')).toBeNull()
    // A process id that was given to another program since.
    writeFileSync(join(dir, 'launched/claude-0011aabc.json'), JSON.stringify({ pid: process.pid, started: '1' }))
    expect(findSession(dir, 'claude-0011aabc')).toEqual({ pid: process.pid, isOpen: false })
    writeFileSync(join(dir, 'launched/claude-0011aabd.json'), '{"pid": "1"')
    expect(findSession(dir, 'claude-0011aabd')).toBeNull()
    removeSessionNote(dir, 'claude-0011aabb')
    expect(findSession(dir, 'claude-0011aabb')).toBeNull()
  })

  it('[REQ-LAUNCH-6] extends its lease three times before it would run out', () => {
    const at = (ms: number) => new Date(1_000_000 + ms).toISOString()
    expect(computeBeatMs(at(900_000), 1_000_000)).toBe(60_000)
    expect(computeBeatMs(at(6_000), 1_000_000)).toBe(2_000)
    expect(computeBeatMs(at(-5), 1_000_000)).toBe(500)
    expect(computeBeatMs(null)).toBe(60_000)
  })
})

it.each([
  [CLAUDE_CODE, '2.1.0'],
  [CODEX, '0.160.0'],
  [GEMINI, '0.60.0'],
  [OPENCODE, '1.18.0'],
])('[REQ-LAUNCH-2] $title is needed in the documented version', (kind, least) => expect(kind.least).toBe(least))
