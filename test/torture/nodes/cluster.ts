import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { prepareNode } from '../../../src/store/prepare-node.js'
import { findPostgres, type PostgresServer, startPostgres } from '../../store/postgres-server.js'
import { CONTRACT } from '../clients.js'
import { type Namespace, openNamespace } from './namespace.js'
import { type NodeProcess, startNode } from './node-process.js'
import { type Relay, startRelay } from './relay.js'

interface Member {
  stateDir: string
  process: NodeProcess
  readonly workspace: string
  readonly relay: Relay
  /** Where it runs; null: on this machine like the others. */
  readonly namespace: Namespace | null
  /** The file that says how far off its clock is. */
  readonly clock: string
}

export interface ClusterOptions {
  readonly count: number
  readonly program: string
}

/** Nodes on one database, each behind its own way to it, and everything that can happen to them. */
export class TortureCluster {
  readonly dir = mkdtempSync(join(tmpdir(), 'phaselock-nodes-'))
  readonly members: Member[] = []
  readonly #options: ClusterOptions
  /** Processes whose node was started elsewhere. */
  readonly left: NodeProcess[] = []
  postgres!: PostgresServer
  url = ''
  #copies = 0
  #namespace: Namespace | null = null

  constructor(options: ClusterOptions) {
    this.#options = options
  }

  async start(): Promise<void> {
    this.postgres = await startPostgres(findPostgres() ?? '')
    this.url = await this.postgres.createDatabase()
    writeFileSync(join(this.dir, 'contract.yaml'), CONTRACT)
    this.#namespace = openNamespace()
    if (this.#namespace === null)
      console.log('nodes are cut off by a relay that loses bytes: network namespaces need root and iproute2')
    for (let index = 0; index < this.#options.count; index += 1) {
      const workspace = join(this.dir, `tree-${index}`)
      const stateDir = join(this.dir, `state-${index}`)
      mkdirSync(workspace)
      if (index > 0) prepareNode(join(this.dir, 'state-0'), stateDir)
      const relay = await startRelay(Number(new URL(this.url).port), this.#host)
      const clock = join(this.dir, `clock-${index}`)
      const namespace = index === this.#options.count - 1 ? this.#namespace : null
      const member = { stateDir, workspace, relay, namespace, clock }
      this.members.push({ ...member, process: await this.#start(member) })
    }
  }

  get operator(): string {
    return this.members[0]?.process.operator ?? ''
  }

  async killAndRestart(index: number): Promise<void> {
    const member = this.#get(index)
    await member.process.kill()
    member.process = await this.#start(member)
  }

  /** Longer than the lease: other nodes refuse its tasks meanwhile. */
  async pause(index: number, ms: number): Promise<void> {
    const { process } = this.#get(index)
    process.signal('SIGSTOP')
    await sleep(ms)
    process.signal('SIGCONT')
  }

  /** The node in the namespace loses its whole network; without a namespace, the one that is hit its way to the database. */
  async cutOff(index: number, ms: number): Promise<void> {
    const line = this.#namespace ?? this.#get(index).relay
    line.cut()
    await sleep(ms)
    line.heal()
  }

  /** The node is paused, and started again from a copy of its directory. The first process then wakes up. */
  async startElsewhere(index: number): Promise<NodeProcess> {
    const member = this.#get(index)
    const before = member.process
    before.signal('SIGSTOP')
    this.#copies += 1
    const copy = join(this.dir, `copy-${this.#copies}`)
    cpSync(member.stateDir, copy, { recursive: true, filter: (path) => !path.endsWith('server.lock') })
    member.stateDir = copy
    await sleep(LEASE_MS + 1_000)
    member.process = await this.#start(member)
    this.left.push(before)
    return before
  }

  /** Agents go on calling meanwhile. */
  async crashPostgres(): Promise<void> {
    await this.postgres.restart()
  }

  /** The clock of a node's machine jumps. */
  async setClock(index: number, offMs: number): Promise<void> {
    writeFileSync(this.#get(index).clock, String(Math.round(offMs)))
  }

  async killConnections(): Promise<void> {
    const sql =
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname IS NOT NULL AND pid <> pg_backend_pid()'
    await this.postgres.run(this.url, sql).catch(() => undefined)
  }

  async remove(): Promise<void> {
    for (const process of [...this.members.map((one) => one.process), ...this.left]) {
      process.signal('SIGCONT')
      await process.kill()
    }
    for (const { relay } of this.members) relay.close()
    this.#namespace?.remove()
    this.postgres.remove()
    rmSync(this.dir, { recursive: true, force: true })
  }

  #get(index: number): Member {
    const member = this.members[index]
    if (member === undefined) throw new Error(`there is no node ${index}`)
    return member
  }

  // An address that the node in the namespace reaches too.
  get #host(): string {
    return this.#namespace?.outside ?? '127.0.0.1'
  }

  #start(member: Omit<Member, 'process'>): Promise<NodeProcess> {
    const { stateDir, workspace, relay, clock, namespace } = member
    const store = this.url.replace(/@[^/]+\//, `@${this.#host}:${relay.port}/`)
    const contract = join(this.dir, 'contract.yaml')
    const where = { host: namespace?.inside ?? this.#host, enter: namespace?.enter ?? [] }
    return startNode({ program: this.#options.program, stateDir, workspace, contract, store, clock, ...where })
  }
}

/** That of the program. */
const LEASE_MS = 6_000

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
