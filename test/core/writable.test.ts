import { describe, expect, it } from 'vitest'
import { matchesGlob } from '../../src/contract/glob.js'
import { findRefusedPaths, getWritable } from '../../src/core/paths/writable.js'
import type { Command } from '../../src/core/task/command.js'
import type { ChangedPath } from '../../src/core/task/fact-parts.js'
import { constraint, context, contractOf, phase, World } from './world.js'

const only = (patterns: readonly string[]) => constraint({ allowedPatterns: patterns })
const writing = (about: Parameters<typeof phase>[1] = {}) =>
  phase('A', { allowedTools: ['read_files', 'write_files', 'bash'], ...about })

function changed(path: string, about: Partial<ChangedPath> = {}): ChangedPath {
  return { path, kind: 'modified', type: 'file', problem: null, ...about }
}

function refusedIn(about: Parameters<typeof phase>[1], changes: readonly ChangedPath[], git: 'none' | 'tool' = 'none') {
  const contract = contractOf([writing(about)])
  const { state } = new World(contract)
  const given = { ...context(), matchesGlob, reservedPaths: ['conf/flow.yaml'] }
  return findRefusedPaths(contract, state, changes, { context: given, git }).map((one) => one.path)
}

describe('what a phase may change', () => {
  it('[REQ-TOOL-9] a phase without a write tool changes nothing, even with bash', () => {
    expect(getWritable(phase('A', { allowedTools: ['bash', 'read_files'] }))).toEqual({ allowed: [], forbidden: [] })
    expect(getWritable(phase('A', { allowedTools: ['write_files'], forbiddenTools: ['write_files'] })).allowed).toEqual(
      [],
    )
    expect(refusedIn({ allowedTools: ['bash'] }, [changed('a')])).toEqual(['a'])
  })

  it('[REQ-TOOL-9] without writable, the write tools decide', () => {
    const constraints = new Map([
      ['write_files', constraint({ allowedPatterns: ['tests/**'], forbiddenPatterns: ['tests/keep/**'] })],
    ])
    expect(getWritable(writing({ constraints }))).toEqual({ allowed: ['tests/**'], forbidden: ['tests/keep/**'] })
    const paths = ['tests/a', 'tests/keep/a', 'src/a', 'testsx/a']
    expect(
      refusedIn(
        { constraints },
        paths.map((path) => changed(path)),
      ),
    ).toEqual(['tests/keep/a', 'src/a', 'testsx/a'])
    expect(refusedIn({}, [changed('anything/at/all')]), 'a write tool without limits').toEqual([])
  })

  it('[REQ-TOOL-9] edit_files has the limits of write_files unless it has its own', () => {
    const constraints = new Map([['write_files', only(['tests/**'])]])
    expect(getWritable(phase('A', { allowedTools: ['edit_files'], constraints })).allowed).toEqual(['tests/**'])
    const both = new Map([...constraints, ['edit_files', only(['docs/**'])] as const])
    expect(getWritable(phase('A', { allowedTools: ['edit_files'], constraints: both })).allowed).toEqual(['docs/**'])
    const union = getWritable(phase('A', { allowedTools: ['write_files', 'edit_files'], constraints: both })).allowed
    expect(union).toEqual(['tests/**', 'docs/**'])
  })

  it('[REQ-TOOL-9] writable wins over the write tools', () => {
    const constraints = new Map([['write_files', only(['tests/**'])]])
    expect(refusedIn({ constraints, writable: [] }, [changed('tests/a')])).toEqual(['tests/a'])
    expect(refusedIn({ constraints, writable: ['src/**'] }, [changed('tests/a'), changed('src/a')])).toEqual([
      'tests/a',
    ])
  })

  it('[REQ-TOOL-10] the contract, the git directory, agent and pipeline settings stay as they are whatever the globs say', () => {
    const kept = [
      'agent_workflow.yaml',
      'conf/flow.yaml',
      '.git/config',
      '.git/hooks/pre-commit',
      '.git/HEAD',
      '.git',
      'sub/.git/config',
      '.claude/settings.json',
      '.mcp.json',
      '.codex/config.toml',
      '.github/workflows/ci.yml',
      '.gitlab-ci.yml',
    ]
    expect(
      refusedIn(
        { writable: ['**'] },
        kept.map((path) => changed(path)),
      ),
    ).toEqual(kept)
    const near = ['.github/CODEOWNERS', '.gitignore', 'docs/.claude.md', 'x.mcp.json', '.gitx/a']
    expect(
      refusedIn(
        { writable: ['**'] },
        near.map((path) => changed(path)),
      ),
    ).toEqual([])
  })

  it('[REQ-TRUST-1] every form of a contract stays as it is, in any spelling, and names beside it do not', () => {
    const forms = [
      'agent_workflow.yml',
      'agent_workflow.json',
      'agent_workflow.md',
      'agent_workflow',
      'agent_workflow/metadata.yaml',
      'agent_workflow/phases/1/phase.md',
      'Agent_Workflow.yaml',
      'AGENT_WORKFLOW/metadata.json',
      'agent_wor\u212Aflow.yaml',
      'agent_work\u200Bflow.yaml',
    ]
    const refuse = (paths: readonly string[]) =>
      refusedIn(
        { writable: ['**', 'agent_workflow/**'] },
        paths.map((path) => changed(path)),
      )
    expect(refuse(forms)).toEqual(forms)
    expect(refuse(['agent_workflow.ts', 'agent_workflows/a', 'src/agent_workflow.yaml', 'my_agent_workflow'])).toEqual(
      [],
    )
  })

  it('[REQ-TOOL-10] settings can be changed where the contract names them; the contract and git never', () => {
    const named = { writable: ['.github/workflows/**', '.claude/**', '.git/**', 'agent_workflow.yaml'] }
    expect(refusedIn(named, [changed('.github/workflows/ci.yml'), changed('.claude/x')])).toEqual([])
    expect(refusedIn(named, [changed('.git/HEAD'), changed('agent_workflow.yaml')])).toEqual([
      '.git/HEAD',
      'agent_workflow.yaml',
    ])
  })

  it('[REQ-TOOL-10] the git tools write the git directory, but neither hooks nor settings, and nothing beside it', () => {
    const nothing = { writable: [] }
    expect(refusedIn(nothing, [changed('.git/HEAD'), changed('.git/objects/aa/b')], 'tool')).toEqual([])
    const kept = [
      '.git/hooks/x',
      '.git/config',
      '.git/info/attributes',
      '.git/commondir',
      '.git/config.worktree',
      '.git/objects/info/alternates',
      '.git/worktrees/x/gitdir',
      '.git/modules/a/config',
      'a/.git/HEAD',
      'src/a',
    ]
    expect(
      refusedIn(
        nothing,
        kept.map((path) => changed(path)),
        'tool',
      ),
    ).toEqual(kept)
  })

  it('[REQ-TOOL-11] folders follow what is in them, and an empty one is judged by its name', () => {
    const only = { writable: ['**/*.test.ts'] }
    const folder = { type: 'directory', kind: 'created' } as const
    const created = { kind: 'created' } as const
    expect(refusedIn(only, [changed('new', folder), changed('new/a.test.ts', created)])).toEqual([])
    expect(refusedIn(only, [changed('new', folder), changed('new/a.ts', created)])).toEqual(['new/a.ts'])
    expect(refusedIn(only, [changed('new', folder)])).toEqual(['new'])
    expect(refusedIn(only, [changed('new', { type: 'directory' }), changed('new/a.test.ts')])).toEqual(['new'])
    expect(refusedIn({ writable: ['tests/**'] }, [changed('tests/new', folder)])).toEqual([])
  })

  it('[REQ-TOOL-11] what can never be in a tree is refused even where everything is writable', () => {
    const device = changed('x', { problem: 'is not a file, folder or link' })
    expect(refusedIn({ writable: ['**'] }, [device])).toEqual(['x'])
  })
})

