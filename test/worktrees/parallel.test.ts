import { type ChildProcess, spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { makePlace, type Place, type Served, serve } from '../e2e/process.js'
import { git, makeRepository } from '../e2e/projects.js'

const AGENTS = 10
const TASKS = 20
const MS = 300_000
const LEASE_SECONDS = 10
const AGENT = fileURLToPath(new URL('agent.mjs', import.meta.url))
const CONTRACT = `
name: parallel
version: "1"
phases:
  - {id: PLAN, allowed_tools: [read_files]}
  - id: BUILD
    allowed_tools: [read_files, write_files]
    gates:
      - {id: tested, type: validation, blockers: [{check: command_succeeds, command: tests, message: The tests must pass}]}
  - id: COMMIT
    allowed_tools: [read_files, git_commit, git_log]
    gates:
      - {id: committed, type: validation, blockers: [{check: committed, message: The change must be committed}]}
  - {id: DONE, allowed_tools: []}
commands: {tests: {run: node --test tasks/, timeout_seconds: 120}}
enforcement: {lease_seconds: ${LEASE_SECONDS}}
recovery: {agent_crash: {max_retries: 9, backoff_seconds: 1}}
`

interface Stalled {
  readonly stalled: string
  readonly task: string
  readonly token: string
}

class Crew {
  readonly #children: ChildProcess[] = []
  readonly #tokens = new Map<string, string>()
  output = ''

  constructor(
    readonly place: Place,
    readonly server: Served,
  ) {}

  async start(id: string, stallIn = ''): Promise<ChildProcess> {
    if (!this.#tokens.has(id)) {
      const added = await this.server.call('POST', '/agents', this.server.operator, { agent_id: id })
      this.#tokens.set(id, String(added.body.agent_token))
    }
    const env = {
      PATH: process.env.PATH,
      URL_BASE: `http://127.0.0.1:${this.place.port}`,
      AGENT: id,
      TOKEN: this.#tokens.get(id) ?? '',
      STALL_IN: stallIn,
    }
    const child = spawn(process.execPath, [AGENT], { stdio: ['ignore', 'pipe', 'pipe'], env })
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => (this.output += chunk))
    this.#children.push(child)
    return child
  }

  /** Waits until the agent stands in the middle of the phase, and kills it there. */
  async killIn(phase: string, child: ChildProcess): Promise<Stalled> {
    await expect.poll(() => this.stalled(phase), { timeout: MS, interval: 50 }).toBeDefined()
    child.kill('SIGKILL')
    return this.stalled(phase) as Stalled
  }

  stalled(phase: string): Stalled | undefined {
    const lines = this.output.split('\n').filter((line) => line.startsWith('{"stalled"'))
    return lines.map((line) => JSON.parse(line) as Stalled).find((one) => one.stalled === phase)
  }

  end(): void {
    for (const child of this.#children) child.kill('SIGKILL')
  }
}

describe('many agents on one repository', () => {
  it(
    '[REQ-TREES-8] ten agents complete twenty tasks once each though one is killed in each phase, and all of it is merged once',
    async () => {
      const place = await makePlace()
      makeRepository(place.workspace, { 'package.json': '{"type": "module"}\n' })
      git(place.workspace, 'branch', '-M', 'main')
      const contract = join(place.dir, 'parallel.yaml')
      writeFileSync(contract, CONTRACT)
      const server = await serve(place, contract)
      const crew = new Crew(place, server)
      try {
        const operate = (path: string, body: unknown) => server.call('POST', path, server.operator, body)
        const names = Array.from({ length: TASKS }, (_, index) => `t${index}`)
        const added = await Promise.all(names.map((id) => operate('/tasks', { title: id, id, worktree: true })))
        expect(added.map(({ status }) => status)).toEqual(names.map(() => 201))
        // The first is started again each time; the one in BUILD is not, and others go on with its task.
        const killed: Stalled[] = []
        for (let index = 3; index < AGENTS; index += 1) await crew.start(`agent-${index}`)
        const victims = await Promise.all(
          ['PLAN', 'BUILD', 'COMMIT'].map((phase, index) => crew.start(`agent-${index}`, phase)),
        )
        await Promise.all(
          ['PLAN', 'BUILD', 'COMMIT'].map(async (phase, index) => {
            killed.push(await crew.killIn(phase, victims[index] as ChildProcess))
            if (phase !== 'BUILD') await crew.start(`agent-${index}`)
          }),
        )
        const isOver = async () => {
          const { body } = await server.call('GET', '/tasks?limit=100&status=completed', server.operator)
          return (body.tasks as unknown[]).length
        }
        await expect.poll(isOver, { timeout: MS, interval: 200 }).toBe(TASKS)
        for (const { task, token } of killed) {
          const late = await server.call('POST', '/tools/check', token, {
            ...{ task_id: task, tool_name: 'read_files', args: { path: 'package.json' } },
          })
          expect(String(late.body.code), JSON.stringify(late.body)).toMatch(/^(token_\w+|task_not_active)$/)
        }
        for (const id of names) {
          const merged = await operate(`/tasks/${id}/merge`, { reason: 'done' })
          expect(merged, JSON.stringify(merged.body)).toMatchObject({ status: 200 })
        }
        await onceEach(place, server, names)
      } catch (error) {
        throw new Error(`${crew.output.slice(-4000)}\n${server.output().slice(-2000)}`, { cause: error })
      } finally {
        crew.end()
        await server.stop()
        place.remove()
      }
    },
    MS,
  )
})

async function onceEach(place: Place, server: Served, names: readonly string[]): Promise<void> {
  const subjects = git(place.workspace, 'log', '--format=%s').trim().split('\n')
  for (const id of names) {
    expect(
      subjects.filter((subject) => subject === `Work of ${id}`),
      id,
    ).toHaveLength(1)
    expect(git(place.workspace, 'show', `HEAD:tasks/${id}.mjs`)).toBe(`export const name = '${id}'\n`)
    const { body } = await server.call('GET', `/tasks/${id}/timeline?limit=500`, server.operator)
    const types = (body.events as { type: string }[]).map(({ type }) => type)
    expect(
      types.filter((type) => type === 'task_completed'),
      id,
    ).toHaveLength(1)
    expect(
      types.filter((type) => type === 'worktree_merged'),
      id,
    ).toHaveLength(1)
  }
  expect(git(place.workspace, 'status', '--porcelain')).toBe('')
}
