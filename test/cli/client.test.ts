import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { countColumns } from '../../src/cli/terminal/table.js'
import { type Answer, built, Place, SCRIPT, type Server } from './program.js'

const place = new Place()
let server: Server

beforeAll(async () => {
  await built()
  server = await place.serve()
})

const PLAN = {
  title: 'Add a health endpoint\u001B[2J\u202E',
  acceptance_criteria: [{ id: 'a1', criterion: 'answers 200', how_to_verify: 'a test asks' }],
  implementation_steps: ['write it'],
  scope: { in_scope: ['the endpoint'], out_of_scope: ['the rest'] },
}

async function call(path: string, token: unknown, body: unknown): Promise<Answer> {
  const response = await fetch(`${server.url}/api/v1${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify(body),
  })
  return response.json() as Promise<Answer>
}

/** A task whose plan waits for a human. */
async function waitingTask(id: string): Promise<{ readonly request: () => Promise<Answer> }> {
  const tree = join(place.home, `tree-${id}`)
  mkdirSync(tree)
  await place.json(['task', 'add', `Task ${id}`, '--id', id, '--workspace', tree])
  const { agent_token: token } = await place.json(['agent', 'add', `agent-${id}`])
  const claimed = await call('/tasks/claim', token, { agent_id: `agent-${id}`, task_id: id })
  const request = () =>
    call('/tasks/transition', claimed.phase_token, {
      task_id: id,
      target_phase: 'TDD',
      artifacts: { plan_document: PLAN },
    })
  const answer = await request()
  expect(answer.pending_approval).toBeTruthy()
  return { request }
}

const WRONG: readonly (readonly [name: string, args: readonly string[], code: number, said: RegExp])[] = [
  ['an unknown command', ['stauts'], 2, /unknown command 'stauts'[\s\S]*Did you mean status\?/],
  [
    'a command that is gone',
    ['stash', 'save', '--name', 'x'],
    2,
    /^phaselock stash is gone: [^\n]*task add TITLE --worktree[^\n]*\n$/,
  ],
  ['an unknown command of a group', ['task', 'lst'], 2, /Did you mean (one of )?.*list/],
  ['an unknown option', ['task', 'list', '--staus', 'x'], 2, /Did you mean --status\?/],
  ['a missing argument', ['task', 'show'], 2, /missing required argument 'id'/],
  ['a missing reason', ['task', 'cancel', 't'], 2, /--reason/],
  ['metadata that is no object', ['task', 'add', 'x', '--metadata', '[1]'], 2, /JSON object/],
  ['an address that is none', ['status', '--url', 'nonsense'], 2, /not an address/],
  ['a token file that is not there', ['status', '--token-file', '/nowhere'], 2, /cannot be read/],
  ['a rejection without a word', ['reject', 'apr-1-x'], 2, /--comment/],
  ['nobody at the address', ['status', '--url', 'http://localhost:1'], 3, /http:\/\/localhost:1 [\s\S]*phaselock up/],
  ['a task that is not there', ['task', 'show', 'nope'], 1, /There is no task "nope"[\s\S]*\[not_found\]/],
  ['a contract that is not known', ['task', 'add', 'x', '--contract', 'nope'], 1, /There is no contract/],
  ['an operator who is not there', ['operator', 'revoke', 'nobody'], 1, /\[not_found\]/],
]

test.concurrent.each(WRONG)('[REQ-CLI-7] %s ends with its exit code and says why', async (_name, args, code, said) => {
  const ended = await place.run(args)
  expect(ended.stderr).toMatch(said)
  expect(ended.stderr).not.toMatch(/\n\s+at /)
  expect(ended).toMatchObject({ code, stdout: '' })
})

test('[REQ-CLI-7] a refusal with --json is JSON with the problem in it', async () => {
  const ended = await place.run(['task', 'show', 'nope', '--json'])
  expect(JSON.parse(ended.stderr)).toMatchObject({ exit: 1, problem: { code: 'not_found', status: 404 } })
})

test('[REQ-CLI-7] an interrupted command ends with 4', async () => {
  const args = [SCRIPT, 'events', '--follow', '--since', '0']
  const child = spawn(process.execPath, args, { cwd: place.work, env: place.environment })
  await once(child.stdout, 'data')
  child.kill('SIGINT')
  expect(await new Promise((resolve) => child.once('close', resolve))).toBe(4)
})

test('[REQ-CLI-13] a server that was only named does not get the token of this work tree', async () => {
  const seen: (string | undefined)[] = []
  const stranger = createServer((request, response) => {
    seen.push(request.headers.authorization)
    response.writeHead(302, { location: server.url }).end()
  })
  const port = await new Promise<number>((resolve) =>
    stranger.listen(0, '127.0.0.1', () => resolve((stranger.address() as { port: number }).port)),
  )
  const ended = await place.run(['status', '--url', `http://127.0.0.1:${port}`])
  stranger.close()
  expect(ended.code).toBe(3)
  expect(seen).toEqual([undefined])
})

