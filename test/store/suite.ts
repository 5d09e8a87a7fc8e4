import { appendSuite } from './suite-appends.js'
import { auditSuite } from './suite-audit.js'
import { taskSuite } from './suite-tasks.js'
import type { OpenStore } from './suite-tools.js'

/** What every store must do. */
export function storeSuite(name: string, open: OpenStore): void {
  appendSuite(name, open)
  taskSuite(name, open)
  auditSuite(name, open)
}
