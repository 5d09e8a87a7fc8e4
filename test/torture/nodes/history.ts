/** A phase token that an agent was given: what it stands for must be in the ledger for ever. */
export interface Grant {
  readonly agent: string
  readonly task: string
  readonly epoch: number
  readonly phase: string
}

export type Kind = 'claim' | 'move' | 'look' | 'release' | 'heartbeat'

/** One call of an agent: when it was made and answered, and what was answered. */
export interface Operation {
  readonly agent: string
  readonly kind: Kind
  readonly base: string
  /** What the token that was sent stands for; null: it was the agent's own token. */
  readonly used: Grant | null
  /** The agent knows that the token was superseded before it made the call. */
  readonly isStale: boolean
  /** Ticks of one counter, so that it is certain which call ended before which other began. */
  readonly begun: number
  ended: number
  /** Null: no answer, so that nothing is known. */
  status: number | null
  code: string | null
  given: Grant | null
}

/** What agents asked and were told, in the order of real time. */
export class History {
  readonly operations: Operation[] = []
  #ticks = 0

  begin(about: Pick<Operation, 'agent' | 'kind' | 'base' | 'used' | 'isStale'>): Operation {
    this.#ticks += 1
    const operation = { ...about, begun: this.#ticks, ended: Number.POSITIVE_INFINITY }
    const begun: Operation = { ...operation, status: null, code: null, given: null }
    this.operations.push(begun)
    return begun
  }

  end(operation: Operation, told: Pick<Operation, 'status' | 'code' | 'given'>): void {
    this.#ticks += 1
    // A call without an answer may be decided at any later time.
    operation.ended = told.status === null ? Number.POSITIVE_INFINITY : this.#ticks
    operation.status = told.status
    operation.code = told.code
    operation.given = told.given
  }

  get grants(): readonly Grant[] {
    return this.operations.flatMap(({ given }) => (given === null ? [] : [given]))
  }

  /** Numbers for a report. */
  count(): Readonly<Record<string, number>> {
    const all = this.operations
    const isRefused = ({ status }: Operation) => status !== null && status >= 400
    return {
      operations: all.length,
      answered: all.filter(({ status }) => status !== null).length,
      unanswered: all.filter(({ status }) => status === null).length,
      refused: all.filter(isRefused).length,
      unavailable: all.filter(({ status }) => status === 503).length,
      grants: this.grants.length,
      staleRefused: all.filter((one) => one.isStale && isRefused(one)).length,
    }
  }
}
