import { describe, expect, it } from 'vitest'
import { constraint, contractOf, gate, phase, World } from './world.js'

const PATHS = constraint({ allowedPatterns: ['tests/**'], forbiddenPatterns: ['tests/keep/**'] })
const COMMANDS = constraint({ allowedCommands: ['npm test', 'ls'], forbiddenCommands: ['git', 'rm -rf'] })
const contract = contractOf([
  phase('A', {
    allowedTools: ['read_files', 'write_files', 'edit_files', 'bash', 'git_diff'],
    forbiddenTools: ['git_diff'],
    constraints: new Map([
      ['write_files', PATHS],
      ['bash', COMMANDS],
    ]),
  }),
  phase('B', { gates: [gate('x')] }),
])

function claimed(about: ConstructorParameters<typeof World>[1] = {}, of = contract): World {
  const world = new World(of, about)
  world.claim()
  return world
}

const at = (path: string) => ({ paths: [{ path, problem: null }] })
const run = (...words: (string | null)[]) => ({ commands: [{ words, isWrapper: false }] })

describe('deciding a tool call', () => {
  it('[REQ-TOOL-1] a tool that does not exist is refused by its exact name', () => {
    for (const name of ['nope', 'Bash', ' bash', 'bash ', 'constructor', '__proto__', 'toString', '']) {
      const world = claimed()
      expect(world.tool(name), name).toEqual(['tool_denied'])
      expect(world.last()).toMatchObject({
        code: 'unknown_tool',
        detail: `Tool '${name}' does not exist. Available in A: read_files, write_files, edit_files, bash`,
      })
    }
  })

  it('[REQ-TOOL-2] a tool that the phase does not offer is refused with the words of the retry line', () => {
    const world = claimed()
    world.tool('grep')
    expect(world.last()).toMatchObject({
      code: 'forbidden_tool',
      retry: {
        attempt: 1,
        max: 3,
        text: 'Retry (1/3): Called grep (not allowed in A). Allowed: read_files, write_files, edit_files, bash',
      },
    })
  })

  it('[REQ-TOOL-2] forbidden wins over allowed', () => {
    const world = claimed()
    expect(world.tool('git_diff')).toEqual(['tool_denied'])
  })

  it('[REQ-TOOL-3] arguments that do not fit are refused after the tool itself was found allowed', () => {
    const world = claimed()
    world.tool('read_files', { argProblems: ['argument "path" is missing'] })
    expect(world.last()).toMatchObject({ code: 'invalid_request' })
    world.tool('grep', { argProblems: ['argument "pattern" is missing'] })
    expect(world.last()).toMatchObject({ code: 'forbidden_tool' })
  })

  it('[REQ-TOOL-4] a path outside the tree is refused in every mode', () => {
    for (const mode of ['strict', 'permissive', 'advisory'] as const) {
      const world = claimed({ mode })
      world.tool('read_files', { paths: [{ path: '../x', problem: 'leaves the work tree' }] })
      expect(world.last(), mode).toMatchObject({ type: 'tool_denied', code: 'constraint_violation' })
    }
  })

  it.each([
    ['write_files', 'src/a', 'matches none of the allowed patterns tests/**'],
    ['write_files', 'tests/keep/a', 'matches the forbidden pattern "tests/keep/**"'],
    ['edit_files', 'src/a', 'matches none of the allowed patterns tests/**'],
  ])('[REQ-TOOL-5] %s on %s is refused and names the pattern', (tool, path, words) => {
    const world = claimed()
    expect(world.tool(tool, at(path))).toEqual(['tool_denied'])
    expect(world.last()).toMatchObject({ code: 'constraint_violation', detail: expect.stringContaining(words) })
  })

  it('[REQ-TOOL-5] one forbidden path among several refuses the whole call', () => {
    const world = claimed()
    expect(
      world.tool('write_files', {
        paths: [
          { path: 'tests/a', problem: null },
          { path: 'src/a', problem: null },
        ],
      }),
    ).toEqual(['tool_denied'])
  })

  it('[REQ-TOOL-5] a path within the patterns is allowed', () => {
    expect(claimed().tool('write_files', at('tests/a'))).toEqual(['tool_allowed'])
    expect(claimed().tool('edit_files', at('tests/a'))).toEqual(['tool_allowed'])
  })

  it.each([
    [['git', 'push'], 'forbidden command "git"'],
    [['/usr/bin/git', 'push'], 'forbidden command "git"'],
    [['rm', '-rf', 'x'], 'forbidden command "rm -rf"'],
    [['rm', null, 'x'], 'forbidden command "rm -rf"'],
    [['npm', 'install'], 'none of the allowed commands npm test, ls'],
    [['npm'], 'none of the allowed commands'],
    [['npm', null], 'none of the allowed commands'],
    [['/tmp/ls'], 'none of the allowed commands'],
    [[null, 'x'], 'only known when it runs'],
    [[], 'only known when it runs'],
  ])('[REQ-TOOL-6] the command %j is refused', (words, reason) => {
    const world = claimed()
    expect(world.tool('bash', run(...words))).toEqual(['tool_denied'])
    expect(world.last()).toMatchObject({ code: 'constraint_violation', detail: expect.stringContaining(reason) })
  })

  it('[REQ-TOOL-6] a command line that cannot be read is refused', () => {
    const world = claimed()
    expect(world.tool('bash', { shellProblem: 'unterminated quote' })).toEqual(['tool_denied'])
  })

  it('[REQ-TOOL-6] an allowed command is allowed, and a wrapper is only checked against the forbidden ones', () => {
    expect(claimed().tool('bash', run('npm', 'test', '--', 'x'))).toEqual(['tool_allowed'])
    const env = { words: ['env', 'X=1', 'ls'], isWrapper: true }
    expect(claimed().tool('bash', { commands: [env, { words: ['ls'], isWrapper: false }] })).toEqual(['tool_allowed'])
  })

  it.each(['permissive', 'advisory'] as const)(
    '[REQ-TOOL-7] %s lets forbidden tools and constraints through, marked; unknown tools and bad arguments stay refused',
    (mode) => {
      const world = claimed({ mode })
      expect(world.tool('grep')).toEqual(['tool_allowed'])
      expect(world.last()).toMatchObject({ violation: { code: 'forbidden_tool' } })
      expect(world.tool('write_files', at('src/a'))).toEqual(['tool_allowed'])
      expect(world.last()).toMatchObject({ violation: { code: 'constraint_violation' } })
      expect(world.tool('nope')).toEqual(['tool_denied'])
      expect(world.tool('read_files', { argProblems: ['x'] })).toEqual(['tool_denied'])
    },
  )
})

