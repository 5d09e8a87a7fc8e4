import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FaultyProxy } from './faulty-proxy.js'
import { type Body, type Ground, type GroundKind, openGround } from './ground.js'
import { act, prepare, type Scene } from './scene.js'

interface Playing {
  readonly ground: Ground
  readonly proxy: FaultyProxy
}

/**
 * A real server, and a proxy of its own for each scene, so that scenes play at the same time. What an operator, a clock
 * or a bad network does in a scene is asked for over HTTP, so that clients in any language can ask.
 */
export class Stage {
  readonly #control = createServer()
  readonly #doors = mkdtempSync(join(tmpdir(), 'phaselock-stage-'))
  readonly #playing = new Map<string, Playing>()
  #count = 0

  private constructor(
    private readonly contracts: Readonly<Record<string, unknown>>,
    private readonly shared: Ground,
  ) {}

  static async open(contracts: Readonly<Record<string, unknown>>): Promise<Stage> {
    const stage = new Stage(contracts, await openGround('shared', Object.values(contracts)))
    stage.#listen(stage.#control)
    await new Promise<void>((resolve) => stage.#control.listen(0, '127.0.0.1', resolve))
    return stage
  }

  get controlUrl(): string {
    return `http://127.0.0.1:${(this.#control.address() as AddressInfo).port}`
  }

  async close(): Promise<void> {
    this.#control.close()
    this.#control.closeAllConnections()
    for (const task of this.#playing.keys()) await this.#leave(task)
    await this.shared.close()
    rmSync(this.#doors, { recursive: true, force: true })
  }

  /** `scene` begins one, `leave` ends it, and everything else is done in the scene of the task that `scene` names. */
  async do(asked: Body): Promise<Body> {
    if (asked.do === 'scene') return this.#begin(asked)
    const task = String(asked.scene)
    if (asked.do === 'leave') return this.#leave(task)
    const playing = this.#playing.get(task)
    if (playing === undefined) throw new Error(`there is no scene ${task}`)
    return act(playing.ground, playing.proxy, asked)
  }

  #listen(control: Server): void {
    control.on('request', async (incoming, outgoing) => {
      let text = ''
      for await (const chunk of incoming) text += String(chunk)
      const answer = await this.do(JSON.parse(text) as Body).catch((error: unknown) => ({ failed: String(error) }))
      outgoing.setHeader('content-type', 'application/json').end(JSON.stringify(answer))
    })
  }

  async #begin(asked: Body): Promise<Scene> {
    this.#count += 1
    const name = String(this.#count)
    const kind = asked.server as GroundKind
    const contract = String(asked.contract)
    const ground = kind === 'shared' ? this.shared : await openGround(kind, [this.contracts[contract]])
    const socket = join(this.#doors, `${name}.sock`)
    const { proxy, port } = await FaultyProxy.open(ground, socket)
    const prepared = await prepare(ground, name, contract)
    this.#playing.set(prepared.task_id, { ground, proxy })
    return { ...prepared, url: `http://127.0.0.1:${port}`, socket_url: `unix://${socket}` }
  }

  async #leave(task: string): Promise<Body> {
    const playing = this.#playing.get(task)
    this.#playing.delete(task)
    playing?.proxy.close()
    if (playing !== undefined && playing.ground !== this.shared) await playing.ground.close()
    return {}
  }
}
