import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { saysNoNetwork } from '../../src/core/dependencies/package-managers.js'
import { makePlace, type Place, type Served, serve } from './process.js'
import { type Files, git, makeRepository } from './projects.js'
import { implementation, testFiles, Walker } from './walker.js'

const WALK_MS_MAX = 300_000
const PROJECT: Files = {
  'package.json': `${JSON.stringify({ name: 'carts', type: 'module', scripts: { test: 'node --test' } }, null, 2)}\n`,
  'src/price.js': 'export const cents = (euros) => euros * 100\n',
  '.gitignore': 'node_modules/\n',
}
const TEST = 'tests/sum.test.js'
// Toolchains of the machine, and what it takes to reach registries from here.
const SURROUNDINGS = {
  ...{ HOME: process.env.HOME, NODE_EXTRA_CA_CERTS: process.env.NODE_EXTRA_CA_CERTS },
  SSL_CERT_FILE: process.env.SSL_CERT_FILE,
}
const REGISTRY = `${execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim()}is-odd`
const TEST_TEXT = `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sum } from '../src/sum.js'

test('prices are summed up', () => assert.equal(sum([5, 7]), 12))
`
const SUM = `import { add } from 'adder'\n\nexport const sum = (prices) => prices.reduce(add, 0)\n`

const KEPT_ELSEWHERE = [
  {
    program: 'go',
    command: ['go', 'get', 'github.com/google/uuid@v1.6.0'],
    files: {
      'shop/go.mod': 'module shop\n\ngo 1.20\n',
      'shop/shop.go':
        'package shop\n\nimport "github.com/google/uuid"\n\nfunc ID() string { return uuid.NewString() }\n',
    },
    // Below the root, so that the standard library is not compiled for observed runs.
    uses: 'cd shop && go list -deps ./...',
    cwd: 'shop',
  },
  {
    program: 'cargo',
    command: ['cargo', 'add', 'itoa@1.0.11'],
    files: {
      'Cargo.toml': '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n',
      'src/lib.rs': 'pub fn text(n: u32) -> String { itoa::Buffer::new().format(n).to_string() }\n',
    },
    uses: 'cargo check',
    cwd: '.',
  },
] as const

/** A package as a file that npm installs without a registry. `script` runs when it is installed. */
function pack(tree: string, name: string, script?: string): string {
  const dir = mkdtempSync(join(tmpdir(), 'phaselock-package-'))
  const scripts = script === undefined ? {} : { scripts: { postinstall: 'node install.js' } }
  mkdirSync(join(dir, 'package'))
  const manifest = { name, version: '1.0.0', type: 'commonjs', main: 'index.js', ...scripts }
  writeFileSync(join(dir, 'package/package.json'), JSON.stringify(manifest))
  writeFileSync(join(dir, 'package/index.js'), 'exports.add = (a, b) => a + b\n')
  if (script !== undefined) writeFileSync(join(dir, 'package/install.js'), script)
  mkdirSync(join(tree, 'packed'), { recursive: true })
  execFileSync('tar', ['-czf', join(tree, 'packed', `${name}.tgz`), '-C', dir, 'package'])
  rmSync(dir, { recursive: true, force: true })
  return `./packed/${name}.tgz`
}