test('[REQ-CLI-13] without a token the command says where one can be had', async () => {
  const ended = await place.run(['status', '--url', server.url], { env: { XDG_STATE_HOME: join(place.home, 'none') } })
  expect(ended.code).toBe(1)
  expect(ended.stderr).toMatch(/No operator token[\s\S]*--token-file[\s\S]*PHASELOCK_OPERATOR_TOKEN/)
})

test('[REQ-CLI-13] the server is found from a folder inside the work tree, by variable and by option', async () => {
  const inside = await place.run(['status'], { cwd: place.work })
  expect(inside.stdout).toContain(server.url)
  const named = await place.run(['status'], { cwd: '/', env: { PHASELOCK_STATE_DIR: server.stateDir } })
  expect(named.stdout).toContain(server.url)
  const optioned = await place.run(
    ['status', '--url', server.url, '--token-file', join(server.stateDir, 'operator.token')],
    {
      cwd: '/',
    },
  )
  expect(optioned.code).toBe(0)
})

test('[REQ-CLI-9] tasks are added, listed, shown and steered', async () => {
  const added = await place.json([
    ...['task', 'add', 'First', '--id', 'first', '--description', 'Do it', '--priority', '5', '--mode', 'advisory'],
    ...['--requires', 'python,go', '--metadata', '{"ticket":7}', '--workspace', '.'],
  ])
  expect(added).toMatchObject({
    id: 'first',
    requires: ['python', 'go'],
    metadata: { ticket: 7 },
    workspace: place.work,
  })
  await place.json(['task', 'add', 'Second', '--id', 'second', '--depends-on', 'first'])
  const { tasks } = (await place.json(['task', 'list', '--status', 'queued'])) as { tasks: { id: string }[] }
  expect(tasks.map(({ id }) => id)).toEqual(expect.arrayContaining(['first', 'second']))
  const shown = (await place.json(['task', 'show', 'first'])) as { task: object; events: { type: string }[] }
  expect(shown.events[0]).toMatchObject({ type: 'task_created' })
  expect((await place.run(['task', 'show', 'first'])).stdout).toMatch(/First[\s\S]*Timeline[\s\S]*task_created/)
  const cancelled = await place.json(['task', 'cancel', 'second', '--reason', 'not needed'])
  expect(cancelled).toMatchObject({ id: 'second', status: 'cancelled' })
  const again = await place.run(['task', 'cancel', 'second', '--reason', 'again'])
  expect(again.code).toBe(1)
  // What nobody works on can be taken up, and what a cancelled task changed is not hidden.
  expect((await place.run(['status'])).stdout).toMatch(/NOT TAKEN[\s\S]*first[\s\S]*phaselock claude --task ID/)
  await place.json(['task', 'add', 'Third', '--id', 'third'])
  const ended = await place.run(['task', 'cancel', 'third', '--reason', 'not needed'])
  expect(ended.stdout).toContain('git restore undoes it')
})

test('[REQ-CLI-9] agents, operators, contracts, secret and pause', async () => {
  expect(await place.json(['agent', 'add', 'coder', '--capability', 'python'])).toMatchObject({ agent_id: 'coder' })
  expect(await place.json(['agent', 'list'])).toMatchObject({ agents: expect.any(Array) })
  await place.json(['agent', 'revoke', 'coder'])
  expect((await place.run(['agent', 'list'])).stdout).toMatch(/coder +revoked/)
  const { operator_token: token } = await place.json(['operator', 'add', 'ada', '--role', 'lead'])
  const asAda = await place.run(['operator', 'list', '--json'], { env: { PHASELOCK_OPERATOR_TOKEN: String(token) } })
  expect(JSON.parse(asAda.stdout).operators).toHaveLength(2)
  await place.json(['operator', 'revoke', 'ada'])
  const gone = await place.run(['operator', 'list'], { env: { PHASELOCK_OPERATOR_TOKEN: String(token) } })
  expect(gone).toMatchObject({ code: 1, stderr: expect.stringContaining('revoked') })
  expect(await place.json(['contract', 'add', 'plan-review'])).toMatchObject({ name: 'plan-review' })
  expect(await place.json(['contract', 'list'])).toMatchObject({ contracts: [{ default: true }, { default: false }] })
  expect(await place.json(['secret', 'rotate'])).toMatchObject({ kid: expect.any(String) })
  expect(await place.json(['pause', '--reason', 'a leak'])).toEqual({ paused: true })
  expect((await place.run(['status'])).stdout).toContain('a leak')
  expect(await place.json(['unpause'])).toEqual({ paused: false })
})

