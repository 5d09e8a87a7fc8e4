import { readdirSync } from 'node:fs'
import { type Profiler, Session } from 'node:inspector'
import { join } from 'node:path'
import { afterAll, describe, expect } from 'vitest'

const HERE = new URL('.', import.meta.url).pathname
const RULES = join(HERE, '../src/core/rules')
const TEXT = join(HERE, '../src/core/text.ts')
const COVERED_MIN = 0.9

// Started before anything of the rules is loaded, or what was compiled before would not be counted.
const session = new Session()
session.connect()
session.post('Profiler.enable')
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })

describe('[REQ-CRITERION-6] tests of the rules reach at least 90 % of the code of each of their files', async () => {
  // The long comparison with a plain reading reaches nothing that the others do not.
  const own = readdirSync(join(HERE, 'core/rules')).filter(
    (name) => name.endsWith('.test.ts') && !name.startsWith('reference'),
  )
  for (const name of own) await import(/* @vite-ignore */ join(HERE, 'core/rules', name))

  afterAll(async () => {
    const covered = await takeCoverage()
    const files = [...readdirSync(RULES).map((name) => join(RULES, name)), TEXT]
    expect(files.length).toBeGreaterThan(5)
    expect(
      files.filter((file) => (covered.get(file) ?? 0) < COVERED_MIN).map((file) => [file, covered.get(file)]),
    ).toEqual([])
  })
})

function takeCoverage(): Promise<ReadonlyMap<string, number>> {
  return new Promise((resolve, reject) => {
    session.post('Profiler.takePreciseCoverage', (error, taken) => {
      if (error !== null) return reject(error)
      const ours = taken.result.map((one) => ({ ...one, path: findSource(one.url.replace(/^file:\/\//, '')) }))
      resolve(
        new Map(
          ours
            .filter(({ path }) => path === TEXT || path.startsWith(`${RULES}/`))
            .map((one) => [one.path, shareOf(one)]),
        ),
      )
    })
  })
}

// Tests load the compiled program when it is up to date.
function findSource(path: string): string {
  const built = join(HERE, '../dist/')
  return path.startsWith(built) ? join(HERE, '../src', path.slice(built.length).replace(/\.js$/, '.ts')) : path
}

// Ranges are nested: the innermost one that holds a character says how often it ran.
function shareOf({ functions }: Profiler.ScriptCoverage): number {
  const ranges = functions.flatMap((one) => one.ranges).sort((a, b) => spanOf(b) - spanOf(a))
  const [whole] = ranges
  if (whole === undefined) return 0
  const ran = new Uint8Array(whole.endOffset).fill(1)
  for (const range of ranges) ran.fill(range.count > 0 ? 1 : 0, range.startOffset, range.endOffset)
  return ran.reduce((sum, one) => sum + one, 0) / ran.length
}

function spanOf(range: Profiler.CoverageRange): number {
  return range.endOffset - range.startOffset
}
