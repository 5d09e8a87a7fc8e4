import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { countColumns } from '../../src/cli/terminal/table.js'
import { type Running, start } from '../http/harness.js'
import { built, type Ended, Place } from './program.js'

const place = new Place()
let server: Running
let folder: string

beforeAll(built)
beforeEach(async () => {
  server = await start({ contract: 'name: idle\nversion: "1"\nphases: [{id: A}, {id: B}]\n' })
  folder = mkdtempSync(join(place.home, 'files-'))
})
afterEach(() => server?.stop())

function environment(): NodeJS.ProcessEnv {
  return { PHASELOCK_URL: server.url, PHASELOCK_STATE_DIR: server.stateDir }
}
function cli(...args: readonly string[]): Promise<Ended> {
  return place.run(args, { env: environment(), cwd: folder })
}
/** As an agent that has its token and nothing else of the machine. */
function agentCli(token: string, ...args: readonly string[]): Promise<Ended> {
  return place.run(args, { env: { PHASELOCK_URL: server.url, PHASELOCK_TOKEN: token }, cwd: folder })
}
/** As an agent beside the files of the operator. */
function carelessCli(token: string, ...args: readonly string[]): Promise<Ended> {
  return place.run(args, { env: { ...environment(), PHASELOCK_TOKEN: token }, cwd: folder })
}
function file(name: string, text: string): string {
  const path = join(folder, name)
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, text)
  return path
}
interface RunNote {
  readonly task_id: string
  readonly agent_id: string
  readonly agent_token: string
}
const runPath = (): string => join(server.stateDir, 'run.json')
const runNote = (): RunNote => JSON.parse(readFileSync(runPath(), 'utf8'))
const ask = async (method: string, path: string, body?: unknown) =>
  (await server.call(method, path, server.operator, body)).body
const task = () => ask('GET', `/tasks/${runNote().task_id}`)
const events = async (query: string) =>
  (await ask('GET', `/audit/query?limit=1000&${query}`)).events as Record<string, unknown>[]
const bash = (command: string) =>
  server.call('POST', '/tools/execute', runNote().agent_token, {
    ...{ task_id: runNote().task_id, tool_name: 'bash', args: { command } },
  })

const NODES = `
mode: discovery
summary: Find out, write, look
start_node: code
nodes:
  code:
    prompt: You are in the CODE phase of {{task.title}}
    rules:
      - {repeated_command: {pattern: "cargo build", threshold: 3, window: 60}}
      - {token_budget: {max_tokens: 1000}}
    transitions:
      - {when: code_complete, to: review}
      - {when: code_complete, to: code}
      - {when: start_over, to: restart_cycle}
  review:
    prompt: You are in the REVIEW phase
    transitions:
      - {when: review_complete, to: done}
      - {when: start_over, to: restart_cycle}
enforcement: {confinement: best_effort, reconcile: off}
`
const GATED = `
name: gated
version: "1"
phases:
  - id: PLAN
    prompt: Plan it
    required_artifacts: [{type: plan, description: a plan}, {type: note, schema: note.json, description: a note}]
    checkpoint: {evidence: {goal: {type: string, description: what for}}}
  - {id: BUILD, prompt: "Build {{artifacts.note}}"}
  - {id: SHIPPED}
schemas: {note.json: {type: string}}
`

describe('without a run', () => {
  const COMMANDS = ['next', 'continue', 'prompt', 'prev', 'restart', 'abort', 'done']

  test('[REQ-RUN-1] every command of a run says no_active_task and ends with 1', async () => {
    const told = await cli('next')
    expect(told).toMatchObject({ code: 1, stdout: '' })
    expect(told.stderr).toMatch(/\[no_active_task\]\nStart one with `phaselock start`/)
    const ended = await Promise.all(COMMANDS.map((command) => cli(command, '--json')))
    for (const [at, { code, stdout, stderr }] of ended.entries()) {
      expect({ code, stdout }, COMMANDS[at]).toEqual({ code: 1, stdout: '' })
      expect(JSON.parse(stderr), COMMANDS[at]).toMatchObject({ exit: 1, problem: { code: 'no_active_task' } })
    }
  })

  test('[REQ-RUN-1] every command of a run ends with 3 where no server is', async () => {
    const env = { ...environment(), PHASELOCK_URL: 'http://localhost:1' }
    const ended = await Promise.all([...COMMANDS, 'start'].map((command) => place.run([command], { env })))
    for (const one of ended) expect(one).toMatchObject({ code: 3, stdout: '' })
  })

  test('[REQ-RUN-2] a file without a run is reported, and no run is guessed', async () => {
    for (const text of ['', '{}', '{"task_id": "../x", "agent_id": "a", "agent_token": "t"}', '[1]']) {
      writeFileSync(runPath(), text)
      for (const ended of await Promise.all([cli('next'), cli('start')])) {
        expect(ended, text).toMatchObject({ code: 1, stdout: '' })
        expect(ended.stderr).toContain('does not describe a run')
      }
    }
    expect((await ask('GET', '/tasks')).tasks).toEqual([])
  })
})

