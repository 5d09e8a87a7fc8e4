import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const FOLDER = join(import.meta.dirname, 'fixtures')

/** One run of a real test runner, as it was recorded. */
export interface Recorded {
  /** `runner/reporter/scenario` */
  readonly name: string
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
  /** Null when the run was to write none; empty when it was and did not. */
  readonly reportText: string | null
}

export function recordedRuns(): readonly Recorded[] {
  return readdirSync(FOLDER, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap((runner) =>
      readdirSync(join(FOLDER, runner.name)).flatMap((file) =>
        runsIn(`${runner.name}/${file.replace('.txt', '')}`, readFileSync(join(FOLDER, runner.name, file), 'utf8')),
      ),
    )
}

export function recorded(name: string): Recorded {
  const found = recordedRuns().find((run) => run.name === name)
  if (found === undefined) throw new Error(`there is no recorded run ${name}`)
  return found
}

/** Commands that failed before any test was read, by the cause that is to be found: `cause/program`. */
export function recordedCauses(): readonly Recorded[] {
  const folder = join(import.meta.dirname, 'causes')
  return readdirSync(folder).flatMap((file) =>
    runsIn(file.replace('.txt', '').replaceAll('-', ' '), readFileSync(join(folder, file), 'utf8')),
  )
}

function runsIn(reporter: string, text: string): readonly Recorded[] {
  return text
    .split(/^#####\[ /m)
    .slice(1)
    .map((block) => {
      const [scenario = ''] = block.split(' ]#####\n', 1)
      return {
        name: `${reporter}/${scenario}`,
        exitCode: Number(/^exit: (-?\d+)$/m.exec(block)?.[1]),
        stdout: section(block, 'stdout') ?? '',
        stderr: section(block, 'stderr') ?? '',
        reportText: block.includes('\n=====[no report]=====\n') ? '' : section(block, 'report'),
      }
    })
}

function section(block: string, name: string): string | null {
  const mark = `=====[${name}]=====\n`
  const start = block.indexOf(mark)
  if (start < 0) return null
  const from = start + mark.length
  const end = block.indexOf('\n=====[', from - 1)
  return block.slice(from, end < 0 ? block.length - 1 : Math.max(from, end))
}
