import { connect, createServer, type Server, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { findPostgres, type PostgresServer, startPostgres } from '../store/postgres-server.js'
import { begin, CONTRACT, countEvents, findUnexplained, OPERATIONS } from './operations.js'
import { EndingServer } from './walk.js'

const NOTHING = 'Nothing in the work tree changed without an allowed call.'
const WRITE = OPERATIONS.find(({ name }) => name.includes('several files'))
const LATE_MS = 3_000
const bin = findPostgres()

/** What becomes of the write that records a change of a tree, when the connection is lost. */
type Fate = 'never arrives' | 'is committed, and the answer is lost' | 'arrives late'

/** Stands between a server and its database, and cuts the connection at the next write that records a change. */
class Relay {
  readonly #sockets = new Set<Socket>()
  readonly #server: Server
  #fate: Fate | null = null

  constructor(target: number) {
    this.#server = createServer((near) => this.#join(near, connect(target, '127.0.0.1')))
  }

  async open(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return (this.#server.address() as { port: number }).port
  }

  cutAtNextChange(fate: Fate): void {
    this.#fate = fate
  }

  close(): void {
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
  }

  #join(near: Socket, far: Socket): void {
    let isCut = false
    for (const socket of [near, far]) {
      this.#sockets.add(socket)
      socket.on('error', () => socket.destroy())
    }
    near.on('data', (chunk) => {
      const fate = this.#fate
      if (fate === null || !chunk.includes('tree_change')) return far.write(chunk)
      this.#fate = null
      isCut = true
      if (fate === 'is committed, and the answer is lost') far.once('data', () => near.destroy()).write(chunk)
      else near.destroy()
      if (fate === 'never arrives') far.destroy()
      if (fate === 'arrives late') setTimeout(() => far.write(chunk), LATE_MS)
    })
    far.on('data', (chunk) => (isCut ? undefined : near.write(chunk)))
    near.on('close', () => (isCut ? undefined : far.destroy()))
    far.on('close', () => near.destroy())
  }
}

describe.skipIf(bin === null)('a connection to PostgreSQL that is lost (skipped where it is not installed)', () => {
  let postgres: PostgresServer
  let server: EndingServer
  let relay: Relay
  beforeAll(async () => {
    postgres = await startPostgres(bin ?? '')
  })
  afterAll(() => postgres?.remove())
  afterEach(async () => {
    await server.remove()
    relay.close()
  })

  it.each(['never arrives', 'is committed, and the answer is lost', 'arrives late'] as const)(
    '[REQ-WHOLE-13] the write of a change %s: tree and ledger agree, and the same key gets its answer',
    { timeout: 120_000 },
    async (fate) => {
      if (WRITE === undefined) throw new Error('there is no such call')
      const url = new URL(await postgres.createDatabase())
      relay = new Relay(Number(url.port))
      url.port = String(await relay.open())
      server = new EndingServer(CONTRACT, {
        environment: { PHASELOCK_STORE: url.href, ORCHESTRATOR_JWT_SECRET: 'a secret of more than thirty-two bytes' },
      })
      const stage = await begin(server)
      await WRITE.prepare(stage, 1)
      const was = WRITE.look(stage, 1)
      const before = await countEvents(stage, WRITE.event)
      const call = { ...WRITE.call(stage, 1), key: 'once' }
      relay.cutAtNextChange(fate)
      const first = await server.call(call)
      await new Promise((resolve) => setTimeout(resolve, LATE_MS + 500))
      const recorded = (await countEvents(stage, WRITE.event)) - before
      if (fate === 'never arrives') expect(recorded).toBe(0)
      if (fate.startsWith('is committed')) expect(recorded).toBe(1)
      if (first.status !== 200) expect(first).toMatchObject({ status: 503, body: { code: 'store_unavailable' } })
      else expect(recorded).toBe(1)
      expect(WRITE.look(stage, 1)).toBe(recorded === 1 ? WRITE.expected(stage, 1) : was)
      expect(await server.call(call)).toMatchObject({ status: 200 })
      expect(WRITE.look(stage, 1)).toBe(WRITE.expected(stage, 1))
      expect((await countEvents(stage, WRITE.event)) - before).toBe(1)
      expect(await findUnexplained(stage)).toBe(NOTHING)
      const verified = await server.call({ method: 'GET', path: '/audit/verify', token: server.operator })
      expect(verified.body).toMatchObject({ ok: true })
    },
  )
})
