import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ROOT } from '../cli/program.js'
import { makePlace, serve } from '../e2e/process.js'
import { EXAMPLES_CONTRACT, type ExampleTask, exampleTask, planWith, startExamples } from '../http/exampling.js'
import type { Running } from '../http/harness.js'
import { ERAS, McpAgent } from '../mcp/clients.js'

const MARKER = 'heldout-5512-marker'
const heldOut = (expect: object = { stdout: 'ok' }, run = `node src/add.mjs ${MARKER}`) => ({
  held_out: { examples: [{ criterion: 'AC-1', run, stdin: MARKER, expect }] },
})
const HONEST = "console.log(process.argv[2] === undefined ? 'none' : 'ok')\n"

describe('held-out examples', () => {
  let run: Running
  beforeAll(async () => {
    run = await startExamples()
  })
  afterAll(() => run.stop())
  const bash = async (task: ExampleTask, command: string): Promise<string> => {
    const body = { task_id: task.id, tool_name: 'bash', args: { command } }
    return JSON.stringify((await run.call('POST', '/tools/execute', task.token, body)).body.result ?? {})
  }
  const inImpl = async (about: object, ...examples: object[]): Promise<ExampleTask> => {
    const task = await exampleTask(run, about)
    expect((await task.move('IMPL', planWith(...examples))).body).toMatchObject({ allowed: true })
    return task
  }

  it('[REQ-EXAMPLES-4] code under test cannot leave its input anywhere that the agent can read', async () => {
    const task = await inImpl(heldOut())
    const places = [
      'kept.txt',
      '.cache/kept',
      'node_modules/kept',
      '/tmp/kept',
      '/var/tmp/kept',
      '.git/kept',
      'build/kept',
    ]
    await task.put(
      'src/add.mjs',
      `import fs from 'node:fs'
import net from 'node:net'
const asked = process.argv[2] + fs.readFileSync(0, 'utf8')
for (const place of ${JSON.stringify(places)}) try {
  fs.mkdirSync(place.replace(/[^/]*$/, '') || '.', { recursive: true })
  fs.writeFileSync(place, asked)
} catch {}
const out = net.connect(${run.port}, '127.0.0.1', () => out.end('POST /' + asked + ' HTTP/1.1\\r\\n\\r\\n'))
out.on('error', (error) => fs.writeSync(2, asked + error.code))
console.error(asked)
console.log(asked)
`,
    )
    const blocked = await task.move('REVIEW')
    expect(task.message(blocked)).toBe('The examples must hold: A held-out example of AC-1 does not hold.')
    expect(JSON.stringify(blocked.body)).not.toContain(MARKER)
    for (const place of places)
      expect(await bash(task, `cat ${place}; ls -a . .cache build node_modules /tmp`)).not.toContain(MARKER)
    for (const place of places.filter((one) => !one.startsWith('/')))
      expect(existsSync(join(task.workspace, place))).toBe(false)
    const shown = await run.call('GET', `/tasks/${task.id}/held-out`, run.operator)
    expect(JSON.stringify(shown.body.last_failure)).toContain(MARKER)
  }, 60_000)

  it('[REQ-EXAMPLES-4] no tool, resource or prompt over MCP shows them', async () => {
    const task = await inImpl(heldOut())
    await task.put('src/add.mjs', "console.log('no')\n")
    expect((await task.move('REVIEW')).body).toMatchObject({ allowed: false })
    for (const era of ERAS) {
      const agent = await McpAgent.connect(run.url, task.agent, era)
      const said: unknown[] = []
      const { tools } = await agent.client.listTools()
      said.push(tools)
      for (const { name } of tools.filter((tool) => tool.annotations?.readOnlyHint === true))
        said.push(await agent.call(name, {}).catch(String))
      const { resources } = await agent.client.listResources()
      for (const { uri } of resources) said.push(await agent.client.readResource({ uri }).catch(String))
      const { prompts } = await agent.client.listPrompts()
      for (const { name } of prompts) said.push(await agent.client.getPrompt({ name }).catch(String))
      expect(tools.length + resources.length + prompts.length).toBeGreaterThan(5)
      expect(JSON.stringify(said)).not.toContain(MARKER)
      await agent.close()
    }
  })

  it('[REQ-EXAMPLES-4] nothing is run while something else keeps the gate closed', async () => {
    const task = await inImpl(heldOut({ stdout: 'never' }))
    writeFileSync(join(task.workspace, 'beside.txt'), 'x')
    expect(task.message(await task.move('REVIEW'))).toContain('the examples were not run yet')
    expect((await run.call('GET', `/tasks/${task.id}`, run.operator)).body).toMatchObject({ held_out: { failures: 0 } })
  })

  it('[REQ-EXAMPLES-5] after five failures an operator must look at the task, and counting starts again', async () => {
    const task = await inImpl(heldOut({ stdout: 'never' }))
    await task.put('src/add.mjs', HONEST)
    const begun = performance.now()
    for (let failures = 1; failures <= 5; failures += 1) {
      expect((await task.move('REVIEW')).body).toMatchObject({ allowed: false })
      const shown = (await run.call('GET', `/tasks/${task.id}`, run.operator)).body
      expect(shown).toMatchObject({ held_out: { count: 1, failures }, status: failures < 5 ? 'active' : 'parked' })
    }
    // Each answer waits for its time, whatever the code under test does with its own.
    expect(performance.now() - begun).toBeGreaterThan(25_000)
    expect((await run.call('GET', `/tasks/${task.id}`, run.operator)).body.parked_reason).toMatch(
      /^Held-out examples failed 5/,
    )
    expect((await task.move('REVIEW')).status).toBeGreaterThanOrEqual(400)
    await run.call('POST', `/tasks/${task.id}/resume`, run.operator, { reason: 'looked at it' })
    expect((await run.call('GET', `/tasks/${task.id}`, run.operator)).body).toMatchObject({ held_out: { failures: 0 } })
  })

  it('[REQ-EXAMPLES-5] a failure counts also when the task is given back before it is answered', async () => {
    const task = await inImpl(heldOut({ stdout: 'never' }))
    await task.put('src/add.mjs', HONEST)
    const asked = task.move('REVIEW')
    const failures = async () =>
      ((await run.call('GET', `/tasks/${task.id}`, run.operator)).body.held_out as { failures: number }).failures
    while ((await failures()) === 0) await new Promise((resolve) => setTimeout(resolve, 50))
    await run.call('POST', '/tasks/release', task.token, { task_id: task.id })
    expect((await asked).body.allowed).not.toBe(true)
    expect(await failures()).toBe(1)
  })

  it('[REQ-EXAMPLES-4] a reviewer sees them, with its token and in its view', async () => {
    const task = await inImpl(heldOut())
    const added = await run.call('POST', `/tasks/${task.id}/reviewers`, run.operator, { name: 'security' })
    const token = String(added.body.review_token)
    expect((await run.call('GET', `/tasks/${task.id}/held-out`, token)).body).toMatchObject({
      examples: [{ run: `node src/add.mjs ${MARKER}` }],
    })
    expect((await run.call('GET', '/state/snapshot', token)).body).toMatchObject({ held_out: { count: 1 } })
    const other = await exampleTask(run, heldOut())
    expect((await run.call('GET', `/tasks/${other.id}/held-out`, token)).status).toBeGreaterThanOrEqual(400)
  })

  it('[REQ-EXAMPLES-2] a run that writes its own tests does not count, and slow or noisy runs are ended', async () => {
    const task = await inImpl(
      {},
      { run: "mkdir -p tests && echo 'x' > tests/add.test.mjs && echo ok", expect: { stdout: 'ok' } },
      { run: 'yes', expect: { matches: 'y' } },
      { run: 'node -e "process.stdout.write(String.fromCharCode(27) + 1)"', expect: { stdout: 'x' } },
    )
    const said = task.message(await task.move('REVIEW'))
    expect(said).toContain('example 1, "mkdir -p tests')
    expect(said).toMatch(/wrote tests\/add\.test\.mjs, which a run must not write/)
    expect(said).toContain('example 2, "yes": wrote too much output')
    expect(/\p{Cc}/u.test(said)).toBe(false)
  })

  it('[REQ-EXAMPLES-3] a server that never listens is ended, and one that answers wrongly is shown', async () => {
    const listen = (code: string) => `node -e "require('http').createServer((q,r)=>{${code}}).listen(4555,'127.0.0.1')"`
    const task = await inImpl(
      {},
      { run: listen("r.statusCode=500;r.end('broken')"), expect: { http: { port: 4555, path: '/' } } },
      { run: listen("r.end('fine')"), expect: { http: { port: 4555, path: '/', text: 'other' } } },
      { run: listen("r.socket.end('nonsense')"), expect: { http: { port: 4555, path: '/' } } },
      {
        run: listen("r.setHeader('x','y');r.end('fine')"),
        expect: { http: { port: 4555, path: '/', matches: '^fi' } },
      },
    )
    const said = task.message(await task.move('REVIEW'))
    const gone = await inImpl({}, { run: 'echo no such file >&2; exit 1', expect: { http: { port: 4555, path: '/' } } })
    expect(gone.message(await gone.move('REVIEW'))).toMatch(
      /nothing answered on port 4555\. It wrote to stderr: "no such file"$/,
    )
    expect(said).toContain('expected status 200, got 500 with "broken"')
    expect(said).toContain('expected the body "other", got "fine"')
    expect(said).toContain('the answer is not HTTP')
    expect(said).not.toContain('example 4')
  })

  it('[REQ-EXAMPLES-4] Phaselock does not run them when it advances by itself', async () => {
    const auto = await startExamples({
      contract: EXAMPLES_CONTRACT.replace(
        'id: green\n        type: validation',
        'id: green\n        type: validation\n        auto_advance: true',
      ),
    })
    const task = await exampleTask(auto, heldOut())
    await task.move('IMPL', planWith())
    await task.put('src/add.mjs', HONEST)
    expect((await auto.call('GET', `/tasks/${task.id}`, auto.operator)).body).toMatchObject({
      phase: 'IMPL',
      held_out: { failures: 0 },
    })
    expect((await task.move('REVIEW')).body).toMatchObject({ allowed: true, phase: 'REVIEW' })
    await auto.stop()
  })

  it('[REQ-EXAMPLES-4] a contract without a sandbox or without the check takes none', async () => {
    for (const [from, to] of [
      ['denial_budget: 30', 'confinement: off'],
      ['blockers: [{check: examples_hold, message: The examples must hold}]', 'blockers: []'],
    ] as const) {
      const other = await startExamples({ contract: EXAMPLES_CONTRACT.replace(from, to) })
      const added = await other.call('POST', '/tasks', other.operator, { title: 'x', ...heldOut() })
      expect(added).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
      await other.stop()
    }
  })
})

