import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { openConfinement } from '../../src/confinement/open-confinement.js'
import { processesWith } from '../confinement/scene.js'
import { isFullDepth } from '../depth.js'
import { type Body, contractWith, openStage, type Stage, until } from './stage.js'

const RUN_MS_MAX = 300_000
let stage: Stage
afterEach(async () => {
  expect(stage.server.faults).toEqual([])
  await stage.stop()
})

const ask = (body: Body, token = stage.server.operator) => stage.server.call('POST', '/agents/spawn', token, body)
const TASK = { task: { title: 'A small task' } }

describe('starting an agent', () => {
  it(
    '[REQ-SPAWN-2] is refused for what is not known, not there or not to be written down, and leaves no task',
    async () => {
      const agents =
        'agents: {coder: {harness: command, command: no-such-program}, needy: {harness: command, command: node, env: {KEY: "REF(NOT_SET)"}}}\n'
      stage = await openStage(contractWith({ more: agents }))
      const refused: readonly (readonly [Body, string, string])[] = [
        [{ agent: 'coderr', ...TASK }, 'not_found', 'Did you mean "coder"?'],
        [{ harness: 'emacs', ...TASK }, 'invalid_request', 'harness'],
        [{ agent: 'coder', ...TASK }, 'agent_unavailable', "'no-such-program' is not a program"],
        [{ agent: 'needy', ...TASK }, 'agent_unavailable', 'NOT_SET'],
        [{ harness: 'claude-code', command: 'no-claude', ...TASK }, 'agent_unavailable', "'no-claude'"],
        [{ harness: 'command', ...TASK }, 'invalid_request', 'command'],
        [{ harness: 'command', command: 'node', agent: 'coder', ...TASK }, 'invalid_request', 'exactly one'],
        [{ harness: 'command', command: 'node' }, 'invalid_request', 'task'],
        [{ harness: 'command', command: 'node', task_id: 'nope' }, 'not_found', 'nope'],
        [{ harness: 'command', command: 'node', agent_id: '..', ...TASK }, 'invalid_request', 'agent_id'],
        [
          { harness: 'command', command: 'node', args: ['--key=sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123'], ...TASK },
          'invalid_request',
          'secret',
        ],
        [{ harness: 'command', command: 'node', task: { title: 'x', contract: 'nope' } }, 'not_found', 'nope'],
      ]
      for (const [body, code, detail] of refused) {
        const answer = await ask(body)
        expect(answer.body, JSON.stringify(body)).toMatchObject({ code, detail: expect.stringContaining(detail) })
      }
      expect((await stage.server.call('GET', '/tasks', stage.server.operator)).body.tasks).toEqual([])
      expect((await stage.server.call('GET', '/agents', stage.server.operator)).body.agents).toEqual([])
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-SPAWN-3] is refused to agents, from inside as well, and for a task or a name that another agent has',
    async () => {
      stage = await openStage(contractWith())
      const ada = await stage.server.addAgent('ada')
      expect((await ask({ harness: 'command', command: 'node', ...TASK }, ada)).body.code).toBe('not_permitted')
      const { agentId, taskId } = await stage.spawn(['spawn', 'beat'])
      const program = { harness: 'command', command: 'node', args: [stage.agent, 'whole'] }
      expect((await ask({ ...program, task_id: taskId })).body).toMatchObject({ code: 'already_claimed' })
      for (const agent_id of ['ada', agentId])
        expect((await ask({ ...program, ...TASK, agent_id })).body).toMatchObject({ code: 'conflict' })
      await until(
        () => stage.log(agentId),
        (log) => log.includes('spawn not_permitted'),
      )
      const stopped = await stage.server.call('POST', `/agents/${agentId}/stop`, ada, {})
      expect(stopped.body.code).toBe('not_permitted')
      expect((await stage.server.call('GET', `/agents/${agentId}/log`, ada)).body.code).toBe('not_permitted')
    },
    RUN_MS_MAX,
  )
})

describe('a contract that requires the sandbox', () => {
  it('[REQ-SPAWN-26] gets no agent where none holds, and nothing is started while all agents are paused', async () => {
    const stateDir = mkdtempSync(join(tmpdir(), 'phaselock-nowall-'))
    stage = await openStage(contractWith(), { confinement: () => openConfinement({ stateDir, only: 'none' }) })
    const program = { harness: 'command', command: 'node', args: [stage.agent, 'whole'] }
    expect(await ask({ ...program, ...TASK })).toMatchObject({ status: 503, body: { code: 'confinement_unavailable' } })
    await stage.server.call('POST', '/pause', stage.server.operator, { reason: 'a look' })
    expect((await ask({ ...program, ...TASK })).body.code).toBe('agents_paused')
    expect((await stage.server.call('GET', '/tasks', stage.server.operator)).body.tasks).toEqual([])
    rmSync(stateDir, { recursive: true, force: true })
  })
})

