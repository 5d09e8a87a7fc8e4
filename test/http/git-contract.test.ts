import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Confinement, PROVIDERS } from '../../src/confinement/confinement.js'
import { openConfinement } from '../../src/confinement/open-confinement.js'
import { depth, sample } from '../depth.js'
import { git } from '../e2e/projects.js'
import { removedAtExit } from '../leaving.js'
import { Committer, commitAll, committingContract, inNewest, put, TOOLS } from './committing.js'
import { type Running, start } from './harness.js'

const CONTRACT = 'agent_workflow.yaml'
const TEXT = committingContract()
const OPEN_MS_MAX = 180_000

const KINDS: readonly (readonly [name: string, prepare: (tree: string) => void])[] = [
  ['untracked', () => undefined],
  ['tracked', (tree) => commitAll(tree, CONTRACT)],
  [
    'tracked and edited',
    (tree) => {
      commitAll(tree, CONTRACT)
      appendFileSync(join(tree, CONTRACT), '# by an operator\n')
    },
  ],
  ['staged', (tree) => void git(tree, 'add', CONTRACT)],
  ['excluded', (tree) => appendFileSync(join(tree, '.git/info/exclude'), `${CONTRACT}\n`)],
]

describe.each(sample(PROVIDERS, 2))('a contract at the root of the repository, with the provider %s', (provider) => {
  let run: Running
  let wall: Confinement
  beforeAll(async () => {
    const stateDir = removedAtExit(mkdtempSync(join(tmpdir(), 'phaselock-provider-')))
    wall = await openConfinement({ stateDir, only: provider })
    const contract = provider === 'none' ? committingContract('enforcement: {confinement: "off"}') : TEXT
    run = await start({ contract, confinement: async () => wall })
  }, OPEN_MS_MAX)
  afterAll(async () => {
    await run?.stop()
    await wall?.close()
  })

  it.for(provider === PROVIDERS[0] ? KINDS : depth(KINDS.slice(0, 1), KINDS))(
    '[REQ-COMMIT-2] %s, it closes no gate, is shown by no git tool, is not committed and stays as it is',
    { timeout: OPEN_MS_MAX },
    async ([kind, prepare], { skip }) => {
      skip(wall.provider !== provider, `${provider} is not available on this machine`)
      const tree = join(run.workspace, '..', `tree-${kind.replaceAll(' ', '-')}`)
      mkdirSync(tree)
      git(tree, 'init', '--quiet')
      put(tree, { 'a.txt': 'a\n' })
      commitAll(tree)
      put(tree, { [CONTRACT]: TEXT })
      prepare(tree)
      const before = readFileSync(join(tree, CONTRACT), 'utf8')
      const status = git(tree, 'status', '--porcelain')

      const agent = await Committer.claim(run, kind.replaceAll(' ', '-'), tree)
      expect(await agent.does('git_status')).toMatchObject({ clean: true })
      await agent.write('b.txt')
      expect(await agent.blockers()).toEqual(['Commit: not committed: b.txt', 'Clean: not committed: b.txt'])
      expect(await agent.does('git_status')).toMatchObject({ staged: [], changed: [], untracked: ['b.txt'] })
      expect(await agent.does('git_diff')).toMatchObject({
        diff: expect.stringMatching(/^diff --git a\/b\.txt b\/b\.txt\nnew file/),
      })
      expect(JSON.stringify(await agent.does('git_diff'))).not.toContain(CONTRACT)
      expect(await agent.does('git_diff', { staged: true })).toMatchObject({ diff: '' })
      expect(await agent.use('git_commit', { message: 'mine', paths: [CONTRACT] })).toMatchObject({ status: 400 })
      expect(await agent.use('write_files', { path: CONTRACT, content: 'name: mine\n' })).toMatchObject({ status: 403 })
      // Without a wall nothing holds a command back.
      if (provider !== 'none') await agent.use('bash', { command: `echo mine > ${CONTRACT}; rm -f ${CONTRACT}` })

      await agent.does('git_commit', { message: 'work' })
      expect(inNewest(tree)).toEqual(['b.txt'])
      expect(await agent.leave()).toMatchObject({ allowed: true, status: 'completed' })
      expect(readFileSync(join(tree, CONTRACT), 'utf8')).toBe(before)
      expect(git(tree, 'status', '--porcelain')).toBe(status)
    },
  )
})

const PLAN = '{"type": "object"}\n'

describe('what belongs to a contract', () => {
  let run: Running
  afterEach(() => run?.stop())

  it('[REQ-COMMIT-3] a folder of documents is neither shown nor committed', async () => {
    const dir = realpathSync(mkdtempSync(join(tmpdir(), 'phaselock-folder-')))
    const tree = join(dir, 'tree')
    const phase = (number: number) => `# Phase ${number}: Step\n\nDo it.\n\n## Checkpoint\n\n- \`count\` (integer)\n`
    put(tree, {
      'a.txt': 'a\n',
      'agent_workflow/metadata.yaml': `workflow_type: demo\nversion: "1"\nallowed_tools: ${TOOLS}\nwritable: ["**"]\n`,
      'agent_workflow/phases/1/phase.md': phase(1),
      'agent_workflow/phases/2/phase.md': phase(2),
    })
    git(tree, 'init', '--quiet')
    commitAll(tree, 'a.txt')
    run = await start({ dir, contractFile: join(tree, 'agent_workflow') })
    const agent = await Committer.claim(run, 't')
    const own = { path: 'agent_workflow/notes.md', content: 'mine' }
    expect(await agent.use('write_files', own)).toMatchObject({ status: 403 })
    await agent.write('b.txt')
    expect(await agent.does('git_status')).toMatchObject({ untracked: ['b.txt'], changed: [], staged: [] })
    await agent.does('git_commit', { message: 'work' })
    expect(inNewest(tree)).toEqual(['b.txt'])
  })

  it('[REQ-COMMIT-3] schemas beside it are neither committed nor in the way, and an agent cannot change them', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'phaselock-schemas-'))
    const tree = join(dir, 'tree')
    const contract = TEXT.replace(
      '    gates:',
      '    required_artifacts: [{type: plan_document, schema: schemas/own.json, description: x}]\n    gates:',
    )
    put(tree, { 'a.txt': 'a\n', [CONTRACT]: contract, 'schemas/own.json': PLAN })
    git(tree, 'init', '--quiet')
    commitAll(tree, 'a.txt')
    run = await start({ dir, contractFile: join(tree, CONTRACT) })
    const agent = await Committer.claim(run, 't')
    expect(await agent.does('git_status')).toMatchObject({ clean: true })
    expect(await agent.use('write_files', { path: 'schemas/own.json', content: '{}' })).toMatchObject({ status: 403 })
    await agent.write('schemas/other.json')
    await agent.does('git_commit', { message: 'work' })
    expect(inNewest(tree)).toEqual(['schemas/other.json'])
    expect((await agent.blockers()).join()).not.toContain('not committed')
  })
})
