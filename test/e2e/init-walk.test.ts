import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { built, Place } from '../cli/program.js'
import { sample } from '../depth.js'
import type { Served } from './process.js'
import { type Files, git, makeRepository } from './projects.js'
import { startUp } from './start-up.js'
import { implementation, testFiles, Walker } from './walker.js'

const WALK_MS_MAX = 300_000

const repositoryWith = (folder: string): Files => ({
  'package.json': `${JSON.stringify({ name: 'carts', type: 'module', scripts: { test: 'node --test' } })}\n`,
  'src/price.js': 'export const cents = (euros) => euros * 100\n',
  [`${folder}/price.test.js`]: `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cents } from '../src/price.js'

test('a price has cents', () => assert.equal(cents(2), 200))
`,
})
const TEST = `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sum } from '../src/sum.js'

test('prices are summed up', () => assert.equal(sum([5, 7]), 12))
`
const CODE = 'export const sum = (prices) => prices.reduce((all, one) => all + one, 0)\n'
const CONTRACT = 'agent_workflow.yaml'

const COMMIT = ['-c', 'user.name=t', '-c', 'user.email=t@localhost', 'commit', '--quiet', '-m', 'Contract']

const KINDS: readonly (readonly [name: string, folder: string, prepare: (tree: string) => void])[] = [
  ['untracked', 'test', () => undefined],
  [
    'tracked',
    'tests',
    (tree) => {
      git(tree, 'add', CONTRACT)
      git(tree, ...COMMIT)
    },
  ],
  ['excluded by .git/info/exclude', 'test', (tree) => appendFileSync(join(tree, '.git/info/exclude'), `${CONTRACT}\n`)],
]

describe('a repository in which `phaselock init` wrote the contract', () => {
  beforeAll(built, WALK_MS_MAX)

  it.concurrent.each(sample(KINDS, 1))(
    '[REQ-COMMIT-1] an honest agent completes its task under a contract that is %s, with tests in %s/',
    async (_, folder, prepare) => {
      let close: () => Promise<void> = async () => undefined
      const place = new Place((end) => (close = end))
      try {
        makeRepository(place.work, repositoryWith(folder))
        expect((await place.run(['init', '--yes'])).code).toBe(0)
        const written = readFileSync(join(place.work, CONTRACT), 'utf8')
        expect(written, '[REQ-EXTENDS-7]').toContain('extends: [ phaselock/tdd, phaselock/javascript-node-test ]')
        prepare(place.work)
        await walk(await startUp(place), place.work, folder)
      } finally {
        await place.run(['down'])
        await close()
      }
    },
    WALK_MS_MAX,
  )
})

async function walk(server: Served, tree: string, folder: string): Promise<void> {
  const contract = readFileSync(join(tree, CONTRACT), 'utf8')
  const before = git(tree, 'status', '--porcelain')
  const agent = await Walker.claim(server, 'carts')
  expect(await agent.does('git_status', {})).toMatchObject({ clean: true, staged: [], changed: [], untracked: [] })
  await agent.plan()
  await agent.does('write_files', { path: `${folder}/sum.test.js`, content: TEST })
  await agent.enters('IMPL', testFiles(`${folder}/sum.test.js`))
  await agent.does('write_files', { path: 'src/sum.js', content: CODE })
  for (const [tool, args] of [
    ['write_files', { path: CONTRACT, content: 'name: mine\n' }],
    ['bash', { command: `echo 'name: mine' > ${CONTRACT}; rm -f ${CONTRACT}; true` }],
  ] as const)
    await agent.use(tool, args)
  const { diff } = (await agent.does('git_diff', {})) as { diff: string }
  expect([...diff.matchAll(/^\+\+\+ b\/(.*)$/gm)].map(([, path]) => path)).toEqual([
    'src/sum.js',
    `${folder}/sum.test.js`,
  ])
  await agent.enters('REVIEW', implementation('src/sum.js'))
  await agent.finish('Sum up prices', 'by a person')
  expect(readFileSync(join(tree, CONTRACT), 'utf8')).toBe(contract)
  const names = git(tree, 'show', '--name-only', '--format=', 'HEAD').trim().split('\n')
  expect(names).toEqual(['src/sum.js', `${folder}/sum.test.js`])
  expect(git(tree, 'status', '--porcelain')).toBe(before)
}
