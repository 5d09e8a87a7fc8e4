import type { Diff, FileDiff } from 'phaselock/sdk'
import { plainLine, plainText } from '../../core/plain-text.js'
import { formatCount } from '../../core/text.js'
import { paintText } from './terminal.js'

/** What the server puts in place of texts that look like secrets. */
const REDACTED = '[redacted]'

const SIGNS = { added: 'A', modified: 'M', deleted: 'D' } as const

const OMITTED: Readonly<Record<string, string>> = {
  binary: 'not text',
  too_large: 'too large to show here',
  too_many_files: 'not shown: too many files changed',
  secret: 'only text that looks like a secret differs',
  not_kept: 'its earlier content was not recorded',
}

/** The changes of a work tree: what changed, file by file, with the lines. */
export function formatDiff(diff: Diff): string {
  if (!diff.available) return `No diff: ${plainLine(diff.unavailable_reason)}`
  return [formatDiffStat(diff), ...diff.files.filter(({ hunks }) => hunks.length > 0).map(formatFile)].join('\n\n')
}

/** The changed files and how many lines of each changed. */
export function formatDiffStat(diff: Diff): string {
  if (!diff.available) return `No diff: ${plainLine(diff.unavailable_reason)}`
  const { files, additions, deletions } = diff.totals
  if (files === 0) return 'Nothing changed.'
  const width = Math.max(...diff.files.map(({ path }) => plainLine(path).length))
  const left = files - diff.files.length
  return [
    ...diff.files.map((file) => formatStatLine(file, width)),
    ...(left > 0 ? [`  and ${left} more`] : []),
    `${formatCount(files, 'file')} changed, +${additions} -${deletions}${diff.truncated ? '; not everything is shown' : ''}`,
  ].join('\n')
}

function formatStatLine(file: FileDiff, width: number): string {
  const marks = [
    ...(file.omitted === null ? [] : [OMITTED[file.omitted] ?? file.omitted]),
    ...(file.unexplained ? ['no call explains it'] : []),
  ]
  const counts = file.omitted === null ? `+${file.additions} -${file.deletions}` : ''
  const sign = SIGNS[file.status as keyof typeof SIGNS] ?? '?'
  // A test that Phaselock recorded is what one hopes for: no alarm.
  const pinned = file.pinned ? '  pinned: a test that may not change any more' : ''
  const other = file.other_task == null ? '' : `  changed by task ${plainLine(file.other_task)}`
  const note = marks.length === 0 ? '' : `  ! ${marks.join('; ')}`
  return `  ${sign} ${plainLine(file.path).padEnd(width)}  ${counts}${pinned}${other}${note}`.trimEnd()
}

function formatFile({ path, status, hunks }: FileDiff): string {
  const name = plainLine(path)
  const head = [
    paintText('bold', `--- ${status === 'added' ? '/dev/null' : `a/${name}`}`),
    paintText('bold', `+++ ${status === 'deleted' ? '/dev/null' : `b/${name}`}`),
  ]
  const parts = hunks.flatMap(({ old_start, old_lines, new_start, new_lines, lines }) => [
    paintText('cyan', `@@ -${old_start},${old_lines} +${new_start},${new_lines} @@`),
    ...lines.map(formatLine),
  ])
  return [...head, ...parts].join('\n')
}

// An agent wrote the line: control sequences would change what the approver sees.
function formatLine(line: string): string {
  const text = plainText(line).replaceAll('\n', ' ')
  const hidden = line.length - text.length
  const marks = [
    ...(hidden === 0 ? [] : [`${formatCount(hidden, 'control or invisible character')} left out`]),
    ...(text.includes(REDACTED) ? ['what looks like a secret is hidden; the file has it'] : []),
  ]
  const shown = marks.length === 0 ? text : `${text}  ! ${marks.join('; ')}`
  if (line.startsWith('+')) return paintText('green', shown)
  return line.startsWith('-') ? paintText('red', shown) : shown
}
