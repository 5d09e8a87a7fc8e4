import pg from 'pg'

const RETRY_MS = 500
const CONNECT_MS_MAX = 5_000

interface LineOptions {
  readonly url: string
  readonly channel: string
  /** Taken on this connection, so that it is free as soon as the process has ended. */
  readonly lock: string
  readonly nodeId: string
  /** Another node may have written something: by its notice, or while the line was broken. */
  readonly onNotice: () => void
}

/** The connection on which a node hears of the others' writes. It is made again whenever it breaks. */
export class NodeLine {
  #client: pg.Client | null = null
  #retry: NodeJS.Timeout | null = null
  #isClosed = false

  constructor(private readonly options: LineOptions) {}

  async open(): Promise<void> {
    const { url, channel, nodeId, onNotice } = this.options
    const client = new pg.Client({
      connectionString: url,
      connectionTimeoutMillis: CONNECT_MS_MAX,
      application_name: 'phaselock node',
      keepAlive: true,
    })
    // What this node wrote it knows from its own writer.
    client.on('notification', ({ payload }) => (payload === nodeId ? undefined : onNotice()))
    client.on('error', () => this.#lose(client))
    client.on('end', () => this.#lose(client))
    await client.connect()
    if (this.#isClosed) {
      await client.end()
      return
    }
    this.#client = client
    await client.query(`LISTEN ${channel}`)
    await this.takeLock()
    onNotice()
  }

  /** True when this connection has the lock of the node. */
  async takeLock(): Promise<boolean> {
    const sql = 'SELECT pg_try_advisory_lock($1) AS taken'
    const found = await this.#client?.query(sql, [this.options.lock])
    return found?.rows[0]?.taken === true
  }

  async close(): Promise<void> {
    this.#isClosed = true
    if (this.#retry !== null) clearTimeout(this.#retry)
    const client = this.#client
    this.#client = null
    await client?.end().catch(() => undefined)
  }

  #lose(client: pg.Client): void {
    if (this.#client === client) this.#client = null
    client.end().catch(() => undefined)
    if (this.#isClosed || this.#retry !== null) return
    this.#retry = setTimeout(() => {
      this.#retry = null
      this.open().catch(() => this.#lose(client))
    }, RETRY_MS)
    this.#retry.unref()
  }
}
