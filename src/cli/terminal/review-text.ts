import type { Remark, Review, ReviewList } from 'phaselock/sdk'
import { plainLine } from '../../core/plain-text.js'
import { table } from './table.js'

const WORDS_SHOWN_MAX = 20

/** The reviews of a task: who, how far, and what they remarked. */
export function reviewLines({ reviews, required_reviews }: ReviewList): readonly string[] {
  const names = new Set(reviews.map((one) => one.reviewer))
  const missing = (required_reviews ?? [])
    .filter((name) => !names.has(name))
    .map((reviewer) => ({ reviewer, token_status: 'not let in' }))
  const rows: readonly Partial<Review>[] = [...reviews, ...missing]
  if (rows.length === 0) return []
  return [
    '',
    'Reviews',
    table(rows, [
      { title: 'REVIEW', text: (one) => one.reviewer },
      { title: 'STATUS', text: (one) => one.counts_as || one.status || '-' },
      { title: 'TOKEN', text: (one) => one.token_status },
      { title: 'BLOCKING', text: (one) => one.blocking_issues?.length ?? 0 },
      { title: 'COMMENTS', text: (one) => one.comments?.length ?? 0 },
    ]),
    ...remarks(reviews),
  ]
}

function remarks(reviews: readonly Review[]): readonly string[] {
  const all = reviews.flatMap(({ reviewer, blocking_issues = [], comments = [] }) => [
    ...blocking_issues.map((one) => remark(reviewer, one, 'blocking')),
    ...comments.map((one) => remark(reviewer, one, one.resolved === true ? 'resolved' : 'open')),
  ])
  const shown = all.slice(0, WORDS_SHOWN_MAX)
  const more = all.length - shown.length
  return more === 0 ? shown : [...shown, `  … and ${more} more; --json shows all`]
}

function remark(reviewer: string, { path, line, text }: Remark, kind: string): string {
  const place = path === undefined ? '' : ` ${path}${line === undefined ? '' : `:${line}`}`
  return `  ${plainLine(`${reviewer} (${kind})${place}: ${text}`)}`
}