describe('dependencies that a task needs', () => {
  let place: Place
  let server: Served
  let count = 0

  beforeAll(async () => {
    place = await makePlace()
    makeRepository(place.workspace, PROJECT)
    server = await serve(place, 'tdd', SURROUNDINGS)
  }, WALK_MS_MAX)
  afterAll(async () => {
    await server?.stop()
    place?.remove()
  })

  /** In IMPL with a failing test, in a tree with packages to install. */
  async function begin(
    packages: Readonly<Record<string, string | undefined>> = { adder: undefined },
    files: Files = {},
  ) {
    count += 1
    const tree = join(place.dir, `tree-${count}`)
    for (const [name, script] of Object.entries(packages)) pack(tree, name, script)
    makeRepository(tree, { ...PROJECT, ...files })
    const task = `install-${count}`
    const agent = await Walker.claim(server, task, { workspace: tree })
    await agent.plan()
    await agent.does('write_files', { path: TEST, content: TEST_TEXT })
    await agent.enters('IMPL', testFiles(TEST))
    const install = (command: readonly string[], more = {}) =>
      server.call('POST', `/tasks/${task}/install`, server.operator, { command, ...more })
    const ask = (command: readonly string[]) => agent.use('request_dependency', { command, reason: 'adds numbers' })
    const decide = async (decision: 'approve' | 'reject', asked: Record<string, unknown>, token = server.operator) => {
      const { approval_id: id, digest } = asked.result as { approval_id: string; digest: string }
      return server.call('POST', `/approvals/${id}/decision`, token, { decision, digest, comment: 'looked at it' })
    }
    const events = async () => {
      const { body } = await server.call('GET', `/tasks/${task}/timeline?limit=500`, server.operator)
      return body.events as { type: string; actor: string; data: Record<string, unknown> }[]
    }
    const green = () => agent.move('REVIEW', implementation('src/sum.js'))
    const read = (path: string): string => readFileSync(join(tree, path), 'utf8')
    return { agent, tree, task, install, ask, decide, events, green, read }
  }

  it(
    '[REQ-INSTALL-1] an agent asks, a person approves exactly that command, and the task completes with what was installed',
    async () => {
      const { agent, tree, ask, decide, events, green, read } = await begin()
      const command = ['npm', 'install', './packed/adder.tgz']
      const asked = await ask(command)
      expect(asked.body.result, JSON.stringify(asked.body)).toMatchObject({ status: 'pending', command })
      const { approval_id: id } = asked.body.result as { approval_id: string }
      const shown = await server.call('GET', `/approvals/${id}`, server.operator)
      expect(shown.body.contents).toMatchObject({
        request_dependency: { command: command.join(' '), words: command, reason: 'adds numbers' },
      })
      expect(await decide('approve', asked.body, agent.token)).toMatchObject({ status: 403 })
      expect((await ask(command)).body.result).toMatchObject({ status: 'pending', approval_id: id })
      expect(existsSync(join(tree, 'node_modules'))).toBe(false)
      expect((await decide('approve', asked.body)).status).toBe(200)
      const done = await ask(command)
      expect(done.body.result, JSON.stringify(done.body)).toMatchObject({
        ...{ status: 'installed', exit_code: 0, paths: ['node_modules', 'package-lock.json', 'package.json'] },
      })
      expect(read('node_modules/adder/index.js')).toContain('exports.add')
      expect(read('package.json')).toContain('"adder"')
      const recorded = (await events()).find(({ type }) => type === 'install_finished')
      expect(recorded).toMatchObject({
        actor: `agent:agent-${agent.task}`,
        data: {
          command,
          exit_code: 0,
          success: true,
          approval_id: id,
          paths: expect.arrayContaining(['package.json']),
        },
      })
      // The approval was for one install.
      expect((await ask(command)).body.result).toMatchObject({ status: 'used' })
      await agent.does('write_files', { path: 'src/sum.js', content: SUM })
      expect(await green()).toMatchObject({ allowed: true, phase: 'REVIEW' })
      await agent.finish('Sum up prices')
      expect(git(tree, 'show', '--stat', 'HEAD')).toContain('package-lock.json')
    },
    WALK_MS_MAX,
  )

  it(
    '[REQ-INSTALL-1] an approval does not count once the manifest or a named file was changed',
    async () => {
      const { agent, tree, ask, decide, read } = await begin()
      const command = ['npm', 'install', './packed/adder.tgz']
      const approve = async (): Promise<string> => {
        const asked = await ask(command)
        expect((await decide('approve', asked.body)).status).toBe(200)
        return (asked.body.result as { approval_id: string }).approval_id
      }
      const first = await approve()
      const manifest = read('package.json')
      const lying = { ...JSON.parse(manifest), dependencies: { evil: 'file:./src/evil' } }
      await agent.does('write_files', { path: 'package.json', content: JSON.stringify(lying) })
      const again = await ask(command)
      expect(again.body.result, JSON.stringify(again.body)).toMatchObject({ status: 'pending' })
      expect((again.body.result as { approval_id: string }).approval_id).not.toBe(first)
      expect(existsSync(join(tree, 'node_modules'))).toBe(false)
      // Put back, the first approval counts.
      await agent.does('write_files', { path: 'package.json', content: manifest })
      expect((await ask(command)).body.result).toMatchObject({ status: 'installed' })
    },
    WALK_MS_MAX,
  )

  it(
    '[REQ-INSTALL-2] what was rejected is not installed',
    async () => {
      const { tree, ask, decide, read } = await begin()
      const command = ['npm', 'install', './packed/adder.tgz']
      await decide('reject', (await ask(command)).body)
      expect((await ask(command)).body.result).toMatchObject({ status: 'rejected', comment: 'looked at it' })
      expect(existsSync(join(tree, 'node_modules'))).toBe(false)
      expect(read('package.json')).toBe(PROJECT['package.json'])
    },
    WALK_MS_MAX,
  )

  it(
    '[REQ-INSTALL-3] an install that changes more than dependencies is refused, named and leaves nothing',
    async () => {
      const script = (path: string, text: string): string =>
        `require('node:fs').writeFileSync(require('node:path').join(process.env.INIT_CWD, '${path}'), ${JSON.stringify(text)})`
      const { tree, install, events, green, agent, read } = await begin({
        adder: undefined,
        writer: script('src/sum.js', 'export const sum = () => 12\n'),
        tester: script(TEST, ''),
        failing: 'console.error("no compiler here"); process.exit(3)',
      })
      const refused = await install(['npm', 'install', './packed/writer.tgz'])
      expect(refused).toMatchObject({ status: 403, body: { code: 'constraint_violation' } })
      expect(refused.body.detail).toContain('src/sum.js')
      expect((await install(['npm', 'install', './packed/tester.tgz'])).body.detail).toContain(TEST)
      const failed = await install(['npm', 'install', './packed/failing.tgz'])
      expect(failed.body).toMatchObject({ code: 'tool_failed' })
      expect(failed.body.detail).toContain('no compiler here')
      expect((await events()).filter(({ type }) => type === 'install_finished').map(({ data }) => data)).toMatchObject([
        { success: false, exit_code: 0, paths: [] },
        { success: false, exit_code: 0 },
        { success: false, exit_code: expect.any(Number) },
      ])
      expect(existsSync(join(tree, 'node_modules'))).toBe(false)
      expect(existsSync(join(tree, 'src/sum.js'))).toBe(false)
      expect(read('package.json')).toBe(PROJECT['package.json'])
      const honest = await install(['npm', 'install', './packed/adder.tgz'])
      expect(honest, JSON.stringify(honest.body)).toMatchObject({ status: 200, body: { install: { exit_code: 0 } } })
      await agent.does('write_files', { path: 'src/sum.js', content: SUM })
      expect(await green()).toMatchObject({ allowed: true })
    },
    WALK_MS_MAX,
  )

  it(
    '[REQ-INSTALL-4] only words of a known package manager, from an operator or an approved request',
    async () => {
      const { agent, task, install, ask } = await begin()
      for (const command of [
        ['bash', '-c', 'npm i x'],
        ['npm', 'run', 'test'],
        ['npm', 'exec', 'x'],
        ['./npm', 'install', 'x'],
        ['npm', 'install', 'x', '&&', 'rm', '-rf', '.'],
        ['npm', 'install', '$(id)'],
        ['npm', 'install', 'a b'],
        ['npm', 'install', '\u202eadder'],
      ]) {
        expect(await install(command), command.join(' ')).toMatchObject({
          status: 400,
          body: { code: 'invalid_request' },
        })
        expect((await ask(command)).body, command.join(' ')).toMatchObject({ code: 'invalid_request' })
      }
      expect(await install(['npm', 'install', 'x'], { cwd: '../..' })).toMatchObject({ status: 400 })
      const own = await server.call('POST', `/tasks/${task}/install`, agent.token, { command: ['npm', 'install', 'x'] })
      expect(own.status).toBe(403)
    },
    WALK_MS_MAX,
  )

  it(
    '[REQ-INSTALL-5] npm install in bash fails with the way to do it',
    async () => {
      const { agent, tree } = await begin()
      const done = await agent.does('bash', { command: 'npm install left-pad' })
      expect(done.exit_code).not.toBe(0)
      expect(JSON.stringify(done.notes)).toContain('request_dependency')
      expect(JSON.stringify(done.notes)).toContain(`phaselock install ${agent.task} --`)
      expect(existsSync(join(tree, 'node_modules'))).toBe(false)
      // An error of another kind is not taken for a missing network.
      expect((await agent.does('bash', { command: 'npm install ./packed/none.tgz' })).notes).toBeUndefined()
    },
    WALK_MS_MAX,
  )

  it(
    '[REQ-INSTALL-6] a package of the registry is installed with network, and is there for the tests',
    async (test) => {
      const reached = await fetch(REGISTRY).catch(() => null)
      if (reached === null || !reached.ok) test.skip('the registry of npm cannot be reached')
      const { agent, install, green } = await begin()
      const done = await install(['npm', 'install', 'is-odd@3.0.1'])
      expect(done, JSON.stringify(done.body)).toMatchObject({ status: 200 })
      const sum = `import isOdd from 'is-odd'\n\nexport const sum = ([a, b]) => (isOdd(a) ? a + b : 0)\n`
      await agent.does('write_files', { path: 'src/sum.js', content: sum })
      expect(await green()).toMatchObject({ allowed: true })
    },
    WALK_MS_MAX,
  )

  for (const { program, command, files, uses, cwd } of KEPT_ELSEWHERE)
    it(
      `[REQ-INSTALL-7] what ${program} keeps outside of the tree is there for commands without network`,
      async (test) => {
        if (spawnSync(program, ['--version']).error !== undefined) test.skip(`${program} is not installed here`)
        const { agent, install, tree } = await begin({}, files)
        expect((await agent.does('bash', { command: uses })).exit_code).not.toBe(0)
        // Nobody prepares what the install fetches.
        mkdirSync(join(tree, '.phaselock-fetched'))
        expect(await install(command, { cwd })).toMatchObject({ status: 409 })
        rmSync(join(tree, '.phaselock-fetched'), { recursive: true })
        const done = await install(command, { cwd })
        if (saysNoNetwork(String(done.body.detail))) test.skip(`the registry of ${program} cannot be reached`)
        expect(done, JSON.stringify(done.body)).toMatchObject({ status: 200 })
        const built = await agent.does('bash', { command: uses })
        expect(built.exit_code, JSON.stringify(built)).toBe(0)
      },
      WALK_MS_MAX,
    )
})
