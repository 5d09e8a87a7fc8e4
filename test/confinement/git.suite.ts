import { readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { differing, fingerprint } from './fingerprint.js'
import { hostileRepository, ODD_NAMES } from './hostile-repository.js'
import { type Ran, type Stage, someSettings } from './stage.js'
import type { Stages } from './stages.js'

const ALL_MS_MAX = 180_000

const CALLS: readonly (readonly [tool: string, args: Readonly<Record<string, unknown>>])[] = [
  ['git_status', {}],
  ['git_diff', {}],
  ['git_diff', { staged: true }],
  ['git_diff', { paths: ['tests/a.txt', '-rf', ':(top)*'] }],
  ['git_log', { limit: 5 }],
  ['git_commit', { message: '--amend -- $(id) `id`', paths: ['tests/a.txt'] }],
  ['git_commit', { message: 'everything' }],
  ['read_files', { path: 'tests/a.txt' }],
  ['glob', { pattern: '**' }],
  ['grep', { pattern: 'o' }],
  ['search_codebase', { query: 'one' }],
  ['write_files', { path: 'tests/b.txt', content: 'x' }],
  ['edit_files', { path: 'tests/a.txt', edits: [{ old: 'two', new: 'three' }] }],
  ['bash', { command: 'git status; git diff; git log -1; git -c alias.x=!id x; true' }],
]

interface Kind {
  readonly name: string
  /** Makes the tree; `marks` is where a program that ran outside would leave a file. */
  readonly make: (stage: Stage, tree: string, marks: string) => Promise<unknown>
}

const within = (stage: Stage, tree: string, script: string): Promise<unknown> => stage.outside(script, { cwd: tree })

const KINDS: readonly Kind[] = [
  {
    name: 'settings and hooks that run something',
    make: (stage, tree, marks) => within(stage, tree, hostileRepository(marks)),
  },
  {
    name: 'a submodule with settings of its own',
    make: (stage, tree, marks) =>
      within(
        stage,
        tree,
        `git init -q . && git config user.name x && git config user.email x@x && mkdir tests sub && echo two > tests/a.txt
        (cd sub && ${hostileRepository(marks)}) && git add tests && git commit -qm one`,
      ),
  },
  {
    name: 'a git file that points to somebody else',
    make: async (stage, tree) => {
      writeFileSync(join(tree, '.git'), `gitdir: ${stage.stateDir}\n`)
      await within(stage, tree, 'mkdir tests; echo two > tests/a.txt')
    },
  },
  {
    name: 'a link in the place of the git directory',
    make: async (stage, tree, marks) => {
      const other = stage.makeTree(`${tree.split('/').at(-1)}-other`)
      await within(stage, other, hostileRepository(marks))
      symlinkSync(join(other, '.git'), join(tree, '.git'))
      await within(stage, tree, 'mkdir tests; echo two > tests/a.txt')
    },
  },
  {
    name: 'odd names',
    make: (stage, tree) => within(stage, tree, `git init -q . && ${ODD_NAMES}; echo two > tests/a.txt`),
  },
  {
    name: 'a name that is no text',
    make: (stage, tree) =>
      within(stage, tree, `git init -q .; mkdir tests; echo two > tests/a.txt; echo x > tests/$'\\xff'`),
  },
  { name: 'no repository', make: (stage, tree) => within(stage, tree, 'mkdir tests; echo two > tests/a.txt') },
]

interface Found {
  readonly answers: readonly (readonly [tool: string, ran: Ran])[]
  readonly marks: readonly string[]
  readonly settings: readonly string[]
}

const found = new Map<string, Found>()
const controls = new Map<string, readonly string[]>()

async function tryKind(stage: Stage, kind: Kind, index: number): Promise<Found> {
  const marks = stage.makeTree(`marks-${index}`)
  const tree = stage.makeTree(`repository-${index}`)
  // Claimed before: what a claim says of such a tree is another matter.
  const agent = await stage.agent(tree)
  await kind.make(stage, tree, marks)
  // Making it may have run some of it already.
  await stage.outside(`rm -f ${marks}/*`)
  const before = settingsOf(tree)
  const answers: [string, Ran][] = []
  for (const [tool, args] of CALLS) answers.push([tool, await agent.tool(tool, args)])
  return { answers, marks: readdirSync(marks), settings: differing(before, settingsOf(tree)) }
}

/** The same repository and plain git, without a wall. */
async function control(stage: Stage): Promise<readonly string[]> {
  const marks = stage.makeTree('marks-of-control')
  const tree = stage.makeTree('repository-of-control')
  await within(stage, tree, hostileRepository(marks))
  await stage.outside(`rm -f ${marks}/*`)
  await within(stage, tree, 'git status; git diff; git add -A; git commit -m two </dev/null; git included; true')
  return readdirSync(marks)
}

/** What makes git run something, and everything in the git directory that is not made by a commit. */
function settingsOf(tree: string): ReadonlyMap<string, string> {
  const kept =
    /^\.\/(sub\/)?\.git(\/(config|hooks|other-hooks|info|modules|commondir|config\.worktree|objects\/info)(\/|$)|$)/
  const stated = [...fingerprint(tree)].filter(([path]) => kept.test(path))
  // Entries come and go in the git directory itself, which changes its time: the fourth field.
  return new Map(
    stated.map(([path, state]) => [
      path,
      state
        .split(' ')
        .filter((_, at) => at !== 3 || !/\.git$/.test(path))
        .join(' '),
    ]),
  )
}

/** Repositories that were made to harm whoever looks at them. */
export function gitSuite(stages: Stages): void {
  beforeAll(async () => {
    await Promise.all(
      someSettings().map(async (setting) => {
        const stage = stages.of(setting)
        for (const [index, kind] of KINDS.entries())
          found.set(`${setting.name}: ${kind.name}`, await tryKind(stage, kind, index))
        controls.set(setting.name, await control(stage))
      }),
    )
  }, ALL_MS_MAX)

  describe.each(someSettings())('repositories: $name', (setting) => {
    const foundIn = (kind: Kind): Found => {
      const one = found.get(`${setting.name}: ${kind.name}`)
      if (one === undefined) throw new Error(`${kind.name} was never tried`)
      return one
    }

    it.each(KINDS)('[REQ-WALL-11] nothing runs outside of the sandbox: $name', (kind) => {
      expect(foundIn(kind).marks).toEqual([])
    })

    it.each(KINDS)('[REQ-WALL-11] hooks and settings are as they were: $name', (kind) => {
      expect(foundIn(kind).settings).toEqual([])
    })

    it.each(KINDS)('[REQ-WALL-11] no answer is a fault: $name', (kind) => {
      const { answers } = foundIn(kind)
      expect(answers).toHaveLength(CALLS.length)
      expect(
        answers.filter(([, { status }]) => status >= 500).map(([tool, { detail }]) => `${tool}: ${detail}`),
      ).toEqual([])
    })

    it('[REQ-WALL-11] without a sandbox plain git runs the monitor, the filter, a hook and an included alias', () => {
      expect(controls.get(setting.name)).toEqual(
        expect.arrayContaining(['fsmonitor', 'clean', 'hook-pre-commit', 'included']),
      )
    })

    it('[REQ-WALL-11] a repository that means no harm is read and committed to', async () => {
      const stage = stages.of(setting)
      const tree = stage.makeTree('harmless')
      await within(stage, tree, 'git init -q .')
      const agent = await stage.agent(tree)
      await agent.tool('bash', { command: 'mkdir tests && echo one > tests/a.txt' })
      expect((await agent.tool('git_status', {})).body.result).toMatchObject({ untracked: ['tests/a.txt'] })
      const { body } = await agent.tool('git_commit', { message: 'one' })
      const { stdout } = await stage.outside('git log --format=%H:%s', { cwd: tree })
      expect(stdout).toBe(`${(body.result as { commit: string }).commit}:one\n`)
    })
  })
}
