import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect } from 'vitest'
import { SCRIPT } from '../cli/program.js'
import { makePlace, type Place, type Served, serve } from '../e2e/process.js'
import { git, makeRepository } from '../e2e/projects.js'
import type { Found } from '../participants/real-agents.js'
import { type Model, openModel, type Script } from './model.js'
import { PROJECT } from './work.js'

export const KEY = 'key-of-the-model-5511'
const BUNDLED = new URL('../../contracts/tdd.yaml', import.meta.url)
// Everything as it is bundled; only that a crash is not waited out for a minute.
const QUICK = '\nrecovery: { agent_crash: { max_retries: 3, backoff_seconds: 1 } }\n'
const UNTIL_MS_MAX = 180_000

export type Body = Record<string, unknown>
export type Event = { readonly type: string; readonly data: Body; readonly seq: number }

/** A repository, a server over it, and a model that the agents of the server ask. */
export class Stage {
  readonly #children: ChildProcess[] = []
  /** What `phaselock run` had to say, once it is over. */
  #over: string | null = null

  private constructor(
    readonly place: Place,
    readonly model: Model,
    readonly environment: NodeJS.ProcessEnv,
    public server: Served,
  ) {}

  static async open(agent: Found & { readonly ok: true }, scripts: Readonly<Record<string, Script>>): Promise<Stage> {
    const place = await makePlace()
    makeRepository(place.workspace, PROJECT)
    writeFileSync(join(place.dir, 'tdd.yaml'), readFileSync(BUNDLED, 'utf8') + QUICK)
    const model = await openModel(scripts)
    const environment = {
      PATH: `${dirname(agent.program)}:${process.env.PATH}`,
      ...{ ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: model.url },
      ...{ OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `${model.url}/v1` },
      ...{ GEMINI_API_KEY: KEY, GOOGLE_GEMINI_BASE_URL: model.url },
    }
    return new Stage(place, model, environment, await serve(place, join(place.dir, 'tdd.yaml'), environment))
  }

  /** `phaselock run …`, to its end. */
  async run(...words: readonly string[]): Promise<{ readonly code: number | null; readonly output: string }> {
    this.#over = null
    const ended = await this.phaselock('run', ...words)
    this.#over = ended.output
    return ended
  }

  /** A command of the operator. */
  async phaselock(...words: readonly string[]): Promise<{ readonly code: number | null; readonly output: string }> {
    const child = spawn(SCRIPT, words, {
      stdio: ['ignore', 'pipe', 'pipe'],
      cwd: this.place.dir,
      env: {
        ...{ PATH: process.env.PATH, HOME: this.place.dir, PHASELOCK_STATE_DIR: this.place.stateDir },
        PHASELOCK_URL: `http://127.0.0.1:${this.place.port}`,
      },
    })
    this.#children.push(child)
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)))
    const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
    return { code, output }
  }

  async get(path: string): Promise<Body> {
    const { status, body } = await this.server.call('GET', path, this.server.operator)
    expect(status, `${JSON.stringify(body)}\n${this.server.output().slice(-2000)}`).toBe(200)
    return body
  }

  /** Approves the first plan that is asked for, as a person would. */
  async approve(): Promise<void> {
    const [first] = await until(
      async () => {
        if (this.#over !== null) throw new Error(`it ended without asking:\n${this.#over}`)
        return (await this.get('/approvals')).approvals as Body[]
      },
      (all) => all.length > 0,
    )
    const { status, body } = await this.server.call('POST', `/approvals/${first?.id}/decision`, this.server.operator, {
      decision: 'approve',
      digest: first?.digest,
    })
    expect(status, JSON.stringify(body)).toBe(200)
  }

  async task(): Promise<Body> {
    const { tasks } = await this.get('/tasks')
    const [first] = tasks as Body[]
    return this.get(`/tasks/${first?.id ?? first?.task_id}`)
  }

  async events(): Promise<readonly Event[]> {
    const { id } = await this.task()
    return (await this.get(`/tasks/${id}/timeline?limit=1000`)).events as Event[]
  }

  /** The names of the phases in the order in which they were entered. */
  async phases(): Promise<readonly string[]> {
    return (await this.events()).filter(({ type }) => type === 'phase_entered').map(({ data }) => String(data.to))
  }

  has(path: string): boolean {
    return existsSync(join(this.place.workspace, path))
  }

  /** What git knows of the tree: its last commit and what differs from it. */
  tree(): string {
    return git(this.place.workspace, 'log', '--format=%s') + git(this.place.workspace, 'status', '--porcelain')
  }

  async restart(): Promise<void> {
    this.server = await serve(this.place, join(this.place.dir, 'tdd.yaml'), this.environment)
  }

  async close(): Promise<void> {
    for (const child of this.#children) child.kill('SIGKILL')
    await this.server.stop()
    this.model.close()
    this.place.remove()
  }
}

/** Looks until it is so. */
export async function until<T>(look: () => Promise<T> | T, isSo: (found: T) => boolean): Promise<T> {
  const deadline = Date.now() + UNTIL_MS_MAX
  for (;;) {
    const found = await look()
    if (isSo(found)) return found
    if (Date.now() > deadline) throw new Error(`not in time: ${JSON.stringify(found)?.slice(0, 2000)}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
