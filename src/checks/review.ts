import type { Json, JsonObject } from '../core/contract.js'
import { asList, asObject, type Check, type CheckInputs, fails, field, holds, isText } from './inputs.js'

function reportOf(inputs: CheckInputs): JsonObject | null {
  return (
    asObject(inputs.ofVisit.get('review_report')) ??
    asObject(inputs.ofVisit.get('review_results')) ??
    asObject(inputs.all.get('review_report')) ??
    asObject(inputs.all.get('review_results'))
  )
}

export const noBlockingIssues: Check = (inputs) => {
  const report = reportOf(inputs)
  if (report === null) return fails('there is no review_report')
  const issues = field(report, 'blocking_issues')
  if (!Array.isArray(issues)) return fails('review_report.blocking_issues is not a list')
  return issues.length === 0
    ? holds('no blocking issue')
    : fails(`${issues.length} blocking issue${issues.length === 1 ? '' : 's'}`)
}

const CLOSED = new Set(['resolved', 'addressed', 'closed', 'done', 'fixed', 'wontfix'])

export const reviewCommentsAddressed: Check = (inputs) => {
  const report = reportOf(inputs)
  if (report === null) return fails('there is no review_report')
  const reviews = asObject(field(report, 'reviews'))
  if (reviews === null) return fails('review_report.reviews is not an object of reviews')
  let open = 0
  for (const [name, review] of Object.entries(reviews)) {
    const comments = field(asObject(review), 'comments')
    if (asObject(review) === null || (comments !== undefined && !Array.isArray(comments)))
      return fails(`the review ${JSON.stringify(name)} does not give its comments as a list`)
    open += asList(comments).filter(isOpen).length
  }
  return open === 0 ? holds('no open comment') : fails(`${open} comment${open === 1 ? ' is' : 's are'} open`)
}

function isOpen(comment: Json): boolean {
  const object = asObject(comment)
  if (object === null) return isText(comment)
  const status = field(object, 'status')
  return field(object, 'resolved') !== true && !(typeof status === 'string' && CLOSED.has(status.toLowerCase()))
}
