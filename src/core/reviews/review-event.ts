import type { ReviewStatus } from '../task/command.js'
import type { RefusalFields } from '../task/event.js'

/** Who looks at a task besides its agent, and what they say. */
export type ReviewFact =
  | { readonly type: 'reviewer_added'; readonly reviewer: string; readonly grant: string; readonly expiresAt: number }
  | { readonly type: 'reviewer_revoked'; readonly reviewer: string; readonly reason: string }
  | {
      readonly type: 'review_submitted'
      readonly reviewer: string
      readonly status: ReviewStatus
      /** Where the words of the report are stored. */
      readonly sha256: string
      readonly bytes: number
      readonly comments: number
      readonly blockingIssues: number
      readonly subject: string
    }
  | (RefusalFields & { readonly type: 'review_refused'; readonly reviewer: string })
