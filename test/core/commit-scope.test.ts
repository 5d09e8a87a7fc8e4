import { describe, expect, it } from 'vitest'
import { type CommitRules, commitScope, type GitListing } from '../../src/core/paths/commit-scope.js'

const RULES: CommitRules = {
  reserved: ['agent_workflow.yaml', 'schemas/own.json'],
  isIgnored: (path) => path.endsWith('.log'),
  packagesAt: (path) => /^(?:.*?\/)?node_modules(?=\/|$)/.exec(path)?.[0] ?? null,
  isLeftover: (path) => path.startsWith('dist/'),
  isWritten: (path) => path === 'dist/mine.js',
  isEarlier: (path) => path.endsWith('.draft'),
  isForeign: () => false,
  hadChanges: (path) => path.endsWith('.draft'),
}

interface Case {
  readonly name: string
  readonly status: readonly string[]
  readonly untracked?: readonly string[]
  readonly submodules?: readonly string[]
  readonly changed: readonly string[]
  readonly leftOut: readonly string[]
}

const CASES: readonly Case[] = [
  {
    name: 'the contract is left out, tracked or not, and a file with a similar name is not',
    status: [' M agent_workflow.yaml', '?? schemas/own.json', '?? agent_workflow.yaml.txt'],
    changed: ['agent_workflow.yaml.txt'],
    leftOut: ['agent_workflow.yaml', 'schemas/own.json'],
  },
  {
    name: 'an ignored file is left out, and one that is tracked counts',
    status: ['?? a.log', ' M b.log'],
    changed: ['b.log'],
    leftOut: ['a.log'],
  },
  {
    name: 'packages are left out as one folder where nothing in it is tracked',
    status: ['?? node_modules/a/index.js', '?? node_modules/b/index.js', '?? src/a.js'],
    untracked: ['node_modules', 'src'],
    changed: ['src/a.js'],
    leftOut: ['node_modules'],
  },
  {
    name: 'new files beside tracked packages count',
    status: [' M node_modules/a/index.js', '?? node_modules/b/index.js'],
    untracked: ['node_modules/b'],
    changed: ['node_modules/a/index.js', 'node_modules/b/index.js'],
    leftOut: [],
  },
  {
    name: 'build output is left out but for what the task wrote',
    status: ['?? dist/a.js', '?? dist/b/c.js', '?? dist/mine.js'],
    untracked: ['dist'],
    changed: ['dist/mine.js'],
    leftOut: ['dist/a.js', 'dist/b'],
  },
  {
    name: 'a folder with something ignored in it is not left out with it',
    status: ['?? src/a.log', '?? src/deep/a.js'],
    untracked: ['src'],
    changed: ['src/deep/a.js'],
    leftOut: ['src/a.log'],
  },
  {
    name: 'what was changed before the task is left out, tracked or not',
    status: [' M a.draft', 'D  b.draft', '?? notes/c.draft', '?? notes/d.js'],
    untracked: ['notes'],
    changed: ['notes/d.js'],
    leftOut: ['a.draft', 'b.draft', 'notes/c.draft'],
  },
  {
    name: 'submodules and other repositories are left out',
    status: [' M lib', '?? clone/', 'M  src/a.js'],
    submodules: ['lib'],
    changed: ['src/a.js'],
    leftOut: ['clone', 'lib'],
  },
]

describe('what a task commits', () => {
  it.each(CASES)('[REQ-COMMIT-4] $name', ({ status, untracked = [], submodules = [], changed, leftOut }) => {
    const entries = status.map((line) => ({ index: line[0] ?? '', tree: line[1] ?? '', path: line.slice(3) }))
    const listing: GitListing = { branch: 'main', entries, untrackedFolders: untracked, submodules }
    const scope = commitScope(listing, RULES)
    expect(scope.changed.map(({ path }) => path)).toEqual(changed)
    expect(scope.leftOut).toEqual(leftOut)
  })
})
