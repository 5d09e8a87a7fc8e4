import type { ReviewStatus } from '../../core/task/command.js'
import type { App } from '../app.js'

/** One remark of a reviewer. */
export type Remark = { readonly text: string; readonly path?: string; readonly line?: number }

/** A report as it is stored. */
export interface Report {
  readonly status: ReviewStatus
  readonly summary?: string
  readonly comments: readonly (Remark & { readonly resolved: boolean })[]
  readonly blocking_issues: readonly Remark[]
}

/** The words of a report. What was recorded is in the store; that it is not there is a fault. */
export async function reportOf(app: App, sha256: string): Promise<Report> {
  const content = await app.ledger.store.readBlob(sha256)
  if (content === null) throw new Error('a report of a reviewer is not in the store')
  return JSON.parse(content) as Report
}