describe('start', () => {
  test('[REQ-RUN-3] what cannot be started leaves no run behind', async () => {
    const broken = file('broken.yaml', NODES.replace('to: review', 'to: nowhere'))
    const noGuide = file('guide.yaml', NODES.replace('You are in the REVIEW phase', 'See {{ABSENT}}'))
    for (const [contract, said] of [
      [broken, /nowhere/],
      [noGuide, /ABSENT/],
      ['nothing', /There is no contract "nothing"/],
      [join(folder, 'absent.yaml'), /no such file/],
    ] as const) {
      const ended = await cli('start', contract)
      expect(ended, contract).toMatchObject({ code: 1, stdout: '' })
      expect(ended.stderr).toMatch(said)
    }
    expect((await ask('GET', '/tasks')).tasks).toEqual([])
    await ask('POST', '/pause', { reason: 'lunch' })
    expect((await cli('start')).stderr).toContain('[agents_paused]')
    expect(existsSync(runPath())).toBe(false)
    expect((await ask('GET', '/tasks')).tasks).toMatchObject([{ status: 'cancelled' }])
    expect((await ask('GET', '/agents')).agents).toMatchObject([{ status: 'revoked' }])
  })

  test('[REQ-DEADEND-3] a text in place of a contract is answered with the command that was meant, and changes nothing', async () => {
    await cli('start', '--task', 'first')
    const { id } = await task()
    for (const text of ['Add a health endpoint', 'Add GET /health', "Don't loop"]) {
      const ended = await cli('start', text, '--force')
      expect(ended, text).toMatchObject({ code: 1, stdout: '' })
      expect(ended.stderr).toContain(`There is no contract ${JSON.stringify(text)}.\n`)
      const command = /^ {2}\S+ (start --task .*)$/m.exec(ended.stderr)?.[1] ?? ''
      expect(ended.stderr).toMatch(/\nContracts: .*tdd.*idle.*, or a file\.\n$/)
      // As a shell reads it, the printed command holds the whole text as one word.
      const words = spawnSync('sh', ['-c', `printf '%s\\n' ${command}`], { encoding: 'utf8' })
        .stdout.trim()
        .split('\n')
      expect(words).toEqual(['start', '--task', text])
    }
    expect(await task()).toMatchObject({ id, status: 'active' })
    expect((await ask('GET', '/tasks')).tasks).toHaveLength(1)
    expect((await cli('abort')).code).toBe(0)
    const meant = await cli('start', '--task', 'Add a health endpoint')
    expect(meant).toMatchObject({ code: 0 })
    expect(await task()).toMatchObject({ title: 'Add a health endpoint' })
  })

  test('[REQ-DEADEND-3] a mistyped contract is answered with the nearest one, and one beside --task without the advice', async () => {
    const mistyped = await cli('start', 'tddd')
    expect(mistyped).toMatchObject({ code: 1, stdout: '' })
    expect(mistyped.stderr).toContain('There is no contract "tddd". Did you mean tdd?\n')
    expect((await cli('start', 'idel')).stderr).toContain('Did you mean idle?')
    const given = await cli('start', 'nothing like it', '--task', 'x')
    expect(given.stderr).toMatch(/^There is no contract "nothing like it"\.\nContracts: /)
    expect(existsSync(runPath())).toBe(false)
  })

  test('[REQ-RUN-4] a nodes file is started with the guides beside it, its defaults and a run that only its owner reads', async () => {
    file('guides/HOUSE_RULES.md', 'Keep it small.')
    const contract = file(
      'flow.yaml',
      NODES.replace('of {{task.title}}', 'of {{task.title}}. {{HOUSE_RULES}}{{?hint}}'),
    )
    const begun = await cli('start', contract, '--task', 'Stop looping\nwith all details')
    expect(begun).toMatchObject({ code: 0, stdout: 'You are in the CODE phase of Stop looping. Keep it small.\n' })
    expect(begun.stderr).toMatch(
      /^Started run-\w+ under discovery 1, agent runner-\w+\.\nWork in the tree as the prompt says/,
    )
    expect(statSync(runPath()).mode & 0o777).toBe(0o600)
    expect(readdirSync(server.stateDir).filter((name) => name.endsWith('.new'))).toEqual([])
    expect(await task()).toMatchObject({
      title: 'Stop looping',
      description: 'Stop looping\nwith all details',
      status: 'active',
      agent_id: runNote().agent_id,
      contract: { name: 'discovery', version: '1' },
    })
    expect(begun.stdout + begun.stderr).not.toContain(runNote().agent_token)
  })

  test('[REQ-RUN-5] while a run is active another start is refused and changes nothing; --force aborts it with a reason', async () => {
    await cli('start', '--task', 'first')
    const first = runNote()
    const refused = await cli('start', '--task', 'second')
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toMatch(/A run is active: run-\w+ \(active\)\.[\s\S]*phaselock abort[\s\S]*--force/)
    expect(runNote()).toEqual(first)
    expect((await ask('GET', '/tasks')).tasks).toHaveLength(1)
    expect((await cli('start', '--task', 'second', '--force')).code).toBe(0)
    expect(runNote().task_id).not.toBe(first.task_id)
    expect(await events(`task_id=${first.task_id}&type=task_cancelled`)).toMatchObject([
      { actor: 'operator:admin', data: { reason: 'start --force: replaced by a new run' } },
    ])
    expect(existsSync(join(server.stateDir, 'runs', `${first.task_id}.json`))).toBe(true)
    expect((await agentCli(first.agent_token, 'next')).stderr).toContain('[token_invalid]')
  })

  test('[REQ-RUN-5] of several starts at once one wins, and the others leave nothing', async () => {
    const ended = await Promise.all([1, 2, 3].map((one) => cli('start', '--task', `number ${one}`)))
    expect(ended.filter((one) => one.code === 0)).toHaveLength(1)
    const tasks = (await ask('GET', '/tasks')).tasks as { id: string; status: string }[]
    expect(tasks.filter((one) => one.status !== 'cancelled').map((one) => one.id)).toEqual([runNote().task_id])
  })

  test('[REQ-RUN-4] a bundled contract and one that the server knows are started by name', async () => {
    expect((await cli('start', 'guardrails')).stderr).toMatch(/under guardrails/)
    expect((await cli('start', 'idle', '--force', '--json')).stdout).toContain('"run_file"')
    expect(await task()).toMatchObject({ contract: { name: 'idle' } })
  })
})

