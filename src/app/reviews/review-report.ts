import type { ReviewStatus } from '../../core/task/fact-parts.js'
import type { App } from '../app.js'

/** One remark of a reviewer. */
export type Remark = { readonly text: string; readonly path?: string; readonly line?: number }

/** A report as it is stored. */
export type Report = {
  readonly status: ReviewStatus
  readonly summary?: string
  readonly comments: readonly (Remark & { readonly resolved: boolean })[]
  readonly blocking_issues: readonly Remark[]
}

/** The content of a report. A recorded report that is missing from the store is a fault. */
export async function reportOf(app: App, sha256: string): Promise<Report> {
  const content = await app.ledger.store.readBlob(sha256)
  if (content === null) throw new Error('a report of a reviewer is not in the store')
  return JSON.parse(content) as Report
}
