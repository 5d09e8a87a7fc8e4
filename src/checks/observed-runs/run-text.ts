import type { ObservedRun } from '../../core/evidence/observed-run.js'
import { formatCount } from '../../core/text.js'

const NAMED_MAX = 5

// The cause is more useful than the message that nothing could be read.
export function describeFailure({ problem, trouble, wasStopped }: ObservedRun): string {
  return trouble === undefined || wasStopped
    ? (problem ?? 'the counts are not known')
    : `${trouble.cause}: ${trouble.detail}`
}

export function formatCounts({ counts }: ObservedRun): string {
  return counts === null ? '' : ` (${counts.passed} passed, ${counts.failed} failed)`
}

// The content of a file that ended before its first test is unknown: it may not even have loaded.
export function formatNotLoaded(loadFailures: ObservedRun['loadFailures']): string {
  const files = loadFailures.flatMap(({ file }) => (file === null ? [] : [file]))
  const whose = loadFailures.length === 1 ? 'its' : 'their'
  const why = loadFailures[0]?.message ?? ''
  return `${formatCount(loadFailures.length, 'test file')} did not run ${whose} tests${formatNames(files)}${why === '' ? '' : ` (${why})`}${guardText([why])}`
}

/** Error messages of engines do not name the guard that protects an object. */
export function guardText(messages: readonly (string | null)[]): string {
  return messages.some((message) => KEPT.test(message ?? '')) ? `. ${KEPT_TEXT}` : ''
}

const KEPT = /object is not extensible|Cannot redefine property/
const KEPT_TEXT =
  'Phaselock keeps Object.prototype, assertions and the test runner as they are in an observed run: if the property belongs to one of them, set it on an object of the project instead'

export function formatNames(names: readonly string[]): string {
  return names.length === 0 ? '' : `: ${names.slice(0, NAMED_MAX).join(', ')}${names.length > NAMED_MAX ? ' …' : ''}`
}