describe('a walk', () => {
  test('[REQ-RUN-6] claims lead through a nodes file: bare, named, as JSON, the first match, restart_cycle, done', async () => {
    await cli('start', file('flow.yaml', NODES), '--task', 'T')
    const stays = await cli('next', 'wrong')
    expect(stays).toMatchObject({ code: 0, stdout: 'You are in the CODE phase of T\n' })
    expect(stays.stderr).toContain('The claims lead to no transition. Finish code')
    expect((await cli('next', '{"code_complete": false}')).stdout).toContain('CODE phase')
    expect((await cli('next')).stdout).toBe('You are in the REVIEW phase\n')
    expect((await cli('prompt')).stdout).toBe('You are in the REVIEW phase\n')
    expect((await cli('next', 'start_over')).stdout).toBe('You are in the CODE phase of T\n')
    expect(await task()).toMatchObject({ phase: 'code', visit: 3 })
    expect((await cli('next', '{"code_complete": true}')).stdout).toContain('REVIEW')
    const last = JSON.parse((await cli('next', 'review_complete', '--json')).stdout)
    expect(last).toMatchObject({ completed: true, phase: 'done', kind: 'prompt' })
    expect(await task()).toMatchObject({ status: 'completed' })
    expect((await cli('next')).stderr).toMatch(/is completed\. \[task_not_active\][\s\S]*phaselock done/)
  })

  test('[REQ-RUN-7] what is in the way is printed with remedies and ends with 1; artifacts and evidence open the gate', async () => {
    expect((await cli('start', file('gated.yaml', GATED))).code).toBe(0)
    const blocked = await cli('next')
    expect(blocked.code).toBe(1)
    expect(blocked.stdout).toMatch(/^Still in PLAN\. In the way:\n {2}.*plan.*\[\w+\]\n {6}\S/)
    expect(blocked.stdout).toContain('      Hand it in: phaselock next --artifact plan=FILE\n')
    expect(blocked.stdout).toContain('Finish PLAN (missing: plan, note, goal)')
    expect(JSON.parse((await cli('next', '--json')).stdout)).toMatchObject({ allowed: false, phase: 'PLAN' })
    for (const line of blocked.stdout.split('\n')) expect(countColumns(line), line).toBeLessThanOrEqual(80)
    file('plan.json', '{"steps": [1]}')
    file('note.txt', 'a\u001B[31mred\u001B]0;owned\u0007 note')
    file('goal.json', '{"goal": "speed"}')
    const passed = await cli(
      ...['next', '--artifact', 'plan=plan.json', '--artifact', 'note=note.txt', '--evidence', 'goal.json'],
    )
    expect(passed).toMatchObject({ code: 0, stdout: 'Build ared note\n' })
    expect(await task()).toMatchObject({ phase: 'BUILD' })
  })

  test('[REQ-RUN-7] files and claims that cannot be read are wrong usage, and nothing is asked', async () => {
    expect((await cli('start', file('gated.yaml', GATED))).code).toBe(0)
    file('text.json', 'no json')
    file('list.json', '[]')
    for (const args of [
      ['--artifact', 'plan'],
      ['--artifact', '=x'],
      ['--artifact', 'plan=absent.json'],
      ['--artifact', 'plan=text.json'],
      ['--artifact', `plan=${folder}`],
      ['--evidence', 'list.json'],
      ['{"a": 1}'],
      ['{"a"'],
    ])
      expect(await cli('next', ...args), args.join(' ')).toMatchObject({ code: 2, stdout: '' })
    expect(await events('type=gate_blocked')).toEqual([])
  })
})

