import { type Grade, readRecords, readText, type TaskEvent } from './task-types.js'

/** An observed run as an event names it; its record is kept under `sha256`. */
export interface RunRef {
  readonly seq: number
  readonly at: string
  readonly phase: string
  readonly name: string
  readonly command: string
  readonly sha256: string
  readonly grade: Grade
  readonly passed: number | null
  readonly failed: number | null
  readonly skipped: number | null
  readonly problem: string | null
}

/** A version of an artifact that was handed in. */
export interface ArtifactVersion {
  readonly type: string
  readonly version: number
  readonly sha256: string
  readonly bytes: number
  readonly grade: Grade
  readonly seq: number
  readonly at: string
  readonly phase: string
}

type Named = Omit<RunRef, 'seq' | 'at' | 'phase'>

/** Every observed run of a task, oldest first; a cached one is named once. */
export function listRuns(events: readonly TaskEvent[]): readonly RunRef[] {
  const runs = events.flatMap((event): readonly RunRef[] => {
    const about = { seq: event.seq, at: event.at, phase: event.phase ?? '' }
    if (event.type === 'baseline_recorded' && readText(event.data, 'run') !== '')
      return [{ ...about, ...toBaseline(event.data) }]
    return readRecords<Named>(event.data, 'observed').map((run) => ({ ...run, ...about }))
  })
  return runs.filter((run, index) => index === 0 || runs.findIndex(({ sha256 }) => sha256 === run.sha256) === index)
}

function toBaseline(data: TaskEvent['data']): Named {
  const count = (name: string): number | null => (typeof data[name] === 'number' ? data[name] : null)
  return {
    ...{ name: 'baseline', command: 'the tests, before any change', sha256: readText(data, 'run') },
    ...{ grade: 'observed', passed: count('passed'), failed: count('failed'), skipped: count('skipped') },
    problem: readText(data, 'reason') || null,
  }
}

/** Every version of every artifact, in the order in which they were handed in. */
export function listArtifacts(events: readonly TaskEvent[]): readonly ArtifactVersion[] {
  const found: ArtifactVersion[] = []
  for (const event of events) {
    if (event.type !== 'transition_requested') continue
    for (const artifact of readRecords<Omit<ArtifactVersion, 'version'>>(event.data, 'artifacts')) {
      const earlier = found.filter(({ type }) => type === artifact.type)
      if (earlier.some(({ sha256 }) => sha256 === artifact.sha256)) continue
      const { type, sha256, bytes, grade } = artifact
      found.push({
        type,
        sha256,
        bytes,
        grade,
        version: earlier.length + 1,
        seq: event.seq,
        at: event.at,
        phase: event.phase ?? '',
      })
    }
  }
  return found
}

export type TestStatus = 'passed' | 'failed' | 'skipped' | 'todo'

/** The kept record of a run. */
export interface RunRecord {
  readonly tests: readonly { readonly id: string; readonly status: TestStatus }[]
  readonly tests_total?: number
  readonly load_failures?: readonly { readonly file: string | null; readonly kind: string; readonly message: string }[]
  readonly last_lines?: readonly string[]
  readonly cause?: string
  readonly coverage?: number
  readonly duration_ms?: number
}

/** One test against the run before. */
export interface TestChange {
  readonly id: string
  readonly status: TestStatus | 'lost'
  readonly mark: 'new' | 'turned red' | 'turned green' | 'lost' | null
}

/** The tests of a run, those that changed first. A test of the run before that is not in this one is lost. */
export function compareRuns(run: RunRecord, before: RunRecord | null): readonly TestChange[] {
  const earlier = new Map(before?.tests.map(({ id, status }) => [id, status]) ?? [])
  const tests = run.tests.map(
    ({ id, status }): TestChange => ({ id, status, mark: before === null ? null : findMark(status, earlier.get(id)) }),
  )
  const known = new Set(run.tests.map(({ id }) => id))
  const lost = [...earlier.keys()]
    .filter((id) => !known.has(id))
    .map((id): TestChange => ({ id, status: 'lost', mark: 'lost' }))
  return [...lost, ...tests].toSorted((a, b) => rank(a) - rank(b))
}

function findMark(status: TestStatus, before: TestStatus | undefined): TestChange['mark'] {
  if (before === undefined) return 'new'
  if (status === 'failed' && before !== 'failed') return 'turned red'
  return status === 'passed' && before === 'failed' ? 'turned green' : null
}

const ORDER = ['lost', 'turned red', 'new', 'turned green'] as const

function rank({ mark, status }: TestChange): number {
  const place = ORDER.indexOf(mark as (typeof ORDER)[number])
  if (place !== -1) return place
  return status === 'failed' ? ORDER.length : ORDER.length + 1
}
