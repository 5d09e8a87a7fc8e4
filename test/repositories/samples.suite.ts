import { afterAll, beforeAll, describe, it } from 'vitest'
import { built } from '../cli/program.js'
import { formatTimes, type Sample, type Times } from './sample.js'
import { walkSample } from './walk-sample.js'

const WALK_MS_MAX = 600_000
export const GREEN = 'green tests'
const OLD = 'an old red, an old skipped and an old flickering test'

/** Walks through each sample, as it is and with old tests in it, and prints what the gates took. */
export function describeSamples(samples: readonly Sample[], kinds: readonly string[] = [GREEN, OLD]): void {
  const rows: Times[] = []
  beforeAll(built, WALK_MS_MAX)
  afterAll(() => {
    if (rows.length > 0) process.stdout.write(`\n${formatTimes(rows)}`)
  })
  describe.each(samples)('$name', (sample) => {
    it.for(kinds)(
      '[REQ-MATRIX-1] an honest agent completes its task under the contract of init in a repository with %s',
      { timeout: WALK_MS_MAX },
      async (kind, { skip }) => {
        const done = await walkSample(sample, { hasOldTests: kind === OLD })
        if (typeof done === 'string') {
          process.stdout.write(`skipped: ${sample.name}: ${done}\n`)
          return skip(done)
        }
        rows.push(done)
      },
    )
  })
}