describe('rules', () => {
  test('[REQ-RUN-8] seed 003, case 10: a loop is interrupted at next, and continue gives the prompt', async () => {
    await cli('start', file('flow.yaml', NODES), '--task', 'T')
    for (const _ of [1, 2, 3, 4]) await bash('echo cargo build')
    const asked = await cli('next', '{"code_complete": true}')
    expect(asked.code, 'interrupted').toBe(4)
    expect(asked.stdout).toMatch(/^🚨 WORKFLOW INTERRUPT: Repeated Command Detected\n/)
    expect(asked.stdout).toContain('Diagnostic: echo cargo build executed 4 times in 1 minute\n')
    expect(asked.stdout).toContain('\n  - Run: phaselock continue\n')
    expect(asked.stdout).not.toMatch(/POST|You are in the CODE phase/)
    expect((await cli('prompt')).code).toBe(4)
    const json = await cli('prompt', '--json')
    expect(JSON.parse(json.stdout)).toMatchObject({ kind: 'interrupt', violation: { rule_type: 'repeated_command' } })
    const status = await cli('status')
    expect(status.stdout).toMatch(/Run\n {2}Task +run-\w+ T\n {2}Status +active\n {2}Phase +code, visit 1, for \w+\n/)
    expect(status.stdout).toMatch(/Violation +code\[0\]: echo cargo build executed 4 times/)
    expect(await cli('continue')).toMatchObject({ code: 0, stdout: 'You are in the CODE phase of T\n' })
    expect(JSON.parse((await cli('status', '--json')).stdout).run).toMatchObject({
      rules: { open: null, acknowledged: ['code[0]'], unavailable: ['code[1]'] },
    })
    expect((await cli('next')).stdout).toBe('You are in the REVIEW phase\n')
  })

  test('[REQ-RUN-8] seed 003, case 11: without rules there is the prompt', async () => {
    await cli('start', file('flow.yaml', NODES.replace(/ {4}rules:\n( {6}.*\n){2}/, '')), '--task', 'T')
    for (const _ of [1, 2, 3, 4]) await bash('echo cargo build')
    expect(await cli('next', '{"claim": true}')).toMatchObject({ code: 0, stdout: 'You are in the CODE phase of T\n' })
    expect(await cli('next')).toMatchObject({ code: 0, stdout: 'You are in the REVIEW phase\n' })
  })

  test('[REQ-RUN-8] seed 003, case 12: a budget interrupts in CODE, and REVIEW starts clean', async () => {
    await cli('start', file('flow.yaml', NODES), '--task', 'T')
    await server.call('POST', '/usage', runNote().agent_token, { input_tokens: 900, output_tokens: 600 })
    expect((await cli('next')).stdout).toContain('Token budget exceeded: 1,500 / 1,000')
    await cli('continue')
    expect(await cli('next')).toMatchObject({ code: 0, stdout: 'You are in the REVIEW phase\n' })
    expect(await cli('prompt')).toMatchObject({ code: 0, stdout: 'You are in the REVIEW phase\n' })
  })

  test('[REQ-RUN-9] status and doctor report rules without metrics', async () => {
    await cli('start', file('flow.yaml', NODES))
    expect((await cli('status')).stdout).toMatch(/No metrics +code\[1\] \[metric_unavailable\]/)
    writeFileSync(join(server.stateDir, 'server.json'), JSON.stringify({ pid: process.pid, url: server.url }))
    const looked = await cli('doctor', '--json', '--port', '0')
    expect(JSON.parse(looked.stdout).findings).toContainEqual(
      expect.objectContaining({
        name: 'run',
        status: 'warning',
        detail: expect.stringContaining('metric_unavailable'),
      }),
    )
    await server.call('POST', '/usage', runNote().agent_token, { input_tokens: 1, output_tokens: 1 })
    expect((await cli('status')).stdout).not.toContain('metric_unavailable')
  })
})

