import type { JsonObject } from '../../core/json.js'
import { listOf, textOf } from '../client/answer-values.js'
import { plainLine } from './plain-text.js'
import { table } from './table.js'

const WORDS_SHOWN_MAX = 20

/** The reviews of a task: who, how far, and what they remarked. */
export function reviewLines(answer: JsonObject): readonly string[] {
  const reviews = listOf(answer.reviews)
  const names = new Set(reviews.map((one) => textOf(one.reviewer)))
  const required = Array.isArray(answer.required_reviews) ? answer.required_reviews.map((one) => textOf(one)) : []
  const missing = required
    .filter((name) => !names.has(name))
    .map((reviewer) => ({ reviewer, token_status: 'not let in' }))
  const rows: readonly JsonObject[] = [...reviews, ...missing]
  if (rows.length === 0) return []
  return [
    '',
    'Reviews',
    table(rows, [
      { title: 'REVIEW', text: (one) => textOf(one.reviewer) },
      { title: 'STATUS', text: (one) => textOf(one.counts_as) || textOf(one.status) || '-' },
      { title: 'TOKEN', text: (one) => textOf(one.token_status) },
      { title: 'BLOCKING', text: (one) => String(listOf(one.blocking_issues).length) },
      { title: 'COMMENTS', text: (one) => String(listOf(one.comments).length) },
    ]),
    ...remarks(reviews),
  ]
}

function remarks(reviews: readonly JsonObject[]): readonly string[] {
  const all = reviews.flatMap((review) => [
    ...listOf(review.blocking_issues).map((one) => remark(review, one, 'blocking')),
    ...listOf(review.comments).map((one) => remark(review, one, one.resolved === true ? 'resolved' : 'open')),
  ])
  const shown = all.slice(0, WORDS_SHOWN_MAX)
  const more = all.length - shown.length
  return more === 0 ? shown : [...shown, `  … and ${more} more; --json shows all`]
}

function remark(review: JsonObject, one: JsonObject, kind: string): string {
  const place =
    one.path === undefined ? '' : ` ${textOf(one.path)}${one.line === undefined ? '' : `:${textOf(one.line)}`}`
  return `  ${plainLine(`${textOf(review.reviewer)} (${kind})${place}: ${textOf(one.text)}`)}`
}
