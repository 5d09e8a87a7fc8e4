/** An event of the ledger, as `GET /events` sends it. */
export interface LedgerEvent {
  readonly seq: number
  readonly stream: string
  readonly version: number
  readonly type: string
  readonly at: string
  readonly actor: string
  readonly epoch: number
  readonly phase: string | null
  readonly contract: string | null
  readonly data: Readonly<Record<string, unknown>>
}

/** The state of the connection to the server. */
export interface Connection {
  readonly status: 'connecting' | 'live' | 'retrying' | 'off'
  readonly lastSeq: number | null
  /** When the connection was lost, in milliseconds; null while it is there. */
  readonly lostAt: number | null
  readonly nextTryAt: number | null
}
