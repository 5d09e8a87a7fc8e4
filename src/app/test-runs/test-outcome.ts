import { sha256Hex } from '../../base/sha256.js'
import { type ObservedRun, toTroubleView } from '../../core/evidence/observed-run.js'
import { failTool, type ToolOutcome } from '../../tools/tool-place.js'
import { signalView } from './observe-gates.js'

const FAILURES_TOLD_MAX = 50

/** The answer of `run_tests`. */
export function testOutcome(run: ObservedRun): ToolOutcome {
  const trouble = run.trouble === undefined ? {} : toTroubleView(run.trouble)
  if (run.wasStopped) return failTool(`run_tests: ${run.problem ?? 'it was stopped'}`, 'tool_failed', trouble)
  const failures = [
    ...run.loadFailures.map(({ file, kind, message }) => ({ id: file ?? kind, message })),
    ...run.tests.filter((test) => test.status === 'failed').map(({ id, message }) => ({ id, message })),
  ]
  return {
    ok: true,
    result: {
      exit_code: run.exitCode,
      passed: run.counts?.passed ?? null,
      failed: run.counts?.failed ?? null,
      skipped: run.counts?.skipped ?? null,
      failures: failures.slice(0, FAILURES_TOLD_MAX),
      failures_total: failures.length,
      duration_ms: run.durationMs,
      ...(run.problem === null ? {} : { problem: run.problem }),
      ...trouble,
      ...signalView(run),
    },
    changes: [],
  }
}

/** Equal for equal sets of failing tests, in any order. */
export function hashFailures(run: ObservedRun): string {
  const failing = run.tests.filter((test) => test.status === 'failed').map((test) => test.id)
  const unloaded = run.loadFailures.map(({ file, message }) => `${file ?? ''}: ${message}`)
  return sha256Hex(JSON.stringify([...failing, ...unloaded].sort()))
}
