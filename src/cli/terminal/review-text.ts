import type { JsonObject } from '../../core/json.js'
import { listOf, toText } from '../client/answer-values.js'
import { toPlainLine } from './plain-text.js'
import { formatTable } from './table.js'

const WORDS_SHOWN_MAX = 20

/** The reviews of a task: who, how far, and what they remarked. */
export function formatReviewLines(answer: JsonObject): readonly string[] {
  const reviews = listOf(answer.reviews)
  const names = new Set(reviews.map((review) => toText(review.reviewer)))
  const required = Array.isArray(answer.required_reviews) ? answer.required_reviews.map((review) => toText(review)) : []
  const missing = required
    .filter((name) => !names.has(name))
    .map((reviewer) => ({ reviewer, token_status: 'not let in' }))
  const rows: readonly JsonObject[] = [...reviews, ...missing]
  if (rows.length === 0) return []
  return [
    '',
    'Reviews',
    formatTable(rows, [
      { title: 'REVIEW', text: (one) => toText(one.reviewer) },
      { title: 'STATUS', text: (one) => toText(one.counts_as) || toText(one.status) || '-' },
      { title: 'TOKEN', text: (one) => toText(one.token_status) },
      { title: 'BLOCKING', text: (one) => String(listOf(one.blocking_issues).length) },
      { title: 'COMMENTS', text: (one) => String(listOf(one.comments).length) },
    ]),
    ...formatRemarks(reviews),
  ]
}

function formatRemarks(reviews: readonly JsonObject[]): readonly string[] {
  const all = reviews.flatMap((review) => [
    ...listOf(review.blocking_issues).map((one) => formatRemark(review, one, 'blocking')),
    ...listOf(review.comments).map((one) => formatRemark(review, one, one.resolved === true ? 'resolved' : 'open')),
  ])
  const shown = all.slice(0, WORDS_SHOWN_MAX)
  const more = all.length - shown.length
  return more === 0 ? shown : [...shown, `  … and ${more} more; --json shows all`]
}

function formatRemark(review: JsonObject, one: JsonObject, kind: string): string {
  const place =
    one.path === undefined ? '' : ` ${toText(one.path)}${one.line === undefined ? '' : `:${toText(one.line)}`}`
  return `  ${toPlainLine(`${toText(review.reviewer)} (${kind})${place}: ${toText(one.text)}`)}`
}
