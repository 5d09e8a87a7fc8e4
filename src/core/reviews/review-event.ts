import type { Refused, ReviewStatus } from '../task/fact-parts.js'

/** Events about reviewers of a task and their reports. */
export type ReviewFact =
  | { readonly type: 'reviewer_added'; readonly reviewer: string; readonly grant: string; readonly expiresAt: number }
  | { readonly type: 'reviewer_revoked'; readonly reviewer: string; readonly reason: string }
  | {
      readonly type: 'review_submitted'
      readonly reviewer: string
      readonly status: ReviewStatus
      /** Where the content of the report is stored. */
      readonly sha256: string
      readonly bytes: number
      readonly comments: number
      readonly blockingIssues: number
      readonly subject: string
    }
  | (Refused & { readonly type: 'review_refused'; readonly reviewer: string })
