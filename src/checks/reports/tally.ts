import { sha256Hex } from '../../base/sha256.js'
import {
  FILE_CHARS_MAX,
  ID_CHARS_MAX,
  LOAD_FAILURES_MAX,
  type LoadFailure,
  MESSAGE_CHARS_MAX,
  type RunnerFormat,
  TESTS_MAX,
  type TestReport,
  type TestResult,
  type TestStatus,
} from './report.js'
import { toOneLine, toRelativePath } from './text.js'

/** One test as a reader parsed it. */
interface SeenTest {
  /** From the outside in, without empty parts. */
  readonly path: readonly string[]
  readonly status: TestStatus
  readonly file?: string | null
  readonly message?: string | null
}

export interface Counts {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

export interface Tally {
  add(seen: SeenTest): void
  loadFailed(failure: LoadFailure): void
  /** Counted over the added tests. */
  counts(): Counts
  total(): number
  /** `counts` if the runner counted tests that it does not list. */
  report(format: RunnerFormat, counts?: Counts): TestReport
}

export function createTally(root: string | null): Tally {
  const tests: TestResult[] = []
  const used = new Map<string, number>()
  const failures = new Map<string, LoadFailure>()
  const seen = { passed: 0, failed: 0, skipped: 0 }
  let truncated = false
  return {
    add({ path, status, file, message }) {
      seen[status === 'todo' ? 'skipped' : status]++
      if (tests.length >= TESTS_MAX) truncated = true
      else
        tests.push({
          id: numberId(formatId(path), used),
          status,
          file: normalizeFile(file, root),
          message: status === 'failed' ? shortenMessage(message) : null,
        })
    },
    loadFailed(failure) {
      const kept = {
        file: normalizeFile(failure.file, root),
        kind: failure.kind,
        module: failure.module === null ? null : toOneLine(normalizeModule(failure.module, root), FILE_CHARS_MAX),
        message: toOneLine(failure.message, MESSAGE_CHARS_MAX),
      }
      const key = JSON.stringify([kept.file, kept.kind, kept.module])
      if (failures.size < LOAD_FAILURES_MAX || failures.has(key)) failures.set(key, failures.get(key) ?? kept)
      else truncated = true
    },
    counts: () => ({ ...seen }),
    total: () => seen.passed + seen.failed + seen.skipped,
    report: (format, counts = seen) => ({
      format,
      source: 'output',
      passed: counts.passed,
      failed: counts.failed,
      skipped: counts.skipped,
      tests,
      complete: !truncated && isSame(counts, seen),
      loadFailures: [...failures.values()],
      truncated,
    }),
  }
}

function isSame(one: Counts, other: Counts): boolean {
  return one.passed === other.passed && one.failed === other.failed && one.skipped === other.skipped
}

function formatId(path: readonly string[]): string {
  const parts = path.map((part) => part.trim()).filter((part) => part !== '')
  const full = parts.join(' > ')
  const id = toOneLine(full, ID_CHARS_MAX) || '(no name)'
  // The part that is cut off still distinguishes two tests.
  return id.length < ID_CHARS_MAX ? id : `${id} ${sha256Hex(full.toWellFormed()).slice(0, 16)}`
}

function numberId(id: string, used: Map<string, number>): string {
  let count = (used.get(id) ?? 0) + 1
  let name = count === 1 ? id : `${id} #${count}`
  while (count > 1 && used.has(name)) name = `${id} #${++count}`
  used.set(id, count)
  if (name !== id) used.set(name, 1)
  return name
}

function normalizeFile(file: string | null | undefined, root: string | null): string | null {
  if (file === null || file === undefined || file.trim() === '') return null
  return toOneLine(toRelativePath(file.slice(0, FILE_CHARS_MAX * 8), root), FILE_CHARS_MAX)
}

// Specifiers such as ./a.js stay as they were written: they are relative to the file that imports them.
function normalizeModule(module: string, root: string | null): string {
  return module.startsWith('/') || module.startsWith('file:') ? toRelativePath(module, root) : module
}

function shortenMessage(message: string | null | undefined): string | null {
  if (message === null || message === undefined) return null
  return toOneLine(message, MESSAGE_CHARS_MAX) || null
}
