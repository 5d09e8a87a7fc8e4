import type { Remark, Review, ReviewList } from 'phaselock/sdk'
import { plainLine } from '../../core/plain-text.js'
import { formatTable } from './table.js'

const WORDS_SHOWN_MAX = 20

/** The reviews of a task: reviewers, progress and remarks. */
export function formatReviewLines({ reviews, required_reviews }: ReviewList): readonly string[] {
  const names = new Set(reviews.map((review) => review.reviewer))
  const missing = (required_reviews ?? [])
    .filter((name) => !names.has(name))
    .map((reviewer) => ({ reviewer, token_status: 'not let in' }))
  const rows: readonly Partial<Review>[] = [...reviews, ...missing]
  if (rows.length === 0) return []
  return [
    '',
    'Reviews',
    formatTable(rows, [
      { title: 'REVIEW', text: (partial) => partial.reviewer },
      { title: 'STATUS', text: (partial) => partial.counts_as || partial.status || '-' },
      { title: 'TOKEN', text: (partial) => partial.token_status },
      { title: 'BLOCKING', text: (partial) => partial.blocking_issues?.length ?? 0 },
      { title: 'COMMENTS', text: (partial) => partial.comments?.length ?? 0 },
    ]),
    ...formatRemarks(reviews),
  ]
}

function formatRemarks(reviews: readonly Review[]): readonly string[] {
  const all = reviews.flatMap(({ reviewer, blocking_issues = [], comments = [] }) => [
    ...blocking_issues.map((issue) => formatRemark(reviewer, issue, 'blocking')),
    ...comments.map((comment) => formatRemark(reviewer, comment, comment.resolved === true ? 'resolved' : 'open')),
  ])
  const shown = all.slice(0, WORDS_SHOWN_MAX)
  const more = all.length - shown.length
  return more === 0 ? shown : [...shown, `  … and ${more} more; --json shows all`]
}

function formatRemark(reviewer: string, { path, line, text }: Remark, kind: string): string {
  const place = path === undefined ? '' : ` ${path}${line === undefined ? '' : `:${line}`}`
  return `  ${plainLine(`${reviewer} (${kind})${place}: ${text}`)}`
}
