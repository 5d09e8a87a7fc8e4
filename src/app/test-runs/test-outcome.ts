import { sha256Hex } from '../../base/sha256.js'
import { addFilter } from '../../checks/observed-runs/test-filter.js'
import { type ObservedRun, type ObservedTest, toTroubleView } from '../../core/evidence/observed-run.js'
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
  const { added, kind } = addFilter(run, text)
  const ran = tests.filter(({ status }) => status !== 'skipped')
  const isMatching = ({ id, file }: ObservedTest): boolean => id.includes(text) || (file ?? '').includes(text)
  // Some runners report the file of a test only when it fails.
  const isUnknown = (test: ObservedTest): boolean => kind !== 'name' && test.file === null && !isMatching(test)
  const matching = ran.filter(isMatching).length
  const unknown = ran.filter(isUnknown).length
  const note = isComplete
    ? formatFilterNote({ matching, unknown, others: ran.length - matching - unknown, kind })
    : null
  return {
    ...{ text, added_to_command: added, tests_run: ran.length },
    tests_matching: matching === 0 && unknown > 0 ? null : matching,
    ...(note === null ? {} : { note }),
  }
}

interface FilterCounts {
  readonly matching: number
  /** Tests whose name does not match, and whose file the report does not name. */
  readonly unknown: number
  readonly others: number
  readonly kind: string
}

function formatFilterNote({ matching, unknown, others, kind }: FilterCounts): string | null {
  if (matching + unknown + others === 0)
    return 'No test ran: none has a name or file that contains this text, or it could not be built.'
  const ran = `${formatCount(others, 'test')} that ran ${others === 1 ? 'has' : 'have'} another name and file`
  if (others > 0)
    return matching + unknown === 0
      ? `The filter selected nothing: ${ran}, and no test that ran contains this text.`
      : `The filter selected more than this text: ${ran}.`
  return unknown === 0 || kind === 'path'
    ? null
    : `Whether the filter selected ${formatCount(unknown, 'test')} that ran is not known: the report names no file for ${unknown === 1 ? 'it' : 'them'}, and the name does not contain this text.`
}

/** Equal for equal sets of failing tests, in any order. */
export function hashFailures(run: ObservedRun): string {
  const failing = run.tests.filter((test) => test.status === 'failed').map((test) => test.id)
  const unloaded = run.loadFailures.map(({ file, message }) => `${file ?? ''}: ${message}`)
  return sha256Hex(JSON.stringify([...failing, ...unloaded].sort()))
}
