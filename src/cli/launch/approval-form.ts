import type { Approval, GateCheck, Json, PassedGate, Question, SinceLast } from 'phaselock/sdk'
import { isObject, type JsonObject } from '../../core/json.js'
import { plainLine, plainText } from '../../core/plain-text.js'
import { formatCount } from '../../core/text.js'
import { CHANGES_ARTIFACT, formatContent } from '../terminal/approval-text.js'
import { formatChecks } from '../terminal/checks-text.js'
import { wrapText } from '../workflow/run-text.js'

const LINE_CHARS_MAX = 300
const FILES_MAX = 15
const NAMED_MAX = 4
const DIGEST_CHARS = 16
const COMMENT_CHARS_MAX = 4000
/** Some versions of Claude Code show so many lines of a form, each cut at the edge, and fold the rest. */
const SHOWN_LINES = 3
/** Others show all of it: what does not fit scrolls the question away. The fields and the chat need so many rows. */
const FIELD_ROWS = 19
const ROWS_MIN = 3
const ROWS_UNKNOWN = 24
const ROOM_MIN = 40
const ROOM_MAX = 120
const ROOM_UNKNOWN = 80
const MARGIN = 6
const RESULTS = /\b\d+ passed\b/
const PROOFS = /\b\d+ new tests? (?:\(\d+ cases\) )?proved\b/

/**
 * What the person fills in. Codex shows the fields in alphabetical order and does not submit an empty text, so that the
 * decision must come last there.
 */
export const DECISION_SCHEMA = {
  type: 'object',
  properties: {
    decision: {
      type: 'string',
      title: 'Decision',
      description: '→ opens, Space picks; ↓ ↓ to Accept, Enter sends; Esc sends nothing',
      enum: ['approve', 'reject'],
    },
    comment: {
      type: 'string',
      title: 'Comment',
      description: 'with reject: what must change',
      maxLength: COMMENT_CHARS_MAX,
    },
  },
  required: ['decision'],
} as const

/**
 * What is asked, what it is about, what changed, and exactly which content is meant, in as many lines as the terminal has
 * room for. What agents wrote is marked.
 */
export function formatApprovalForm(approval: Approval, url: string, gates: readonly PassedGate[] = []): string {
  const contents = approval.contents ?? {}
  const { checks = [] } = approval
  const before = gates.filter(({ status }) => status === 'passed').flatMap((gate) => gate.checks)
  const tests = [listMatching(before, RESULTS), listMatching(before, PROOFS)].flatMap((found) => found.slice(-1))
  return [
    // Of these Claude Code shows the first three, each cut at the edge: what it is about, and where the rest is.
    [
      `May the agent go from ${plainLine(approval.phase)} to ${plainLine(approval.target_phase)}?`,
      ...formatTitles(contents),
    ].join(' '),
    [
      ...formatCriteria(contents),
      ...nameFiles(approval.diff),
      ...tests,
      ...countChecks(checks),
      ...countWarnings(approval),
    ].join(' · '),
    'Read all of it in another terminal, in this folder: phaselock approve',
    ...fitRows(listDetails(approval)),
    [`${url}/approvals/${plainLine(approval.id)}`, `digest ${plainLine(approval.digest).slice(0, DIGEST_CHARS)}…`].join(
      ' · ',
    ),
  ].join('\n')
}

/** The most important first: not all of it may fit. */
function listDetails(approval: Approval): readonly string[] {
  const { artifacts, contents = {}, checks = [], warnings } = approval
  const open = checks.filter(({ status }) => status !== 'passed')
  const others = artifacts.filter(({ type }) => type !== CHANGES_ARTIFACT)
  return [
    ...formatSinceLast(approval.since_last ?? null),
    ...warnings.map((warning) => `Warning: ${plainLine(String(warning.message))}`),
    ...formatChecks(open, ''),
    ...listMoreFiles(approval.diff),
    ...listChanges(approval.diff),
    ...others.flatMap(({ type }) => [
      `${plainLine(type)}:`,
      ...formatContent(contents[type] ?? null).map((line) => `│ ${cutLine(line)}`),
    ]),
  ]
}

