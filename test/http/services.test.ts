import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findFreePort } from '../find-free-port.js'
import { type Running, start } from './harness.js'

const RUN_MS_MAX = 300_000
const contract = (name: string, check: string, services: string): string => `
name: ${name}
version: "1"
phases:
  - id: WORK
    allowed_tools: [run_tests, write_files, bash]
    gates: [{id: judged, type: validation, blockers: [{check: ${check}, message: As the tests say}]}]
  - {id: DONE, allowed_tools: [read_files]}
transitions: [{from: WORK, to: DONE, gate: judged}]
commands:
  tests: {run: node --test --test-reporter=tap tests/, format: node${services}}
`
/** A test that asks a port for a word. */
const asks = (at: string): string => `import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
test('the service answers', async () => {
  const socket = connect(${at})
  socket.end('hello')
  const [answer] = await once(socket, 'data')
  assert.equal(String(answer), 'HELLO')
})
`

let run: Running
let echo: Server
let other: Server
let count = 0
let dir: string

const port = (server: Server): number => (server.address() as AddressInfo).port

async function listen(at: object): Promise<Server> {
  const server = createServer((socket) => {
    socket.on('data', (chunk) => socket.write(String(chunk).toUpperCase()))
    socket.on('error', () => undefined)
  })
  await new Promise<void>((resolve) => server.listen(at, resolve))
  return server
}

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'phaselock-services-'))
  run = await start()
  echo = await listen({ host: '127.0.0.1', port: 0 })
  other = await listen({ host: '127.0.0.1', port: 0 })
})
afterAll(async () => {
  await run?.stop()
  echo?.close()
  other?.close()
  rmSync(dir, { recursive: true, force: true })
})

async function begin(test: string, services: string, check = 'all_tests_pass') {
  count += 1
  const id = `service-${count}`
  const workspace = join(run.workspace, '..', id)
  const files = { 'package.json': '{"name": "shop"}', 'tests/service.test.mjs': test }
  for (const [path, text] of Object.entries(
    check === 'all_tests_pass' ? files : { 'package.json': '{"name": "shop"}' },
  )) {
    mkdirSync(dirname(join(workspace, path)), { recursive: true })
    writeFileSync(join(workspace, path), text)
  }
  const added = await run.call('POST', '/contracts', run.operator, { source: contract(id, check, services) })
  expect(added.status, JSON.stringify(added.body)).toBe(201)
  await run.addTask({ id, contract: String(added.body.hash), workspace })
  const token = await run.claim(id, await run.addAgent(id), id)
  const use = async (tool_name: string, args: object) =>
    (await run.call('POST', '/tools/execute', token, { task_id: id, tool_name, args })).body
  if (check !== 'all_tests_pass') await use('write_files', { path: 'tests/service.test.mjs', content: test })
  return {
    use,
    runTests: async () => (await use('run_tests', {})).result as Record<string, unknown>,
    ask: async () => (await run.call('POST', '/tasks/transition', token, { task_id: id, target_phase: 'DONE' })).body,
    events: async () =>
      (await run.call('GET', `/tasks/${id}/timeline?limit=500`, run.operator)).body.events as {
        type: string
        data: Record<string, unknown>
      }[],
  }
}

