import { readFileSync } from 'node:fs'
import { inspect } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as sdk from '../../sdk/typescript/src/index.js'
import { isFullDepth } from '../depth.js'
import type { Scene } from './scene.js'
import { Stage } from './stage.js'

type Data = Record<string, unknown>

interface Step extends Data {
  readonly call?: string
  readonly on?: string
  readonly args?: readonly unknown[]
  readonly options?: Data
  readonly stage?: Data
  readonly client?: string
  readonly follow?: { readonly after?: number; readonly until?: string | null; readonly take?: number }
  readonly state?: Data
  readonly expect?: unknown
  readonly raises?: Data & { readonly error: string }
  readonly save?: string
  readonly lacks?: string
  readonly types?: readonly string[]
  readonly takes_seconds?: readonly [number, number]
}

interface Vector {
  readonly name: string
  readonly req: string
  readonly contract: string
  readonly server?: string
  readonly via?: string
  readonly options?: Data
  readonly steps: readonly Step[]
}

const file = new URL('../../sdk/vectors.json', import.meta.url)
const { contracts, values, vectors } = JSON.parse(readFileSync(file, 'utf8')) as {
  contracts: Record<string, unknown>
  values: Data
  vectors: readonly Vector[]
}

let stage: Stage
beforeAll(async () => {
  stage = await Stage.open(contracts)
})
afterAll(() => stage?.close())

/** One scenario, played by the client for TypeScript. */
class Player {
  readonly #saved: Data
  readonly #clients = new Map<string, sdk.AgentClient>()
  readonly #tokens: string[] = []

  constructor(
    private readonly vector: Vector,
    private readonly scene: Scene,
  ) {
    this.#saved = { scene, ...values }
    this.#open('main', {})
  }