/** The diff, as much of it as there is room for. */
function listChanges(diff: Json | undefined): readonly string[] {
  const files = isObject(diff) && Array.isArray(diff.files) ? diff.files.filter(isObject) : []
  return files.flatMap(({ path, hunks }) => {
    const parts = Array.isArray(hunks) ? hunks.filter(isObject) : []
    const lines = parts.flatMap((hunk) => (Array.isArray(hunk.lines) ? hunk.lines.map(String) : []))
    return lines.length === 0 ? [] : [`${plainLine(String(path))}:`, ...lines.map((line) => `│ ${cutLine(line)}`)]
  })
}

function fitRows(lines: readonly string[]): readonly string[] {
  const room = Math.max(ROOM_MIN, (process.stdout.columns ?? ROOM_UNKNOWN) - MARGIN)
  let rows = Math.max(ROWS_MIN, (process.stdout.rows ?? ROWS_UNKNOWN) - FIELD_ROWS)
  const fitting = lines.findIndex((line) => {
    rows -= Math.ceil(Math.max(1, line.length) / room)
    return rows < 0
  })
  if (fitting < 0) return lines
  return [...lines.slice(0, fitting), `… ${formatCount(lines.length - fitting, 'more line')}: phaselock approve`]
}

/** What became of the previous request, and what is different now. */
function formatSinceLast(last: SinceLast | null): readonly string[] {
  if (last === null) return []
  const said = last.comment === '' ? '' : `: ${cutLine(plainLine(last.comment))}`
  const changed = [...last.changed_artifacts, ...(last.changed_paths ?? [])].slice(0, FILES_MAX).map(plainLine)
  return [`Before: ${plainLine(last.decision)}${said}. Changed since: ${changed.join(', ') || 'nothing'}`]
}

/** How the checks ended, with what the runs of tests showed. */
function countChecks(checks: readonly GateCheck[]): readonly string[] {
  if (checks.length === 0) return []
  const passed = checks.filter(({ status }) => status === 'passed').length
  const count = formatCount(checks.length, 'check')
  return [`${passed === checks.length ? '' : `${passed} of `}${count} passed`, ...listMatching(checks, RESULTS)]
}

/** What runs of tests showed at these checks. */
function listMatching(checks: readonly GateCheck[], pattern: RegExp): readonly string[] {
  const runs = checks.filter(({ message }) => pattern.test(message)).map(({ message }) => cutLine(plainLine(message)))
  return [...new Set(runs)]
}

function countWarnings({ warnings }: Approval): readonly string[] {
  return warnings.length === 0 ? [] : [`Warnings: ${warnings.length}`]
}

/** The criteria of a plan in one line, which a terminal cuts. */
function formatCriteria(contents: NonNullable<Approval['contents']>): readonly string[] {
  return Object.values(contents).flatMap((content) => {
    const criteria = isObject(content) && Array.isArray(content.acceptance_criteria) ? content.acceptance_criteria : []
    return criteria.filter(isObject).map(({ id, criterion }) => plainLine(`${id ?? '-'}: ${criterion ?? ''}`))
  })
}

function formatTitles(contents: NonNullable<Approval['contents']>): readonly string[] {
  return Object.values(contents).flatMap((content) => {
    if (!isObject(content) || typeof content.title !== 'string') return []
    const criteria = Array.isArray(content.acceptance_criteria) ? content.acceptance_criteria.length : 0
    const count = criteria === 0 ? '' : ` (${criteria} ${criteria === 1 ? 'criterion' : 'criteria'})`
    return [`${cutLine(plainLine(content.title))}${count}`]
  })
}

