import type { Json, JsonObject } from '../core/json.js'
import type { Grade } from '../core/task/fact-parts.js'
import { asList, asObject, type Check, type CheckInputs, errs, fails, field, holds, isText } from './check-inputs.js'

function reportOf(inputs: CheckInputs): JsonObject | null {
  return (
    asObject(inputs.ofVisit.get('review_report')) ??
    asObject(inputs.ofVisit.get('review_results')) ??
    asObject(inputs.all.get('review_report')) ??
    asObject(inputs.all.get('review_results'))
  )
}

// What reviewers said reached us from them; what the agent sends is its own word.
function gradeOf({ reviews }: CheckInputs): Grade {
  return reviews === undefined || reviews === null ? 'reported' : 'observed'
}

export const noBlockingIssues: Check = (inputs) => {
  const report = reportOf(inputs)
  const grade = gradeOf(inputs)
  if (report === null) return fails('there is no review_report', grade)
  const issues = field(report, 'blocking_issues')
  if (!Array.isArray(issues)) return fails('review_report.blocking_issues is not a list', grade)
  return issues.length === 0
    ? holds('no blocking issue', grade)
    : fails(`${issues.length} blocking issue${issues.length === 1 ? '' : 's'}: ${issuesText(issues)}`, grade)
}

const ISSUES_SHOWN_MAX = 5
const ISSUE_CHARS_MAX = 120
const ISSUE_FIELDS = ['text', 'message', 'title', 'issue', 'description', 'summary']

function issuesText(issues: readonly Json[]): string {
  const more = issues.length - ISSUES_SHOWN_MAX
  const shown = issues.slice(0, ISSUES_SHOWN_MAX).map(issueText)
  return `${shown.join('; ')}${more > 0 ? `; and ${more} more` : ''}`
}

function issueText(issue: Json): string {
  const object = asObject(issue)
  const said = object === null ? issue : ISSUE_FIELDS.map((name) => field(object, name)).find(isText)
  const path = field(object, 'path') ?? field(object, 'file')
  const line = field(object, 'line')
  const where = isText(path) ? ` (${quotable(path)}${Number.isSafeInteger(line) ? `:${line}` : ''})` : ''
  return `${quotable(isText(said) ? said : JSON.stringify(issue))}${where}`
}

// What is quoted was written by a reviewer or an agent, and ends up in terminals and prompts: one line, no control characters.
function quotable(text: string): string {
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
  ['outdated', 'is of another state of the work: it must be done again'],
  ['by_implementer', 'is by an agent that works on the task'],
])

/** Every review that the gate names has come from its reviewer, finished, and about the work as it is now. (REQ-REVIEW-6) */
export const allReviewModelsCompleted: Check = ({ params, reviews }) => {
  const names = asList(params.required_reviews).map(String)
  if (names.length === 0 || reviews === undefined || reviews === null)
    return errs('the gate does not say which reviews it asks for')
  const open = names.flatMap((name) => {
    const status = reviews.find((one) => one.name === name)?.status
    if (status === undefined) return [`no report of ${name}`]
    return FINISHED.has(status) ? [] : [`the review ${name} ${UNFINISHED.get(status) ?? `is ${status}`}`]
  })
  return open.length === 0 ? holds(`${names.length} finished`, 'observed') : fails(open.join('; '), 'observed')
}

const CLOSED = new Set(['resolved', 'addressed', 'closed', 'done', 'fixed', 'wontfix'])

export const reviewCommentsAddressed: Check = (inputs) => {
  const report = reportOf(inputs)
  const grade = gradeOf(inputs)
  if (report === null) return fails('there is no review_report', grade)
  const reviews = asObject(field(report, 'reviews'))
  if (reviews === null) return fails('review_report.reviews is not an object of reviews', grade)
  let open = 0
  for (const [name, review] of Object.entries(reviews)) {
    const comments = field(asObject(review), 'comments')
    if (asObject(review) === null || (comments !== undefined && !Array.isArray(comments)))
      return fails(`the review ${JSON.stringify(name)} does not give its comments as a list`, grade)
    open += asList(comments).filter(isOpen).length
  }
  return open === 0
    ? holds('no open comment', grade)
    : fails(`${open} comment${open === 1 ? ' is' : 's are'} open`, grade)
}

function isOpen(comment: Json): boolean {
  const object = asObject(comment)
  if (object === null) return isText(comment)
  const status = field(object, 'status')
  return field(object, 'resolved') !== true && !(typeof status === 'string' && CLOSED.has(status.toLowerCase()))
}
