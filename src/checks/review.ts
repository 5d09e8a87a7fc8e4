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
  const reviews = Object.values(asObject(field(report, 'reviews')) ?? {}).map(asObject)
  const open = reviews.flatMap((review) => asList(field(review, 'comments')).filter(isOpen))
  return open.length === 0
    ? holds('no open comment')
    : fails(`${open.length} comment${open.length === 1 ? ' is' : 's are'} open`)
}

function isOpen(comment: Json): boolean {
  const object = asObject(comment)
  if (object === null) return isText(comment)
  const status = field(object, 'status')
  return field(object, 'resolved') !== true && !(typeof status === 'string' && CLOSED.has(status.toLowerCase()))
}
