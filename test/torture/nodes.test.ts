import { rmSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { findPostgres } from '../store/postgres-server.js'
import { FAULTS, GOOD_PROGRAM, plantFault } from './nodes/faulty-program.js'
import { type Blow, type Outcome, torture } from './nodes/torture.js'

const SEED = Number(process.env.PHASELOCK_TORTURE_SEED ?? 1)
const ROUNDS = Number(process.env.PHASELOCK_TORTURE_ROUNDS ?? 1)
const AGENTS = Number(process.env.PHASELOCK_TORTURE_AGENTS ?? 9)

const ALL: readonly Blow[] = ['postgres', 'kill', 'connections', 'pause', 'elsewhere', 'cut', 'postgres']

const BLOWS: Record<keyof typeof FAULTS, readonly Blow[]> = {
  'a claim without compare-and-set': ['connections', 'connections', 'connections', 'connections'],
  'a token checked with what a node remembers': ['connections', 'connections', 'connections', 'connections'],
  'no fencing': ['elsewhere', 'elsewhere'],
}

function tell({ history, problems }: Outcome, seed: number): void {
  const { operations, refused, unanswered, staleRefused, grants } = history
  console.log(JSON.stringify({ seed, operations, refused, unanswered, staleRefused, grants: grants.length, problems }))
}

describe.skipIf(findPostgres() === null)('nodes under torture (skipped where PostgreSQL is not installed)', () => {
  test('[REQ-NODES-10] nothing acknowledged is lost, no task is held twice, no superseded token is accepted', async () => {
    for (let seed = SEED; seed < SEED + ROUNDS; seed += 1) {
      const how = { seed, program: GOOD_PROGRAM, nodes: 3, agents: AGENTS, tasks: AGENTS, calmMs: 1_500 }
      const outcome = await torture({ ...how, blows: ALL })
      tell(outcome, seed)
      expect(outcome.problems, `PHASELOCK_TORTURE_SEED=${seed}`).toEqual([])
      expect(outcome.history.staleRefused).toBeGreaterThan(0)
      expect(outcome.history.grants.length).toBeGreaterThan(AGENTS)
    }
  })

  for (const name of Object.keys(FAULTS) as (keyof typeof FAULTS)[])
    test(`[REQ-NODES-10] the same finds a planted fault: ${name}`, async () => {
      const { program, dir } = plantFault(name)
      try {
        const how = { seed: SEED, program, nodes: 3, agents: 9, tasks: 6, calmMs: 3_000 }
        const outcome = await torture({ ...how, blows: BLOWS[name] })
        tell(outcome, SEED)
        expect(outcome.problems).not.toEqual([])
      } finally {
        rmSync(dir, { recursive: true, force: true })
      }
    })
})