/** The changed files in one line, with how much changed in each. */
function nameFiles(diff: Json | undefined): readonly string[] {
  const all = isObject(diff) && Array.isArray(diff.files) ? diff.files.filter(isObject) : []
  const files = all.filter((file) => !isOfOtherTask(file))
  const others =
    all.length === files.length ? [] : [`${formatCount(all.length - files.length, 'file')} of another task`]
  if (files.length === 0) return others
  const named = files.slice(0, NAMED_MAX).map(({ path, additions, deletions }) => {
    const counts = typeof additions === 'number' && typeof deletions === 'number' ? ` +${additions} -${deletions}` : ''
    return `${plainLine(String(path))}${counts}`
  })
  const more = files.length > NAMED_MAX ? [`and ${files.length - NAMED_MAX} more files`] : []
  return [[...named, ...more].join(', '), ...others]
}

function isOfOtherTask({ other_task }: JsonObject): boolean {
  return typeof other_task === 'string'
}

/** The changed files, unless the line before names them all and there is nothing to say about them. */
function listMoreFiles(diff: Json | undefined): readonly string[] {
  const files = isObject(diff) && Array.isArray(diff.files) ? diff.files.filter(isObject) : []
  const isNamed = files.every((file) => !isOfOtherTask(file) && file.unexplained !== true)
  if (isNamed && files.length <= NAMED_MAX) return []
  return [
    `Changed files: ${files.length}`,
    ...files.slice(0, FILES_MAX).map((file) => `  ${formatFile(file)}`),
    ...(files.length > FILES_MAX ? [`  … and ${files.length - FILES_MAX} more`] : []),
  ]
}

function formatFile(file: JsonObject): string {
  const { path, status, additions, deletions, unexplained, other_task } = file
  const counts = typeof additions === 'number' && typeof deletions === 'number' ? ` +${additions} -${deletions}` : ''
  const mark = unexplained === true ? ', no allowed call explains it' : ''
  const other = isOfOtherTask(file) ? `, changed by task ${plainLine(String(other_task))}` : ''
  return cutLine(`${plainLine(String(path))} (${plainLine(String(status))}${counts}${mark}${other})`)
}

function cutLine(line: string): string {
  const text = plainText(line)
  return text.length <= LINE_CHARS_MAX ? text : `${text.slice(0, LINE_CHARS_MAX)}… (cut)`
}

/** The question of an agent, in lines that no terminal cuts. What the agent wrote is marked. */
export function formatQuestionForm(question: Question, url: string): string {
  const room = Math.max(ROOM_MIN, Math.min(process.stdout.columns ?? ROOM_UNKNOWN, ROOM_MAX) - MARGIN)
  const lines = plainText(question.question)
    .split('\n')
    .flatMap((line) => wrapText(line, '│ ', room))
  const where = lines.length < SHOWN_LINES ? '' : ` (all of it: ${url}, or phaselock answer ${plainLine(question.id)})`
  return [`${plainLine(question.agent_id)} asks you${where}:`, ...lines].join('\n')
}

export type FormAnswer =
  | { readonly kind: 'decided'; readonly decision: 'approve' | 'reject'; readonly comment: string }
  | { readonly kind: 'dismissed' }

/** Reads the answer. Whatever is not clearly an approval approves nothing. */
export function readFormAnswer(answer: { readonly action: string; readonly content?: unknown }): FormAnswer {
  const content = isObject(answer.content) ? answer.content : {}
  const comment = typeof content.comment === 'string' ? content.comment.slice(0, COMMENT_CHARS_MAX) : ''
  // A form has a button to decline beside its fields. Pressed by mistake it must not reject for good.
  if (answer.action === 'decline' && comment !== '') return { kind: 'decided', decision: 'reject', comment }
  if (answer.action !== 'accept') return { kind: 'dismissed' }
  if (content.decision === 'approve') return { kind: 'decided', decision: 'approve', comment }
  if (content.decision === 'reject') return { kind: 'decided', decision: 'reject', comment }
  return { kind: 'dismissed' }
}