describe('held-out examples of a real server', () => {
  it('[REQ-EXAMPLES-6] kill -9 while examples run leaves nothing behind, and asking again runs them', async () => {
    const place = await makePlace()
    const contract = join(place.dir, 'contract.yaml')
    writeFileSync(contract, EXAMPLES_CONTRACT)
    mkdirSync(join(place.workspace, 'src'))
    writeFileSync(join(place.workspace, 'src/add.mjs'), HONEST)
    const file = join(place.dir, 'held-out.yaml')
    writeFileSync(
      file,
      `examples:\n  - {criterion: AC-1, run: "sleep 7.391; node src/add.mjs ${MARKER}", expect: {stdout: ok}}\n`,
    )
    const first = await serve(place, contract)
    const phaselock = (...words: string[]) =>
      execFileSync(join(ROOT, 'bin/phaselock'), [...words, '--state-dir', place.stateDir], {
        encoding: 'utf8',
        env: { PATH: process.env.PATH, HOME: place.dir },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
    expect(phaselock('task', 'add', 'Add', '--id', 't', '--held-out', file)).toMatch(/^Added t/)
    expect(phaselock('task', 'show', 't')).toContain('Held-out examples (1, never shown to an agent)')
    const agent = String((await first.call('POST', '/agents', first.operator, { agent_id: 'a' })).body.agent_token)
    const claim = async (server: typeof first) =>
      String((await server.call('POST', '/tasks/claim', agent, { agent_id: 'a', task_id: 't' })).body.phase_token)
    const move = (server: typeof first, token: string, target_phase: string, artifacts: object = {}) =>
      server.call('POST', '/tasks/transition', token, { task_id: 't', target_phase, artifacts })
    const planned = await move(first, await claim(first), 'IMPL', planWith())
    const asked = move(first, String(planned.body.phase_token), 'REVIEW').catch(() => null)
    for (const until = Date.now() + 15_000; sleepers().length === 0 && Date.now() < until; )
      await new Promise((resolve) => setTimeout(resolve, 50))
    expect(sleepers().length).toBeGreaterThan(0)
    await first.kill()
    await asked
    for (const until = Date.now() + 15_000; sleepers().length > 0 && Date.now() < until; )
      await new Promise((resolve) => setTimeout(resolve, 50))
    expect(sleepers()).toEqual([])
    const second = await serve(place, contract)
    const shown = await second.call('GET', '/tasks/t', second.operator)
    expect(shown.body).toMatchObject({ phase: 'IMPL', held_out: { count: 1, failures: 0 } })
    expect((await move(second, await claim(second), 'REVIEW')).body).toMatchObject({ allowed: true, phase: 'REVIEW' })
    expect(first.output() + second.output()).not.toContain(MARKER)
    await second.stop()
    place.remove()
  })

  it('[REQ-EXAMPLES-4] a file inside the work tree is refused, and the task is cancelled', async () => {
    const place = await makePlace()
    const contract = join(place.dir, 'contract.yaml')
    writeFileSync(contract, EXAMPLES_CONTRACT)
    const server = await serve(place, contract)
    const file = join(place.workspace, 'held-out.yaml')
    writeFileSync(file, 'examples: [{run: x, expect: {exit_code: 0}}]\n')
    const add = () =>
      execFileSync(
        join(ROOT, 'bin/phaselock'),
        ['task', 'add', 'Add', '--id', 't', '--held-out', file, '--state-dir', place.stateDir],
        { encoding: 'utf8', env: { PATH: process.env.PATH, HOME: place.dir }, stdio: ['ignore', 'pipe', 'pipe'] },
      )
    expect(add).toThrow(/is in the work tree, where the agent can read it: the task was cancelled/)
    expect((await server.call('GET', '/tasks/t', server.operator)).body).toMatchObject({ status: 'cancelled' })
    await server.stop()
    place.remove()
  })
})

// Processes of the example that sleeps, by its odd number of seconds.
function sleepers(): readonly string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8') === 'sleep\0' + '7.391\0'
      } catch {
        return false
      }
    })
}
