import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { makePlace, type Place, type Served, serve } from '../e2e/process.js'
import { type Running, start } from '../http/harness.js'
import { type Fault, FaultyProxy } from './faulty-proxy.js'

type Body = Record<string, unknown>
type Operator = (method: string, path: string, body?: unknown) => Promise<{ status: number; body: Body }>

/** Where one scenario plays: an agent of its own, a task of its own, and the addresses of the server. */
export interface Scene extends Body {
  readonly url: string
  readonly socket_url: string
  readonly token: string
  readonly agent_id: string
  readonly task_id: string
}

/**
 * A real server process with a proxy before it, and one in this process whose clock can be moved. What an operator, a
 * clock or a bad network does in a scenario is asked for over HTTP, so that clients in any language can ask.
 */
export class Stage {
  #served: Served | null = null
  #clocked: Running | null = null
  #offsetMs = 0
  #count = 0
  readonly #contracts = new Map<string, unknown>()

  private constructor(
    private readonly place: Place,
    private readonly proxy: FaultyProxy,
    private readonly proxyPort: number,
    private readonly control: Server,
  ) {}

  static async open(contracts: Readonly<Record<string, unknown>>): Promise<Stage> {
    const place = await makePlace()
    for (const [file, text] of Object.entries(DOCUMENTS)) {
      mkdirSync(join(place.workspace, file, '..'), { recursive: true })
      writeFileSync(join(place.workspace, file), text)
    }
    const { proxy, port } = await FaultyProxy.open(place, join(place.dir, 'door.sock'))
    const control = createServer()
    const stage = new Stage(place, proxy, port, control)
    for (const [name, contract] of Object.entries(contracts)) stage.#contracts.set(name, contract)
    control.on('request', async (incoming, outgoing) => {
      let text = ''
      for await (const chunk of incoming) text += String(chunk)
      const answer = await stage.do(JSON.parse(text) as Body).catch((error: unknown) => ({ failed: String(error) }))
      outgoing.setHeader('content-type', 'application/json').end(JSON.stringify(answer))
    })
    await new Promise<void>((resolve) => control.listen(0, '127.0.0.1', resolve))
    await stage.#serve()
    return stage
  }

  get controlUrl(): string {
    return `http://127.0.0.1:${(this.control.address() as AddressInfo).port}`
  }

  async close(): Promise<void> {
    this.control.close()
    this.control.closeAllConnections()
    this.proxy.close()
    await this.#served?.stop()
    await this.#clocked?.stop()
    this.place.remove()
  }