  async play(): Promise<void> {
    try {
      for (const [index, step] of this.vector.steps.entries()) await this.#step(step, `step ${index}`)
    } finally {
      for (const client of this.#clients.values()) client.close()
      await stage.do({ do: 'leave', scene: this.scene.task_id })
    }
  }

  #open(name: string, about: Data): void {
    const token = String(this.#filled(about.token ?? this.scene.token))
    const url = this.vector.via === 'socket' ? this.scene.socket_url : `${this.scene.url}/`
    const agentId = String(about.agent_id ?? this.scene.agent_id)
    this.#tokens.push(token)
    this.#clients.set(name, new sdk.AgentClient({ url, token, agentId, ...camel(this.vector.options ?? {}) }))
  }

  async #step(step: Step, at: string): Promise<void> {
    if (step.client !== undefined) return this.#open(step.client, step)
    const client = this.#clients.get(step.on ?? 'main') as sdk.AgentClient
    if (step.state !== undefined) {
      const state = { phase: client.phase, task_id: client.taskId, allowed_tools: client.allowedTools }
      return expect(state, at).toMatchObject(this.#filled(step.state) as Data)
    }
    const began = performance.now()
    const outcome = await this.#outcome(client, step).then(
      (answer) => ({ answer, error: undefined }),
      (error: unknown) => ({ answer: undefined, error }),
    )
    if (step.takes_seconds !== undefined) {
      const seconds = (performance.now() - began) / 1000
      expect(seconds, at).toBeGreaterThan(step.takes_seconds[0])
      expect(seconds, at).toBeLessThan(step.takes_seconds[1])
    }
    const shown = inspect([outcome, client], { depth: 20, showHidden: true })
    for (const token of this.#tokens) if (step.stage === undefined) expect(shown, at).not.toContain(token)
    if (step.raises !== undefined) this.#raised(outcome.error, step.raises, `${at}: ${shown}`)
    else if (outcome.error !== undefined) throw outcome.error
    if (step.expect !== undefined) expect(outcome.answer, at).toMatchObject(this.#filled(step.expect) as Data)
    if (step.lacks !== undefined) expect(JSON.stringify(outcome.answer), at).not.toContain(`"${step.lacks}"`)
    if (step.types !== undefined) this.#follows(outcome.answer as readonly sdk.TaskEvent[], step.types)
    if (step.save !== undefined) this.#saved[step.save] = outcome.answer ?? snake(outcome.error as Data)
  }

  async #outcome(client: sdk.AgentClient, step: Step): Promise<unknown> {
    if (step.stage !== undefined) return stage.do({ scene: this.scene.task_id, ...(this.#filled(step.stage) as Data) })
    if (step.follow !== undefined) {
      const { after, until, take } = step.follow
      const events: sdk.TaskEvent[] = []
      for await (const event of client.events(after === undefined ? {} : { after })) {
        events.push(event)
        if (event.type === until || events.length === take) break
      }
      return events
    }
    const name = camelName(step.call ?? '')
    const call = (client as unknown as Record<string, (...args: unknown[]) => unknown>)[name]
    if (call === undefined) throw new Error(`the client has no ${name}`)
    const args = (step.args ?? []).map((one) => this.#filled(one))
    const options = this.#filled(step.options ?? {}) as Data
    // What a tool takes is the tool's own; options of the client are written as TypeScript writes them.
    const last = ['use_tool', 'check_tool'].includes(step.call ?? '') ? options : camel(options)
    if (step.options !== undefined) while (args.length < (POSITIONS[name] ?? 0)) args.push(undefined)
    return call.apply(client, step.options === undefined ? args : [...args, last])
  }

  #raised(error: unknown, wanted: Data & { readonly error: string }, at: string): void {
    expect(error, at).toBeInstanceOf(sdk.PhaselockError)
    const { error: name, ...fields } = wanted
    if (name !== '*') expect((error as Error).name, at).toBe(name)
    expect(snake({ ...(error as unknown as Data), message: (error as Error).message }), at).toMatchObject(
      this.#filled(fields) as Data,
    )
  }

  #follows(events: readonly sdk.TaskEvent[], types: readonly string[]): void {
    expect(events.map((event) => event.type).filter((type) => types.includes(type))).toEqual(types)
    expect(events.map((event) => event.id)).toEqual([...new Set(events.map((event) => event.id))].sort((a, b) => a - b))
  }

  #filled(value: unknown): unknown {
    if (typeof value === 'string' && value.startsWith('$')) {
      let found: unknown = this.#saved
      for (const part of value.slice(1).split('.')) found = (found as Data)[part]
      return found
    }
    if (Array.isArray(value)) return value.map((one) => this.#filled(one))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, this.#filled(one)]))
  }
}

/** Calls whose options come after positions that a vector may leave out. */
const POSITIONS: Readonly<Record<string, number>> = { waitForApproval: 1, next: 1, requestTransition: 2 }

function camelName(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
}

function camel(fields: Data): Data {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [camelName(name), value]))
}

function snake(fields: Data): Data {
  const named = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [named(name), value]))
}

// What the vectors hold, for both clients.
const HELD = [
  ...['REQ-SDK-1', 'REQ-SDK-2', 'REQ-SDK-3', 'REQ-SDK-4', 'REQ-SDK-5', 'REQ-SDK-6', 'REQ-SDK-7', 'REQ-SDK-8'],
  ...['REQ-SDK-9', 'REQ-SDK-10', 'REQ-SDK-11', 'REQ-SDK-12', 'REQ-SDK-13', 'REQ-SDK-14', 'REQ-SDK-15'],
  ...['REQ-SDK-16', 'REQ-SDK-17', 'REQ-SDK-18', 'REQ-SDK-19', 'REQ-SDK-20'],
]

describe('the client for TypeScript', () => {
  it('[REQ-SDK-21] every requirement that the vectors are for has one, and each vector is for one of them', () => {
    expect([...new Set(vectors.map((vector) => vector.req))]).toEqual(HELD)
  })

  // In npm test the client for Python alone plays those that have a server of their own.
  const played = vectors.filter((vector) => vector.server !== 'own' || isFullDepth())
  it.concurrent.each(played.map((vector) => [vector.req, vector.name, vector] as const))(
    '[%s] %s',
    async (_req, _name, vector) => {
      const scene = await stage.do({ do: 'scene', contract: vector.contract, server: vector.server ?? 'shared' })
      await new Player(vector, scene as Scene).play()
    },
  )
})
