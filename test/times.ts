import { readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'

/**
 * How long each test file took when it was last measured, at the depth of `npm test` and at full depth. A run with
 * `--times` writes it: `docs/internals/testing.md` says when to.
 */
const FILE = join(import.meta.dirname, 'times.json')

/** For files that nobody has measured yet. */
const SECONDS_UNMEASURED = 5
/** Runs differ: a time that changed by less than this part stays as it is. */
const CHANGE_MIN = 0.2

export type Depth = 'usual' | 'full'
/** By file, below `test/` and without `.test.ts`. */
type Measured = Record<string, Partial<Record<Depth, number>>>

export class TestTimes {
  readonly #measured: Measured

  constructor(measured: Measured) {
    this.#measured = measured
  }

  get names(): readonly string[] {
    return Object.keys(this.#measured)
  }

  /** What the file takes at this depth, or at the other one where that is all that was measured. */
  getSeconds(name: string, depth: Depth): number {
    const { usual, full } = this.#measured[name] ?? {}
    return (depth === 'full' ? (full ?? usual) : (usual ?? full)) ?? SECONDS_UNMEASURED
  }

  /** The same times with what was measured now; files that are no longer there are dropped. */
  update(measured: ReadonlyMap<string, number>, depth: Depth, isThere: (name: string) => boolean): TestTimes {
    const names = [...new Set([...Object.keys(this.#measured), ...measured.keys()])].filter(isThere).toSorted()
    const entries = names.map((name) => {
      const before = this.#measured[name] ?? {}
      const seconds = measured.get(name)
      if (seconds === undefined || !hasChanged(before[depth], seconds)) return [name, before] as const
      return [name, { ...before, [depth]: Math.max(0.1, Math.round(seconds * 10) / 10) }] as const
    })
    return new TestTimes(Object.fromEntries(entries))
  }

  write(): void {
    // One line for each file, so that two changes seldom meet.
    const lines = Object.entries(this.#measured).map(([name, { usual, full }]) => {
      const fields = [
        ...(usual === undefined ? [] : [`"usual": ${usual}`]),
        ...(full === undefined ? [] : [`"full": ${full}`]),
      ]
      return `  ${JSON.stringify(name)}: { ${fields.join(', ')} }`
    })
    writeFileSync(FILE, `{\n${lines.join(',\n')}\n}\n`)
  }
}

export function readTimes(): TestTimes {
  return new TestTimes(JSON.parse(readFileSync(FILE, 'utf8')) as Measured)
}

function hasChanged(before: number | undefined, seconds: number): boolean {
  return before === undefined || Math.abs(seconds - before) > before * CHANGE_MIN
}

/** The path of a test file below `test/`, without `.test.ts`. */
export function getTestName(root: string, path: string): string {
  return relative(root, path).replace(/^test\/|\.test\.ts$/g, '')
}

/** Parts that take about the same time: each file, the longest first, goes to the part that has least. */
export function splitEvenly<T>(files: readonly T[], getSeconds: (file: T) => number, count: number): readonly T[][] {
  const parts = Array.from({ length: count }, () => ({ seconds: 0, files: [] as T[] }))
  for (const file of [...files].sort((a, b) => getSeconds(b) - getSeconds(a))) {
    const shortest = parts.reduce((least, part) => (part.seconds < least.seconds ? part : least))
    shortest.files.push(file)
    shortest.seconds += getSeconds(file)
  }
  return parts.map((part) => part.files)
}