  /** One thing that is not the client's to do. */
  async do(asked: Body): Promise<Body> {
    const { operator } = this
    const task = String(asked.task_id ?? '')
    switch (asked.do) {
      case 'scene':
        return this.#scene(asked)
      case 'approve':
      case 'reject':
        return this.#decide(String(asked.id), asked.do)
      case 'approve_soon':
        setTimeout(() => void this.#decide(String(asked.id), 'approve'), SOON_MS)
        return {}
      case 'rewind':
        return (await operator('POST', `/tasks/${task}/rewind`, { to_phase: asked.to_phase, reason: 'a test' })).body
      case 'rewind_soon':
        setTimeout(() => void this.do({ ...asked, do: 'rewind' }), SOON_MS)
        return {}
      case 'cancel_soon':
        setTimeout(() => void operator('POST', `/tasks/${task}/cancel`, { reason: 'a test' }), SOON_MS)
        return {}
      case 'new_token':
        return (await operator('POST', '/agents', { agent_id: asked.agent_id })).body
      case 'task':
        return (await operator('GET', `/tasks/${task}`)).body
      case 'status':
        return this.#untilStatus(task, String(asked.status))
      case 'count':
        return this.#countOf(task, String(asked.type))
      case 'sends':
        return this.#sends(String(asked.path))
      case 'fail':
        this.proxy.fail(asked as unknown as Fault)
        return {}
      case 'clear':
        this.proxy.forget()
        return {}
      case 'kill':
        await this.#served?.kill()
        return {}
      case 'start':
        await this.#serve()
        return {}
      case 'restart_soon':
        await this.#served?.kill()
        setTimeout(() => void this.#serve(), 500)
        return {}
      case 'clock':
        this.#offsetMs += Number(asked.seconds) * 1000
        if (this.#clocked !== null) this.#clocked.now = Date.now() + this.#offsetMs
        return {}
      case 'sleep':
        await new Promise((resolve) => setTimeout(resolve, Number(asked.seconds) * 1000))
        return {}
      case 'coordination':
        return this.#coordination()
      default:
        throw new Error(`the stage cannot ${String(asked.do)}`)
    }
  }

  private get operator(): Operator {
    const served = this.#served
    if (served === null) throw new Error('there is no server')
    return (method, path, body) => served.call(method, path, served.operator, body)
  }

  async #serve(): Promise<void> {
    this.#served = await serve(this.place, 'tdd')
  }

  async #scene(asked: Body): Promise<Scene> {
    this.#count += 1
    this.proxy.forget()
    const isClocked = asked.server === 'clock'
    const operator = isClocked ? await this.#clockedOperator() : this.operator
    const agentId = `agent-${this.#count}`
    const taskId = `task-${this.#count}`
    const workspace = join(this.place.dir, `tree-${this.#count}`)
    mkdirSync(join(workspace, 'docs'), { recursive: true })
    for (const [file, text] of Object.entries(DOCUMENTS)) writeFileSync(join(workspace, file), text)
    const contract = String(asked.contract)
    const known = await operator('POST', '/contracts', { contract: this.#contracts.get(contract) })
    const added = await operator('POST', '/tasks', { id: taskId, title: 'Say hello', contract, workspace })
    const agent = await operator('POST', '/agents', { agent_id: agentId })
    if (added.status !== 201 || agent.status !== 201) throw new Error(JSON.stringify([known, added, agent]))
    return {
      url: isClocked ? (this.#clocked?.url ?? '') : `http://127.0.0.1:${this.proxyPort}`,
      socket_url: `unix://${join(this.place.dir, 'door.sock')}`,
      token: String(agent.body.agent_token),
      agent_id: agentId,
      task_id: taskId,
    }
  }

  async #clockedOperator(): Promise<Operator> {
    const clocked = this.#clocked ?? (await start())
    this.#clocked = clocked
    this.#offsetMs = 0
    clocked.now = null
    return (method, path, body) => clocked.call(method, path, clocked.operator, body)
  }

  async #decide(id: string, decision: string): Promise<Body> {
    const { body } = await this.operator('GET', `/approvals/${id}`)
    const comment = decision === 'reject' ? { comment: 'not like this' } : {}
    return (await this.operator('POST', `/approvals/${id}/decision`, { decision, digest: body.digest, ...comment }))
      .body
  }

  /** The task once it has the status, or as it is when that takes too long. */
  async #untilStatus(task: string, status: string): Promise<Body> {
    const deadline = Date.now() + STATUS_MS_MAX
    for (;;) {
      const { body } = await this.operator('GET', `/tasks/${task}`)
      if (body.status === status || Date.now() > deadline) return body
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }

  async #countOf(task: string, type: string): Promise<Body> {
    const { body } = await this.operator('GET', `/tasks/${task}/timeline?limit=500`)
    return { count: (body.events as { type: string }[]).filter((event) => event.type === type).length }
  }

  #sends(path: string): Body {
    const sent = this.proxy.seen.filter((one) => one.path.endsWith(path))
    return { count: sent.length, keys: new Set(sent.map((one) => one.key)).size }
  }

  async #coordination(): Promise<Body> {
    const { body } = await this.operator('POST', '/coordinations', {
      question: 'Which way?',
      agents: [
        { id: 'left', kind: 'remote' },
        { id: 'right', kind: 'remote' },
      ],
    })
    const [left, right] = body.agents as { token: string }[]
    return { id: String(body.id), left: left?.token, right: right?.token }
  }
}

const SOON_MS = 1200
const STATUS_MS_MAX = 30_000
const DOCUMENTS: Readonly<Record<string, string>> = {
  'docs/names.md': '# Names\n\nNames are nouns of the product, and marmalade is one.\n',
  'docs/hello.txt': 'hello\n',
}