test('[REQ-CLI-9] status, events and audit print JSON', async () => {
  expect(await place.json(['status'])).toMatchObject({ mode: 'strict', contract: { name: 'tdd' } })
  for (const args of [['events'], ['audit', 'recent'], ['audit', 'query', '--type', 'server_started']])
    expect(await place.json(args), args.join(' ')).toMatchObject({ events: expect.any(Array) })
  expect(await place.json(['audit', 'stats'])).toMatchObject({ by_type: { server_started: 1 } })
  expect(await place.json(['audit', 'verify'])).toMatchObject({ ok: true, problems: [] })
})

test('[REQ-CLI-12] an approval is listed, shown, asked about and answered with the digest that was shown', async () => {
  const task = await waitingTask('wait1')
  const listed = await place.run(['approve'])
  expect(listed.stdout).toMatch(/apr-\d+-wait1 .*PLAN -> TDD/)
  for (const args of [
    ['approve', '--yes'],
    ['approve', '--comment', 'good'],
    ['reject', '--comment', 'bad'],
  ])
    expect(await place.run(args), args.join(' ')).toMatchObject({ code: 2, stderr: expect.stringContaining('ID') })
  const { approvals } = (await place.json(['approvals'])) as { approvals: { id: string; digest: string }[] }
  const { id, digest } = approvals.find((one) => one.id.endsWith('-wait1'))!
  const unasked = await place.run(['approve', id])
  expect(unasked).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') })
  expect(unasked.stdout).toContain(digest)
  expect(unasked.stdout).toContain('answers 200')
  expect(unasked.stdout).toMatch(/sha256 [0-9a-f]{64}/)
  expect(unasked.stdout, '[REQ-CLI-10]').not.toContain('\u001B')
  expect(unasked.stdout).toContain('characters were taken out')
  const other = await place.run(['approve', 'wait1', '--yes', '--digest', 'f'.repeat(64)])
  expect(other).toMatchObject({ code: 1, stderr: expect.stringContaining(digest) })
  const approved = await place.run(['approve', 'wait1', '--yes', '--comment', 'good'])
  expect(approved).toMatchObject({ code: 0, stdout: expect.stringContaining(`${id} is approved`) })
  expect(await task.request()).toMatchObject({ allowed: true, phase: 'TDD' })
  const late = await place.run(['approve', id, '--yes'])
  expect(late.code).toBe(1)
})

test('[REQ-CLI-12] a rejection reaches the agent with its comment; the task can be taken back and reassigned', async () => {
  const task = await waitingTask('wait2')
  expect(await place.json(['reject', 'wait2', '--comment', 'no error cases', '--yes'])).toMatchObject({
    status: 'rejected',
  })
  expect(JSON.stringify(await task.request())).toContain('no error cases')
  const back = await place.run(['task', 'rewind', 'wait2', '--to', 'PLAN', '--reason', 'anew', '--json'])
  expect([0, 1]).toContain(back.code)
  const freed = await place.json(['task', 'reassign', 'wait2', '--reason', 'somebody else', '--agent', 'agent-wait1'])
  expect(freed).toMatchObject({ id: 'wait2' })
  const resumed = await place.run(['task', 'resume', 'wait2', '--reason', 'go on'])
  expect([0, 1]).toContain(resumed.code)
})

test('[REQ-CLI-11] no table is wider than 80 columns', async () => {
  await place.json(['task', 'add', '長い題名 '.repeat(30), '--id', 'long'])
  const commands = [
    'status',
    'task list',
    'approvals',
    'events',
    'audit recent',
    'contract list',
    'operator list',
    'agent list',
  ]
  for (const command of commands) {
    const { code, stdout } = await place.run(command.split(' '))
    expect(code, command).toBe(0)
    for (const line of stdout.split('\n')) expect(countColumns(line), `${command}: ${line}`).toBeLessThanOrEqual(80)
  }
})

test('[REQ-CLI-20] events --follow misses nothing while the server is restarted', async () => {
  const other = new Place(onTestFinished)
  let running = await other.serve()
  const child = spawn(process.execPath, [SCRIPT, 'events', '--follow', '--since', '0', '--json'], {
    cwd: other.work,
    env: other.environment,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let text = ''
  child.stdout.on('data', (chunk) => (text += chunk))
  await once(child.stdout, 'data')
  await other.json(['task', 'add', 'one', '--id', 'one'])
  running.kill('SIGTERM')
  await running.ended
  running = await other.serve()
  await other.json(['task', 'add', 'two', '--id', 'two'])
  for (let tries = 0; tries < 100 && !text.includes('"task:two"'); tries++) await wait(100)
  child.kill('SIGTERM')
  const seqs = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).seq as number)
  expect(seqs).toEqual(seqs.map((_, at) => (seqs[0] ?? 0) + at))
  expect(text).toMatch(/"task:one"[\s\S]*server_stopped[\s\S]*server_started[\s\S]*"task:two"/)
})
