import type { JsonObject } from '../../core/json.js'
import type { CheckSeen } from '../../core/task/fact-parts.js'

/** A check of a request with its outcome, as people see it. */
export function toCheckView({ gate, artifact, check, severity, result, grade, found }: CheckSeen): JsonObject {
  return { gate, artifact, check, severity, status: toCheckStatus(result, severity), grade, message: found }
}

function toCheckStatus(result: CheckSeen['result'], severity: CheckSeen['severity']): string {
  if (result === 'holds') return 'passed'
  if (result === 'not_run') return 'not_run'
  return severity === 'blocking' ? 'failed' : 'warning'
}
