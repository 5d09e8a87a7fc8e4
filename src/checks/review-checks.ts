import type { Json, JsonObject } from '../core/json.js'
import type { Grade } from '../core/task/fact-parts.js'
import {
  abortCheck,
  asList,
  asObject,
  type Check,
  type CheckInputs,
  failCheck,
  getField,
  isText,
  passCheck,
} from './check-inputs.js'

function reportOf(inputs: CheckInputs): JsonObject | null {
  return (
    asObject(inputs.ofVisit.get('review_report')) ??
    asObject(inputs.ofVisit.get('review_results')) ??
    asObject(inputs.all.get('review_report')) ??
    asObject(inputs.all.get('review_results'))
  )
}

// Reports of reviewers come from them; a report sent by the agent is only its own word.
function computeGrade({ reviews }: CheckInputs): Grade {
  return reviews === undefined || reviews === null ? 'reported' : 'observed'
}

export const checkNoBlockingIssues: Check = (inputs) => {
  const report = reportOf(inputs)
  const grade = computeGrade(inputs)
  if (report === null) return failCheck('there is no review_report', grade)
  const issues = getField(report, 'blocking_issues')
  if (!Array.isArray(issues)) return failCheck('review_report.blocking_issues is not a list', grade)
  return issues.length === 0
    ? passCheck('no blocking issue', grade)
    : failCheck(`${issues.length} blocking issue${issues.length === 1 ? '' : 's'}: ${formatIssues(issues)}`, grade)
}

const ISSUES_SHOWN_MAX = 5
const ISSUE_CHARS_MAX = 120
const ISSUE_FIELDS = ['text', 'message', 'title', 'issue', 'description', 'summary']

function formatIssues(issues: readonly Json[]): string {
  const more = issues.length - ISSUES_SHOWN_MAX
  const shown = issues.slice(0, ISSUES_SHOWN_MAX).map(formatIssue)
  return `${shown.join('; ')}${more > 0 ? `; and ${more} more` : ''}`
}

function formatIssue(issue: Json): string {
  const object = asObject(issue)
  const said = object === null ? issue : ISSUE_FIELDS.map((name) => getField(object, name)).find(isText)
  const path = getField(object, 'path') ?? getField(object, 'file')
  const line = getField(object, 'line')
  const where = isText(path) ? ` (${toQuotable(path)}${Number.isSafeInteger(line) ? `:${line}` : ''})` : ''
  return `${toQuotable(isText(said) ? said : JSON.stringify(issue))}${where}`
}

// Quoted text was written by a reviewer or an agent, and is shown in terminals and prompts: one line, no control
// characters.
function toQuotable(text: string): string {
  const line = text
    .slice(0, ISSUE_CHARS_MAX * 4)
    .replace(/[\p{C}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim()
  const chars = [...line]
  return chars.length > ISSUE_CHARS_MAX ? `${chars.slice(0, ISSUE_CHARS_MAX).join('')}…` : line
}

const FINISHED = new Set(['completed', 'approved'])
const UNFINISHED: ReadonlyMap<string, string> = new Map([
  ['in_progress', 'is in progress'],
  ['changes_requested', 'asks for changes'],
  ['outdated', 'is about an earlier state of the work: review it again'],
  ['by_implementer', 'is by an agent that works on the task'],
])

/**
 * Every review that the gate names was sent by its reviewer, is finished, and is about the current work. (REQ-REVIEW-6)
 */
export const checkReviewsCompleted: Check = ({ params, reviews }) => {
  const names = asList(params.required_reviews).map(String)
  if (names.length === 0 || reviews === undefined || reviews === null)
    return abortCheck('the gate does not say which reviews it asks for')
  const open = names.flatMap((name) => {
    const status = reviews.find((one) => one.name === name)?.status
    if (status === undefined) return [`no report of ${name}`]
    return FINISHED.has(status) ? [] : [`the review ${name} ${UNFINISHED.get(status) ?? `is ${status}`}`]
  })
  return open.length === 0 ? passCheck(`${names.length} finished`, 'observed') : failCheck(open.join('; '), 'observed')
}

const CLOSED = new Set(['resolved', 'addressed', 'closed', 'done', 'fixed', 'wontfix'])

export const checkCommentsAddressed: Check = (inputs) => {
  const report = reportOf(inputs)
  const grade = computeGrade(inputs)
  if (report === null) return failCheck('there is no review_report', grade)
  const reviews = asObject(getField(report, 'reviews'))
  if (reviews === null) return failCheck('review_report.reviews is not an object of reviews', grade)
  let open = 0
  for (const [name, review] of Object.entries(reviews)) {
    const comments = getField(asObject(review), 'comments')
    if (asObject(review) === null || (comments !== undefined && !Array.isArray(comments)))
      return failCheck(`the review ${JSON.stringify(name)} does not give its comments as a list`, grade)
    open += asList(comments).filter(isOpen).length
  }
  return open === 0
    ? passCheck('no open comment', grade)
    : failCheck(`${open} comment${open === 1 ? ' is' : 's are'} open`, grade)
}

function isOpen(comment: Json): boolean {
  const object = asObject(comment)
  if (object === null) return isText(comment)
  const status = getField(object, 'status')
  return getField(object, 'resolved') !== true && !(typeof status === 'string' && CLOSED.has(status.toLowerCase()))
}
