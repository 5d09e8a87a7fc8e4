import type { Job } from '../../confinement/confinement.js'
import { isGlob } from '../../contract/patterns.js'
import type { ObservedCommand } from '../../core/contract/contract.js'
import { isReportPath } from '../test-files/test-files.js'

/** Which files of the view hold the report of a command. */
export function collectReport({ report }: ObservedCommand): Pick<Job, 'collect' | 'collectWhere'> {
  if (report === null) return {}
  return isGlob(report) ? { collectWhere: (path) => isReportPath(report, path) } : { collect: [report] }
}