describe('steering', () => {
  test('[REQ-RUN-10] an agent is refused prev, restart, abort and start, and the ledger names it', async () => {
    await cli('start', file('flow.yaml', NODES))
    await cli('next')
    const { agent_token: token, agent_id: agent, task_id: id } = runNote()
    const tried = [['prev'], ['restart'], ['abort'], ['start'], ['start', '--force']]
    for (const [at, args] of tried.entries()) {
      const run = at % 2 === 0 ? carelessCli : agentCli
      const ended = await run(token, ...args)
      expect(ended, args.join(' ')).toMatchObject({ code: 1, stdout: '' })
      expect(ended.stderr).toContain('[not_permitted]')
    }
    expect(await task()).toMatchObject({ status: 'active', phase: 'review' })
    expect((await ask('GET', '/tasks')).tasks).toHaveLength(1)
    const recorded = await events('type=request_refused&code=not_permitted')
    expect(recorded.map((one) => (one.data as { path: string }).path).reverse()).toEqual([
      ...['rewind', 'rewind', 'cancel'].map((action) => `/api/v1/tasks/${id}/${action}`),
      '/api/v1/tasks',
      `/api/v1/tasks/${id}/cancel`,
    ])
    for (const one of recorded) expect(one.actor).toBe(`agent:${agent}`)
  })

  test('[REQ-RUN-11] however often an agent tries, the ledger grows by no more than sixty events a minute', async () => {
    await cli('start')
    server.now = Date.now()
    const { agent_token: token, task_id: id } = runNote()
    const cancel = () => server.call('POST', `/tasks/${id}/cancel`, token, { reason: 'mine' })
    for (let round = 0; round < 10; round++) await Promise.all(Array.from({ length: 10 }, cancel))
    expect(await events('type=request_refused')).toHaveLength(60)
    server.now += 61_000
    await cancel()
    expect(await events('type=requests_refused')).toMatchObject([{ data: { count: 40 } }])
  })

  test('[REQ-RUN-12] prev goes back one phase, restart to the start, each with its reason', async () => {
    await cli('start', file('flow.yaml', NODES), '--task', 'T')
    const first = await cli('prev')
    expect(first).toMatchObject({ code: 1, stdout: '', stderr: 'There is no phase before code.\n' })
    await cli('next')
    const back = await cli('prev', '--reason', 'not good enough')
    expect(back).toMatchObject({ code: 0, stdout: 'You are in the CODE phase of T\n' })
    expect(back.stderr).toMatch(/^run-\w+ is back in code\.\n$/)
    await cli('next')
    await cli('next')
    expect(await task()).toMatchObject({ status: 'completed' })
    expect((await cli('restart')).stdout, 'also of a completed one').toBe('You are in the CODE phase of T\n')
    expect(await events(`task_id=${runNote().task_id}&type=task_rewound`)).toMatchObject([
      { actor: 'operator:admin', data: { to: 'code', reason: 'phaselock restart' } },
      { actor: 'operator:admin', data: { to: 'code', reason: 'not good enough' } },
    ])
  })

  test('[REQ-RUN-12] abort cancels the task and puts the run away', async () => {
    await cli('start')
    const { task_id: id } = runNote()
    expect((await cli('abort', '--reason', 'not needed')).stdout).toBe(`${id} is cancelled in A.\n`)
    expect(existsSync(runPath())).toBe(false)
    expect(await ask('GET', `/tasks/${id}`)).toMatchObject({ status: 'cancelled' })
    expect((await cli('done')).code).toBe(1)
  })
})

