import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Running, type StartOptions, start } from '../http/harness.js'
import { AGENT } from './agent.js'

export type Body = Record<string, unknown>

export interface ContractOptions {
  readonly leaseSeconds?: number
  readonly crash?: string | null
  readonly confinement?: string
  readonly more?: string
  readonly phases?: string
}

const PHASES = `phases:
  - {id: PLAN, allowed_tools: [read_files], prompt: "Plan it."}
  - {id: BUILD, allowed_tools: [read_files], prompt: "Build it."}
  - {id: DONE, allowed_tools: []}
`

/** Three phases without gates: what is looked at is who goes through them. */
export function contractWith(options: ContractOptions = {}): string {
  const { leaseSeconds = 60, crash = '{max_retries: 1, backoff_seconds: 1}', confinement = 'required' } = options
  return `name: spawning
version: "1"
${options.phases ?? PHASES}enforcement: {lease_seconds: ${leaseSeconds}, confinement: ${confinement}, reconcile: off}
${crash === null ? '' : `recovery: {agent_crash: ${crash}}\n`}${options.more ?? ''}`
}

/** A server, and a folder with a small agent that does what its words say. */
export interface Stage {
  readonly server: Running
  readonly agent: string
  /** Starts the small agent on a new task. */
  spawn(words: readonly string[], more?: Body): Promise<{ readonly agentId: string; readonly taskId: string }>
  show(agentId: string): Promise<Body>
  task(taskId: string): Promise<Body>
  log(agentId: string): Promise<string>
  /** What the ledger says of the agent, oldest first. */
  facts(agentId: string): Promise<readonly { readonly type: string; readonly data: Body }[]>
  ended(agentId: string): Promise<Body>
  stop(): Promise<void>
}

export async function openStage(contract: string, options: StartOptions = {}): Promise<Stage> {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'phaselock-spawn-')))
  const agent = join(dir, 'program', 'agent.mjs')
  mkdirSync(join(dir, 'program'))
  writeFileSync(agent, AGENT)
  mkdirSync(join(dir, 'server'))
  const environment = { PATH: process.env.PATH, ...options.environment }
  const server = await start({
    contract: filled(contract, agent),
    dir: join(dir, 'server'),
    spawnLimits: QUICK,
    ...options,
    environment,
  })
  return stageOf(server, agent, () => rmSync(dir, { recursive: true, force: true }))
}

// What is taken from the environment of the server is written REF(NAME) in tests.
function filled(contract: string, agent: string): string {
  return contract.replaceAll('AGENT', agent).replace(/REF\((\w+)\)/g, (_whole, name: string) => `$\{env:${name}}`)
}

export const QUICK = { graceMs: 3_000, retryMs: 100, lookMs: 200 }

export function stageOf(server: Pick<Running, 'call' | 'operator' | 'stop'>, agent: string, remove: () => void): Stage {
  const ask = async (path: string): Promise<Body> => (await server.call('GET', path, server.operator)).body
  const show = (agentId: string): Promise<Body> => ask(`/agents/${agentId}`)
  return {
    server: server as Running,
    agent,
    spawn: async (words, more = {}) => {
      const task = more.task_id === undefined ? { task: { title: 'A small task' } } : {}
      const program = more.agent === undefined ? { harness: 'command', command: 'node', args: [agent, ...words] } : {}
      const { status, body } = await server.call('POST', '/agents/spawn', server.operator, {
        ...program,
        ...task,
        ...more,
      })
      if (status !== 201) throw new Error(JSON.stringify(body))
      return { agentId: String(body.agent_id), taskId: String(body.task_id) }
    },
    show,
    task: (taskId) => ask(`/tasks/${taskId}`),
    log: async (agentId) => String((await ask(`/agents/${agentId}/log`)).text),
    facts: async (agentId) => {
      const { events } = await ask('/audit/query?limit=500')
      const all = events as { type: string; data: Body; seq: number }[]
      return all
        .filter((one) => one.data.agent_id === agentId && one.type.startsWith('agent_'))
        .sort((a, b) => a.seq - b.seq)
    },
    ended: (agentId) =>
      until(
        () => show(agentId),
        (one) => one.state === 'ended',
      ),
    stop: async () => {
      await server.stop()
      remove()
    },
  }
}

const UNTIL_MS_MAX = 180_000

/** Looks until it is so. */
export async function until<T>(look: () => Promise<T> | T, isSo: (found: T) => boolean): Promise<T> {
  const deadline = Date.now() + UNTIL_MS_MAX
  for (;;) {
    const found = await look()
    if (isSo(found)) return found
    if (Date.now() > deadline) throw new Error(`not in time: ${JSON.stringify(found)}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
