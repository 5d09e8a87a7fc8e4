import { sha256Hex } from '../../base/sha256.js'
import { addFilter } from '../../checks/observed-runs/test-filter.js'
import { type ObservedRun, toTroubleView } from '../../core/evidence/observed-run.js'
import type { JsonObject } from '../../core/json.js'
import { formatCount } from '../../core/text.js'
import { failTool, type ToolOutcome } from '../../tools/tool-place.js'
import { signalView } from './observe-gates.js'

const FAILURES_TOLD_MAX = 50

/** The answer of `run_tests`, made with this command and filter. */
export function testOutcome(run: ObservedRun, asked: Asked): ToolOutcome {
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
      // Tests that could not be loaded or built are not counted as failed tests.
      ...(run.loadFailures.length === 0 ? {} : { not_loaded: run.loadFailures.length }),
      failures: failures.slice(0, FAILURES_TOLD_MAX),
      failures_total: failures.length,
      ...(asked.filter === undefined ? {} : { filter: describeFilter(run, { ...asked, filter: asked.filter }) }),
      duration_ms: run.durationMs,
      ...(run.problem === null ? {} : { problem: run.problem }),
      ...trouble,
      ...signalView(run),
    },
    changes: [],
  }
}

interface Asked {
  readonly run: string
  readonly filter: string | undefined
}

/** What the filter did, as far as the names of the tests that ran show it. */
function describeFilter(
  { tests, isComplete }: ObservedRun,
  { run, filter: text }: Asked & { filter: string },
): JsonObject {
  const { added } = addFilter(run, text)
  const ran = tests.filter(({ status }) => status !== 'skipped')
  const matching = ran.filter(({ id, file }) => id.includes(text) || (file ?? '').includes(text))
  const others = ran.length - matching.length
  return {
    ...{ text, added_to_command: added, tests_run: ran.length, tests_matching: matching.length },
    ...(isComplete && (others > 0 || matching.length === 0) ? { note: formatFilterNote(matching.length, others) } : {}),
  }
}

function formatFilterNote(matching: number, others: number): string {
  if (others === 0) return 'No test ran: none has a name or file that contains this text, or it could not be built.'
  const ran = `${formatCount(others, 'test')} that ran ${others === 1 ? 'has' : 'have'} another name and file`
  return matching === 0
    ? `The filter selected nothing: ${ran}, and no test that ran contains this text.`
    : `The filter selected more than this text: ${ran}.`
}

/** Equal for equal sets of failing tests, in any order. */
export function hashFailures(run: ObservedRun): string {
  const failing = run.tests.filter((test) => test.status === 'failed').map((test) => test.id)
  const unloaded = run.loadFailures.map(({ file, message }) => `${file ?? ''}: ${message}`)
  return sha256Hex(JSON.stringify([...failing, ...unloaded].sort()))
}
