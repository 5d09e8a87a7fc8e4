import { expect } from 'vitest'
import { openApi } from '../../src/http/openapi.js'
import { DESCRIBED } from '../../src/http/routes/all.js'
import { ENDPOINTS } from './endpoints.js'
import { Stage } from './stage.js'
import { countHandlers, type Outcome, operationsOf, PER_ENDPOINT, throwGarbage } from './throw-garbage.js'

// One server takes several endpoints in a row: to set one up takes longer than most of them.
const ENDPOINTS_PER_STAGE_MAX = 8
// A change of a call that takes no fields is mostly a change around it; all others must get into the handler often enough.
const REACHED_MIN = 0.15

countHandlers()

export const OPERATIONS = operationsOf(openApi(DESCRIBED) as Record<string, unknown>)
type Operation = (typeof OPERATIONS)[number]

/** Every other operation. Two files take half of them each, so that two processes can. */
export function halfOf(remainder: 0 | 1): readonly Operation[] {
  return OPERATIONS.filter((_, index) => index % 2 === remainder)
}

/** Endpoints under siege, one after the other. */
export class Siege {
  readonly #outcomes = new Map<string, Outcome>()
  #shared: Stage | null = null
  #sharedBy = 0

  async besiege(operation: Operation): Promise<void> {
    await this.onStage(ENDPOINTS[operation.id]?.isAlone === true, async (stage) => {
      const outcome = await throwGarbage(stage, operation)
      this.#outcomes.set(operation.id, outcome)
      expect(outcome.permitted).toBeGreaterThanOrEqual(PER_ENDPOINT)
      expect(outcome.reached / outcome.permitted, 'share that reached the handler').toBeGreaterThan(REACHED_MIN)
      expect((await stage.run.call('GET', '/health', null)).body).toMatchObject({ status: 'ok' })
      expect((await stage.run.call('GET', '/audit/verify', stage.run.operator)).body).toMatchObject({
        ok: true,
        problems: [],
      })
      expect(stage.run.faults).toEqual([])
    })
  }

  /** Works on the stage that endpoints share, or on one of its own. After a failure it is shared no longer. */
  async onStage(isOwn: boolean, work: (stage: Stage) => Promise<void>): Promise<void> {
    const stage = (isOwn ? null : this.#shared) ?? (await Stage.open())
    if (isOwn) return work(stage).finally(() => stage.run.stop())
    this.#sharedBy = this.#shared === null ? 1 : this.#sharedBy + 1
    this.#shared = null
    let isKept = false
    try {
      await work(stage)
      isKept = this.#sharedBy < ENDPOINTS_PER_STAGE_MAX
    } finally {
      if (isKept) this.#shared = stage
      else await stage.run.stop()
    }
  }

  async end(): Promise<void> {
    await this.#shared?.run.stop()
    if (process.env.PHASELOCK_GARBAGE_SHOW === undefined) return
    for (const [id, { sent, permitted, reached, statuses }] of this.#outcomes)
      console.log(
        `${id}: ${sent} sent, ${reached} of ${permitted} permitted ones reached the handler, ${JSON.stringify(Object.fromEntries([...statuses].sort()))}`,
      )
  }
}
