import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Lines } from './agent-log.js'

const LINES_AT_ONCE = 200
const PAUSE_FACTOR = 4
const PAUSED_FROM_MS = 2

/** Passes on output line by line. A fast writer has to wait: a flood only fills its own pipe. */
export async function pumpLines(
  stream: Readable,
  lines: Lines,
  take: (lines: readonly string[]) => Promise<void>,
): Promise<void> {
  try {
    for await (const chunk of stream) {
      const whole = lines.push(chunk as Buffer)
      for (let at = 0; at < whole.length; at += LINES_AT_ONCE)
        await runUnhurried(() => take(whole.slice(at, at + LINES_AT_ONCE)))
    }
  } catch {
    // The pipe closed with the process; everything that was read is written.
  }
  const rest = lines.end()
  if (rest.length > 0) await take(rest)
}

// Every line is searched for secrets: one agent that writes without end may use a fifth of the server's time, not all
// of it.
async function runUnhurried(work: () => Promise<void>): Promise<void> {
  const before = performance.now()
  const working = work()
  const tookMs = performance.now() - before
  await working
  if (tookMs >= PAUSED_FROM_MS) await sleep(tookMs * PAUSE_FACTOR)
}