describe('the end', () => {
  test('[REQ-RUN-13] done ends with 0 only when the task is completed, and puts the run away with its totals', async () => {
    await cli('start', file('flow.yaml', NODES))
    const open = await cli('done')
    expect(open).toMatchObject({ code: 1, stdout: '' })
    expect(open.stderr).toMatch(/is not finished: it is active in code\.\nFinish code/)
    await bash('true')
    const { agent_token: token, task_id: id, agent_id: agent } = runNote()
    expect((await agentCli(token, 'done')).stderr).toContain('Finish code')
    await cli('next')
    await cli('next')
    expect(await carelessCli(token, 'done')).toMatchObject({ code: 0, stdout: `${id} is completed.\n` })
    expect(existsSync(runPath()), 'an agent puts nothing away').toBe(true)
    expect(await cli('done')).toMatchObject({ code: 0, stdout: `${id} is completed.\n` })
    expect(existsSync(runPath())).toBe(false)
    const archived = readFileSync(join(server.stateDir, 'runs', `${id}.json`), 'utf8')
    expect(archived).not.toContain(token)
    expect(JSON.parse(archived)).toMatchObject({
      task_id: id,
      agent_id: agent,
      totals: {
        status: 'completed',
        tool_calls: 1,
        gates_passed: 2,
        visits: [{ phase: 'code' }, { phase: 'review' }, { phase: 'done' }],
      },
    })
    expect((await agentCli(token, 'prompt')).stderr).toContain('[token_invalid]')
    expect((await cli('done')).stderr).toContain('[no_active_task]')
    expect((await cli('start')).code, 'the way is free').toBe(0)
  })

  test('[REQ-RUN-14] a run outlives the server and its lease', async () => {
    await cli('start', file('flow.yaml', NODES), '--task', 'T')
    for (const _ of [1, 2, 3]) await bash('echo cargo build')
    server = await server.restart()
    expect((await cli('prompt')).code, 'still interrupted').toBe(4)
    await cli('continue')
    await ask('POST', `/tasks/${runNote().task_id}/reassign`, { reason: 'as if its lease had run out' })
    expect((await task()).status).toBe('queued')
    expect(await cli('next')).toMatchObject({ code: 0, stdout: 'You are in the REVIEW phase\n' })
    expect((await task()).agent_id).toBe(runNote().agent_id)
  })

  test('[REQ-RUN-15] an agent that has only its token walks the task it holds', async () => {
    await ask('POST', '/contracts', { source: NODES })
    await server.addTask({ id: 'mine', title: 'T', contract: 'discovery' })
    const token = await server.addAgent('walker')
    expect((await agentCli(token, 'next')).stderr).toContain('[no_active_task]')
    await server.claim('walker', token, 'mine')
    expect((await agentCli(token, 'prompt')).stdout).toBe('You are in the CODE phase of T\n')
    expect((await agentCli(token, 'next')).stdout).toBe('You are in the REVIEW phase\n')
    expect((await agentCli(token, 'next')).stdout).toBe('Task mine is completed.\n')
  })
})
