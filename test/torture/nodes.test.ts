import { rmSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { findPostgres } from '../store/postgres-server.js'
import { type Blow, shuffleBlows } from './nodes/blows.js'
import { FAULTS, GOOD_PROGRAM, plantFault } from './nodes/faulty-program.js'
import { Seeded } from './nodes/seeded.js'
import { type Outcome, torture } from './nodes/torture.js'

const SEED = Number(process.env.PHASELOCK_TORTURE_SEED ?? 1)
const ROUNDS = Number(process.env.PHASELOCK_TORTURE_ROUNDS ?? 1)
const AGENTS = Number(process.env.PHASELOCK_TORTURE_AGENTS ?? 9)
const BLOWS_MAX = Number(process.env.PHASELOCK_TORTURE_BLOWS ?? 100)
const OPERATIONS = Number(process.env.PHASELOCK_TORTURE_OPERATIONS ?? 500)
/** `npm run torture:nodes`: also three nodes with fifty agents and twenty restarts of PostgreSQL in one run. */
const IS_WHOLE = process.env.PHASELOCK_TORTURE_WHOLE === '1'

const EACH_ONCE = { postgres: 2, kill: 1, connections: 1, pause: 1, elsewhere: 1, cut: 1, clock: 1 } as const
const WHOLE = { postgres: 20, kill: 6, connections: 6, pause: 4, elsewhere: 1, cut: 2, clock: 4 } as const
const MINUTE_MS = 60_000
const FAULT_RUNS_MAX = 3

const BLOWS: Record<keyof typeof FAULTS, readonly Blow[]> = {
  'a claim without compare-and-set': ['connections', 'connections', 'connections', 'connections'],
  'a token checked with what a node remembers': ['connections', 'connections', 'connections', 'connections'],
  'no fencing': ['elsewhere', 'elsewhere'],
}

function tell({ history, problems }: Outcome, about: Record<string, unknown>): void {
  console.log(JSON.stringify({ ...about, ...history.count(), problems: problems.length, first: problems[0] ?? null }))
}

describe.skipIf(findPostgres() === null)('nodes under torture (skipped where PostgreSQL is not installed)', () => {
  for (let seed = SEED; seed < SEED + ROUNDS; seed += 1)
    test(
      `[REQ-NODES-10] nothing acknowledged is lost, no task is held twice, no superseded token is accepted (seed ${seed})`,
      async () => {
        const blows = shuffleBlows(new Seeded(seed), EACH_ONCE).slice(0, BLOWS_MAX)
        const how = { seed, program: GOOD_PROGRAM, nodes: 3, agents: AGENTS, tasks: AGENTS, calmMs: 1_500, blows }
        const outcome = await torture({ ...how, operationsMin: OPERATIONS })
        tell(outcome, { seed, blows: blows.join(' ') })
        expect(outcome.problems, `PHASELOCK_TORTURE_SEED=${seed}`).toEqual([])
        expect(outcome.history.count().staleRefused).toBeGreaterThan(0)
        expect(outcome.history.grants.length).toBeGreaterThan(AGENTS)
        expect(outcome.history.operations.length).toBeGreaterThanOrEqual(OPERATIONS)
      },
      10 * MINUTE_MS,
    )

  test.runIf(IS_WHOLE)(
    '[REQ-NODES-10] the same with fifty agents while PostgreSQL crashes twenty times',
    async () => {
      const blows = shuffleBlows(new Seeded(SEED), WHOLE)
      const how = { seed: SEED, program: GOOD_PROGRAM, nodes: 3, agents: 50, tasks: 50, calmMs: 2_000, blows }
      const outcome = await torture(how)
      tell(outcome, { seed: SEED, ...WHOLE })
      expect(outcome.problems).toEqual([])
    },
    20 * MINUTE_MS,
  )

  for (const name of Object.keys(FAULTS) as (keyof typeof FAULTS)[])
    test(
      `[REQ-NODES-10] the same finds a planted fault: ${name}`,
      async () => {
        const { program, dir } = plantFault(name)
        try {
          const agents = IS_WHOLE ? 50 : 9
          const how = { program, nodes: 3, agents, tasks: Math.ceil((agents * 2) / 3), calmMs: 3_000 }
          let found: readonly string[] = []
          // A busy machine may answer too little for the fault to show at once.
          for (let seed = SEED; seed < SEED + FAULT_RUNS_MAX && found.length === 0; seed += 1) {
            const outcome = await torture({ ...how, seed, blows: BLOWS[name], operationsMin: 600 })
            tell(outcome, { seed, fault: name })
            found = outcome.problems
          }
          expect(found).not.toEqual([])
        } finally {
          rmSync(dir, { recursive: true, force: true })
        }
      },
      10 * MINUTE_MS,
    )
})