describe('counting refusals', () => {
  it('[REQ-REFUSAL-1] attempts count per kind and visit and stop at the maximum', () => {
    const world = claimed()
    const attempts = [1, 2, 3, 4].map(() => {
      world.tool('grep')
      const event = world.last()
      return event.type === 'tool_denied' ? `${event.retry.attempt}/${event.retry.max}` : ''
    })
    expect(attempts).toEqual(['1/3', '2/3', '3/3', '3/3'])
    world.tool('nope')
    expect(world.last()).toMatchObject({ retry: { attempt: 1 } })
  })

  it('[REQ-REFUSAL-1] the text says when the last try was used and then what else to do', () => {
    const world = claimed()
    const texts = [1, 2, 3, 4].map(() => {
      world.tool('grep')
      const event = world.last()
      return event.type === 'tool_denied' ? event.retry.text : ''
    })
    expect(texts[1]).not.toContain('last try')
    expect(texts[2]).toContain('That was the last try of this kind')
    expect(texts[3]).toContain('The tries for this are used up')
  })

  it('[REQ-REFUSAL-2] the denial budget parks the task at its number and not one before', () => {
    const world = claimed()
    for (let i = 0; i < 9; i += 1) expect(world.tool(i % 2 === 0 ? 'grep' : 'nope')).toEqual(['tool_denied'])
    expect(world.state.status).toBe('active')
    expect(world.tool('grep')).toEqual(['tool_denied', 'task_parked'])
    expect(world.state).toMatchObject({
      status: 'parked',
      parkedReason: expect.stringContaining('10 refusals in a row'),
    })
  })

  it('[REQ-REFUSAL-2] an allowed call that changed nothing is not progress', () => {
    const world = claimed()
    for (let i = 0; i < 9; i += 1) {
      world.tool('grep')
      world.tool('read_files', at('a'))
    }
    expect(world.tool('grep')).toContain('task_parked')
  })

  it('[REQ-REFUSAL-2] a transition is progress and starts the count again', () => {
    const world = claimed(
      {},
      contractOf([phase('A'), phase('B', { allowedTools: [] }), phase('C', { gates: [gate('x')] })]),
    )
    for (let i = 0; i < 9; i += 1) world.tool('grep')
    world.move('B')
    for (let i = 0; i < 9; i += 1) expect(world.tool('grep')).toEqual(['tool_denied'])
  })

  it('[REQ-REFUSAL-3] advisory mode never parks', () => {
    const world = claimed({ mode: 'advisory' })
    for (let i = 0; i < 40; i += 1) expect(world.tool('nope')).toEqual(['tool_denied'])
  })

  it('[REQ-REFUSAL-4] a refused token is recorded and counts toward nothing', () => {
    const world = claimed()
    for (let i = 0; i < 40; i += 1) world.do({ type: 'refuse_token', agentId: 'a', code: 'token_stale', detail: 'old' })
    expect(world.state).toMatchObject({ status: 'active', denialsInARow: 0 })
    expect(world.events.filter((event) => event.type === 'token_refused')).toHaveLength(40)
  })
})