describe('the result of a tool', () => {
  const constraints = new Map([['write_files', only(['tests/**'])]])
  const contract = contractOf([writing({ constraints }), phase('B')])
  const finish = (paths: readonly string[], about: Partial<Command & { type: 'finish_tool' }> = {}): Command => ({
    type: 'finish_tool',
    tool: 'bash',
    success: true,
    code: null,
    detail: null,
    durationMs: 5,
    exitCode: 0,
    changed: paths.map((path) => ({ ...changed(path), sha256: null })),
    git: 'none',
    unenforced: [],
    ...about,
  })
  const working = (mode: 'strict' | 'permissive' | 'advisory' = 'strict') => {
    const world = new World(contract, { mode })
    world.claim()
    return world
  }

  it('[REQ-TOOL-12] one path that may not change drops all of them, names it and counts as a refusal', () => {
    const world = working()
    expect(world.do(finish(['tests/a', 'src/a']))).toEqual(['changes_dropped'])
    expect(world.last()).toMatchObject({
      code: 'constraint_violation',
      paths: ['src/a'],
      pathCount: 1,
      retry: { attempt: 1, max: 3 },
      detail: expect.stringContaining('"src/a" is not writable in A (only tests/**)'),
    })
    expect(world.state.denialsInARow).toBe(1)
    world.expectReplayEqualsLive()
  })

  it('[REQ-TOOL-12] dropped changes use up the denial budget like any refusal', () => {
    const world = working()
    for (let count = 1; count < 10; count += 1) expect(world.do(finish(['src/a']))).toEqual(['changes_dropped'])
    expect(world.do(finish(['src/a']))).toEqual(['changes_dropped', 'task_parked'])
  })

  it('[REQ-TOOL-13] a call that changed the tree is progress, one that changed nothing is not', () => {
    const world = working()
    world.tool('grep')
    expect(world.state.denialsInARow).toBe(1)
    world.do(finish([]))
    expect(world.state.denialsInARow).toBe(1)
    world.do(finish(['tests/a']))
    expect(world.state.denialsInARow).toBe(0)
    expect(world.last()).toMatchObject({ changes: [{ path: 'tests/a', kind: 'modified' }], changeCount: 1 })
    world.expectReplayEqualsLive()
  })

  it.each(['permissive', 'advisory'] as const)(
    '[REQ-TOOL-14] %s keeps what strict would drop and says so, but never the contract or the git directory',
    (mode) => {
      const world = working(mode)
      expect(world.do(finish(['src/a']))).toEqual(['tool_finished'])
      expect(world.last()).toMatchObject({ violation: { code: 'constraint_violation' } })
      expect(world.do(finish(['agent_workflow.yaml', 'src/a']))).toEqual(['changes_dropped'])
      expect(world.do(finish(['.git/config']))).toEqual(['changes_dropped'])
    },
  )

  it('[REQ-TOOL-15] a write tool is refused before it runs where the phase may not change the path', () => {
    const strict = contractOf([writing({ writable: ['docs/**'] })])
    const world = new World(strict)
    world.claim()
    const at = (path: string) => ({ paths: [{ path, problem: null }] })
    expect(world.tool('write_files', at('src/a'))).toEqual(['tool_denied'])
    expect(world.last()).toMatchObject({ code: 'constraint_violation', detail: expect.stringContaining('"src/a"') })
    expect(world.tool('write_files', at('docs/a'))).toEqual(['tool_allowed'])
    expect(world.tool('read_files', at('src/a')), 'reading is not changing').toEqual(['tool_allowed'])
    const lenient = new World(strict, { mode: 'advisory' })
    lenient.claim()
    expect(lenient.tool('write_files', at('src/a'))).toEqual(['tool_allowed'])
    expect(lenient.last()).toMatchObject({ violation: { code: 'constraint_violation' } })
    expect(lenient.tool('write_files', at('agent_workflow.yaml'))).toEqual(['tool_denied'])
    expect(lenient.tool('write_files', at('.git/config'))).toEqual(['tool_denied'])
  })
})