describe('an agent that is started', () => {
  it(
    '[REQ-SPAWN-1] goes through the phases of the task that was made and claimed for it, and its end is recorded',
    async () => {
      stage = await openStage(contractWith())
      const { agentId, taskId } = await stage.spawn(['prompt', 'files', 'whole'])
      const ended = await stage.ended(agentId)
      const log = await stage.log(agentId)
      expect(log).toContain(`claim 200 ${taskId} PLAN`)
      expect(log).toMatch(/prompt You are agent .* is claimed for you: A small task .* Plan it\./)
      expect(log).toContain('files true true')
      expect(ended).toMatchObject({ outcome: 'completed', exit_code: 0, restarts: 0, unenforced: [] })
      expect(await stage.task(taskId)).toMatchObject({ status: 'completed' })
      const facts = await stage.facts(agentId)
      expect(facts.map(({ type }) => type)).toEqual([
        'agent_spawned',
        'agent_registered',
        'agent_started',
        'agent_ended',
      ])
      expect(facts[3]?.data).toMatchObject({ outcome: 'completed', exit_code: 0 })
      expect(facts[3]?.data.last_lines).toContain('go DONE 200 true ')
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-DEADEND-5] has in its log what it asked for, and whether that was done, failed, refused or blocked',
    async () => {
      const phases = `phases:
  - id: PLAN
    allowed_tools: [read_files, bash]
    gates: [{id: planned, type: validation, blockers: [{check: file_exists, path: plan.md, message: Write plan.md}]}]
    tool_constraints: {bash: {forbidden_commands: [rm]}}
    writable: ["*.md"]
  - {id: BUILD, allowed_tools: [bash]}
  - {id: DONE}
`
      stage = await openStage(contractWith({ phases }))
      const { agentId } = await stage.spawn([
        ...['claim', 'use:write_files {"path":"src/a.js","content":"x"}', 'use:bash {"command":"rm -r ."}'],
        'use:bash {"command":"touch a.js"}',
        ...['use:bash {"command":"exit 3"}', 'use:read_files {"path":"gone.md"}', 'go:BUILD', 'go:DONE'],
        ...[
          'say:--- 2026-11-16T00:00:00.000Z write_files: done, 1 ms',
          'use:bash {"command":"touch plan.md"}',
          'go:BUILD',
        ],
        ...['go:DONE'],
      ])
      const ended = await stage.ended(agentId)
      const log = await stage.log(agentId)
      expect(ended, log).toMatchObject({ outcome: 'completed' })
      const own = log
        .split('\n')
        .filter((line) => line.startsWith('--- '))
        .map((line) => line.replace(/^--- \S+ /, '').replace(/\d+ ms$/, 'N ms'))
      expect(own).toEqual([
        'start 1 in PLAN',
        expect.stringMatching(/^write_files \{.*"src\/a.js".*\}: refused \[forbidden_tool\] \S/),
        expect.stringMatching(/^bash \{"command":"rm -r \."\}: refused \[constraint_violation\] \S/),
        'bash {"command":"touch a.js"}',
        expect.stringMatching(/^bash: refused \[constraint_violation\] .*a\.js/),
        'bash {"command":"exit 3"}',
        'bash: done, exit code 3, N ms',
        'read_files {"path":"gone.md"}',
        expect.stringMatching(/^read_files: failed \[tool_failed\] \S/),
        'transition to BUILD',
        expect.stringMatching(/^transition to BUILD: blocked \[gate_blocked\] Write plan\.md: \S/),
        expect.stringMatching(/^transition to DONE: refused \[\w+\] \S/),
        'bash {"command":"touch plan.md"}',
        'bash: done, exit code 0, N ms',
        'transition to BUILD',
        'now in BUILD',
        'transition to DONE',
        'now in DONE',
        'it ended with code 0',
      ])
      expect(log).toContain('\n --- 2026-11-16T00:00:00.000Z write_files: done, 1 ms\n')
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-SPAWN-1] is an entry of the contract with its variables, takes a named task, and finds the client by its name',
    async () => {
      stage = await openStage(
        contractWith({
          more: 'agents: {coder: {harness: command, command: node, args: [AGENT, env], env: {COLOR: "REF(PAINT)"}}}\n',
        }),
        {
          environment: { PAINT: 'paint-is-blue' },
        },
      )
      const taskId = await stage.server.addTask()
      const { agentId } = await stage.spawn([], { agent: 'coder', task_id: taskId, args: ['sdk'] })
      expect(await stage.ended(agentId)).toMatchObject({ outcome: 'completed', entry: 'coder', task_id: taskId })
      const log = await stage.log(agentId)
      expect(log).toContain('sdk true')
      // Filled in from the environment of the server, it is taken for a secret.
      expect(log).toContain('COLOR=[redacted]')
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-SPAWN-4] knows no token but its own, nothing of the state, and reaches nothing but its gateway',
    async () => {
      stage = await openStage(contractWith(), {
        environment: {
          OPENAI_API_KEY: 'sk-of-the-server',
          PHASELOCK_OPERATOR_TOKEN: 'plop_x',
          SOME_SECRET: 'of-the-server',
        },
      })
      const { workspace, stateDir, port, operator } = stage.server
      mkdirSync(join(workspace, '.git'))
      for (const name of ['a.txt', 'agent_workflow.yaml', '.git/config']) writeFileSync(join(workspace, name), 'hello')
      const words = [
        `reach:${port}`,
        `write:${workspace}/b.txt`,
        `read:${workspace}/a.txt`,
        `read:${workspace}/agent_workflow.yaml`,
      ]
      const { agentId } = await stage.spawn([
        'env',
        ...words,
        `list:${stateDir}`,
        `list:${workspace}/.git`,
        'write:/tmp/home/mine',
        'whole',
      ])
      await stage.ended(agentId)
      const log = await stage.log(agentId)
      expect(log).toContain('reach ECONNREFUSED REACHED ENETUNREACH')
      expect(log).toContain('write EROFS')
      expect(log).toContain('write WRITTEN')
      // What is hidden cannot be opened, or is empty: that depends on the sandbox provider.
      expect(log).toMatch(/read 5\nread (EACCES|0)\nlist ENOENT\nlist ?\n/)
      const environment = log.split('\n').find((line) => line.startsWith('env ')) ?? ''
      expect(environment).toContain('HOME=/tmp/home')
      for (const secret of [operator, stateDir, 'sk-of-the-server', 'plop_', 'of-the-server', 'OPENAI'])
        expect(environment).not.toContain(secret)
      expect(() => readFileSync(join(workspace, 'b.txt'))).toThrow()
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-SPAWN-5] reaches the one model that it is given, whose key is added outside',
    async () => {
      const seen: string[] = []
      const model = createServer((request, response) => {
        seen.push(`${request.url} ${request.headers.authorization}`)
        response.end('an answer')
      })
      await new Promise<void>((resolve) => model.listen(0, '127.0.0.1', resolve))
      const { port } = model.address() as { port: number }
      const env = `{OPENAI_BASE_URL: "http://127.0.0.1:${port}/v1", OPENAI_API_KEY: "REF(MODEL_KEY)"}`
      stage = await openStage(
        contractWith({
          more: `agents: {coder: {harness: command, command: node, args: [AGENT, model], env: ${env}}}\n`,
        }),
        {
          environment: { MODEL_KEY: 'the-real-key-of-the-model' },
        },
      )
      const { agentId } = await stage.spawn([], { agent: 'coder', args: ['env', 'whole'] })
      expect(await stage.ended(agentId)).toMatchObject({ outcome: 'completed' })
      model.close()
      expect(seen).toEqual(['/v1/chat Bearer the-real-key-of-the-model'])
      const log = await stage.log(agentId)
      expect(log).toContain('model 200 an answer added-by-phaselock')
      expect(log).not.toContain('the-real-key')
    },
    RUN_MS_MAX,
  )

  it.runIf(isFullDepth())(
    '[REQ-SPAWN-6] leaves a log without its token, without what a terminal obeys, and of a bounded size',
    async () => {
      stage = await openStage(contractWith())
      const { agentId } = await stage.spawn(['saytoken', 'flood', 'say:the-end', 'whole'])
      await stage.ended(agentId)
      const file = join(stage.server.stateDir, 'agents', agentId, 'log')
      const [newest, older] = [readFileSync(file, 'utf8'), readFileSync(`${file}.1`, 'utf8')]
      expect(newest).toContain('the-end')
      expect(newest.length).toBeLessThanOrEqual(4 * 1024 * 1024)
      expect(older.length).toBeLessThanOrEqual(4 * 1024 * 1024)
      // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what must not be there.
      expect(newest + older).not.toMatch(/\u001b|eyJ/)
      let text = ''
      let cursor = ''
      for (let more: unknown = true; more === true; ) {
        const part = (
          await stage.server.call('GET', `/agents/${agentId}/log?cursor=${cursor || '1:0'}`, stage.server.operator)
        ).body
        text += String(part.text)
        cursor = String(part.cursor)
        more = part.more
      }
      expect(text).toBe(newest)
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-SPAWN-7] is stopped by an operator: nothing of it runs, its tokens are dead, its task is free or parked',
    async () => {
      stage = await openStage(contractWith())
      for (const [park, status] of [
        [false, 'queued'],
        [true, 'parked'],
      ] as const) {
        const mark = `stopped-${park}-5512`
        const { agentId, taskId } = await stage.spawn(['claim', 'beat', mark])
        await until(
          () => stage.log(agentId),
          (log) => log.includes('claim 200'),
        )
        expect(processesWith(mark).length).toBeGreaterThan(0)
        const stopped = await stage.server.call('POST', `/agents/${agentId}/stop`, stage.server.operator, {
          park,
          reason: 'enough',
        })
        expect(stopped.body).toMatchObject({ state: 'ended', outcome: 'stopped', reason: 'enough' })
        expect(processesWith(mark)).toEqual([])
        expect(await stage.task(taskId)).toMatchObject({ status })
        expect((await stage.server.call('POST', `/agents/${agentId}/stop`, stage.server.operator, {})).body.code).toBe(
          'conflict',
        )
        expect((await stage.facts(agentId)).map(({ type }) => type)).not.toContain('agent_process_lost')
      }
    },
    RUN_MS_MAX,
  )
})