describe('services that tests need', () => {
  it(
    '[REQ-SERVICE-1] a named service is reached at its own address, and the evidence says so',
    async () => {
      const address = `127.0.0.1:${port(echo)}`
      const task = await begin(asks(`${port(echo)}, '127.0.0.1'`), `, services: {echo: "${address}"}`)
      expect(await task.runTests()).toMatchObject({
        ...{ passed: 1, failed: 0, services: [{ name: 'echo', address, connections: 1, refused: 0 }] },
      })
      expect(await task.ask()).toMatchObject({ allowed: true })
      const [asked] = (await task.events()).filter(({ type }) => type === 'transition_requested')
      expect(asked?.data.observed).toMatchObject([{ services: [{ name: 'echo', address, connections: 1 }] }])
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-SERVICE-2] what is not named is not reachable, for tests and for bash',
    async () => {
      const task = await begin(asks(`${port(other)}, '127.0.0.1'`), `, services: {echo: "127.0.0.1:${port(echo)}"}`)
      const result = await task.runTests()
      expect(result).toMatchObject({ passed: 0, failed: 1 })
      expect(JSON.stringify(result.failures)).toContain('ECONNREFUSED')
      expect(await task.ask()).toMatchObject({ allowed: false })
      const bash = (await task.use('bash', { command: `exec 3<>/dev/tcp/127.0.0.1/${port(echo)}` })).result
      expect(bash).toMatchObject({ exit_code: 1, stderr: expect.stringContaining('refused') })
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-SERVICE-3] a refused connection is named and is never RED',
    async () => {
      const test = asks(`${port(echo)}, '127.0.0.1'`)
      const unnamed = await begin(test, '', 'tests_are_failing')
      const blocked = JSON.stringify(await unnamed.ask())
      expect(blocked).toContain('ECONNREFUSED')
      expect(blocked).toContain('commands.tests.services')
      const address = `127.0.0.1:${await findFreePort()}`
      const down = await begin(test, `, services: {db: "${address}"}`, 'tests_are_failing')
      const answer = await down.ask()
      expect(answer).toMatchObject({ allowed: false })
      expect(JSON.stringify(answer)).toContain(`the service db at ${address} refused the connection`)
      expect(await down.runTests()).toMatchObject({ cause: 'connection refused', mended_by: 'operator' })
      // With the service there, a test fails for what it says.
      const wrong = test.replace("'HELLO'", "'WORLD'")
      const red = await begin(wrong, `, services: {echo: "127.0.0.1:${port(echo)}"}`, 'tests_are_failing')
      expect(await red.ask()).toMatchObject({ allowed: true })
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-SERVICE-4] a socket of the machine is reached below /run/phaselock',
    async () => {
      const path = join(dir, 'echo.sock')
      const server = await listen({ path })
      const task = await begin(asks("'/run/phaselock/echo.sock'"), `, services: {echo: "${path}"}`)
      expect(await task.runTests()).toMatchObject({ passed: 1, failed: 0 })
      server.close()
    },
    RUN_MS_MAX,
  )

  it('[REQ-SERVICE-5] only services of this machine, each with a separate name and port', async () => {
    for (const services of [
      '{db: "192.168.0.1:5432"}',
      '{db: "0.0.0.0:5432"}',
      '{db: "example.org:5432"}',
      '{db: "127.0.0.1:80"}',
      '{db: "127.0.0.1:70000"}',
      '{db: "relative.sock"}',
      '{"d b": "127.0.0.1:5432"}',
      '{report: "127.0.0.1:5432"}',
      '{a: "127.0.0.1:5432", b: "localhost:5432"}',
      '{db: {start: "true"}}',
    ]) {
      const source = contract('refused', 'all_tests_pass', `, services: ${services}`)
      const added = await run.call('POST', '/contracts', run.operator, { source })
      expect(added.status, services).toBe(400)
    }
  })

  it(
    '[REQ-SERVICE-6] what the command that starts it printed at its end is in the answer when it failed',
    async () => {
      const start = '(sleep 0.2; echo no room on the disk) & exit 1'
      const services = JSON.stringify({ db: { address: `127.0.0.1:${await findFreePort()}`, start } })
      const task = await begin(asks(`${port(echo)}, '127.0.0.1'`), `, services: ${services}`)
      expect(JSON.stringify(await task.ask())).toMatch(/after it was started: .* ended with 1: no room on the disk/)
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-SERVICE-6] PostgreSQL is started by the contract, used and stopped',
    async (test) => {
      const bin = findPostgres()
      if (bin === null) test.skip('PostgreSQL is not installed here')
      const data = join(dir, 'data')
      const as = process.getuid?.() === 0 ? ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups'] : []
      mkdirSync(data, { mode: 0o700 })
      chmodSync(dir, 0o755)
      if (as.length > 0) chownSync(data, 65534, 65534)
      const [program = '', ...words] = [...as, `${bin}/initdb`, '-D', data, '-U', 'postgres', '--auth=trust', '-N']
      execFileSync(program, words, { cwd: '/', stdio: 'ignore' })
      const free = await findFreePort()
      const pg = (action: string): string => `${[...as, `${bin}/pg_ctl`].join(' ')} -D ${data} ${action}`
      const options = `-o '-p ${free} -c listen_addresses=127.0.0.1 -k ${data}'`
      const services = JSON.stringify({
        postgres: {
          address: `127.0.0.1:${free}`,
          start: pg(`-l ${data}/log ${options} -w start`),
          stop: pg('-m fast -w stop'),
          ready: `${bin}/pg_isready -q -h 127.0.0.1 -p ${free}`,
        },
      })
      const asked = `import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
const ask = (query) => execFileSync('${bin}/psql', ['-h', '127.0.0.1', '-p', '${free}', '-U', 'postgres', '-Atc', query])
test('adds up', () => assert.equal(String(ask('select 40 + 2')).trim(), '42'))
`
      const task = await begin(asked, `, services: ${services}`)
      const result = await task.runTests()
      expect(result, JSON.stringify(result)).toMatchObject({ passed: 1, failed: 0 })
      expect(existsSync(join(data, 'postmaster.pid'))).toBe(false)
    },
    RUN_MS_MAX,
  )
})

function findPostgres(): string | null {
  const root = '/usr/lib/postgresql'
  const [version] = existsSync(root) ? readdirSync(root) : []
  const bin = `${root}/${version}/bin`
  return version !== undefined && spawnSync(`${bin}/initdb`, ['--version']).status === 0 ? bin : null
}
