import { type CommandRun, runCommand } from '../../confinement/run-command.js'
import { ViewRefused } from '../../confinement/view/compose-view.js'
import type { ShownPlace } from '../observed-runs/run-in-view.js'
import { toOneLine } from '../reports/text.js'
import { answerDifference, findDifference, formatStderr } from './compare.js'
import type { Example } from './example.js'
import { buildExchangeLine, encodeRequest, readAnswer } from './http-exchange.js'

/** Time limit of one example. */
const EXAMPLE_MS_MAX = 60_000
const OUTPUT_KEPT = { headBytes: 1024 * 1024, tailBytes: 0 }
const WRITTEN_NAMED_MAX = 3

/** Where and until when examples are run. */
export interface ExamplePlace extends ShownPlace {
  readonly env: Readonly<Record<string, string>>
  /** Of `performance.now()`. */
  readonly deadline: number
}

/**
 * Runs an example in a fresh view, without a network, and reports how its answer differs from the expected one; null
 * when it does not. Writes are discarded. The process under test never sees the expected answer.
 */
export async function runExample(place: ExamplePlace, example: Example): Promise<string | null> {
  const { http } = example.expect
  const left = place.deadline - performance.now()
  if (left <= 0) return 'was not run: the examples of a gate took too long together'
  const timeoutMs = Math.min(EXAMPLE_MS_MAX, left)
  const job = {
    tree: place.tree,
    argv: ['bash', '-c', http === null ? example.run : buildExchangeLine(example.run, http)],
    cwd: '.',
    env: { CI: '1', ...place.env, ...(http === null ? {} : { PORT: String(http.port) }) },
    network: false,
    writes: 'discard',
    git: 'read',
    hidden: place.hidden,
    signal: place.signal,
    timeoutMs,
    ...(place.view === undefined ? {} : { composition: place.view.composition }),
  } as const
  try {
    const stdin = http === null ? example.stdin : encodeRequest(http)
    const run = await runCommand(place.confinement, job, { ...OUTPUT_KEPT, stdin })
    const stopped = explainUnread(run, { seconds: Math.ceil(timeoutMs / 1000), port: http?.port ?? null })
    if (stopped !== null) return stopped
    if (http === null) return findDifference(example.expect, run)
    if (run.stdout === '') return `nothing answered on port ${http.port}${formatStderr(run.stderr)}`
    const answer = await readAnswer(run.stdout, http)
    return answer === null ? `the answer is not HTTP${formatStderr(run.stderr)}` : answerDifference(http, answer)
  } catch (error) {
    if (!(error instanceof ViewRefused)) throw error
    return `its view of the tree could not be created: ${toOneLine(error.message, 200)}`
  }
}

function explainUnread(
  { stopped, truncated, written, stderr }: CommandRun,
  { seconds, port }: { readonly seconds: number; readonly port: number | null },
): string | null {
  const said = formatStderr(stderr)
  if (stopped === 'timeout')
    return port === null
      ? `did not end within ${seconds} s${said}`
      : `nothing answered on port ${port} within ${seconds} s${said}`
  if (stopped === 'aborted') return 'was ended before it was done'
  if (stopped !== null || truncated) return 'wrote too much output'
  if (written.length === 0) return null
  return `wrote ${written.slice(0, WRITTEN_NAMED_MAX).join(', ')}, which a run must not write, even if it restores it`
}
