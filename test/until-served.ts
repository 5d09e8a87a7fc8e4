import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readServerNote } from '../src/cli/client/server-file.js'
import { endAtExit } from './leaving.js'

const READY_MS_MAX = 180_000
const POLL_MS = 20
// On a busy machine an answer takes seconds. A node that is cut off from its network gives none.
const ANSWER_MS_MAX = 30_000

/**
 * Waits until this very process serves the state directory, and gives its address. An answer alone proves nothing: it
 * may come from another test's server. Throws what the process printed when it ends before. The server goes with the
 * process of the test, also when the test fails.
 */
export async function untilServed(child: ChildProcess, stateDir: string, output: () => string): Promise<string> {
  endAtExit(child)
  const closed = once(child, 'close')
  const deadline = Date.now() + READY_MS_MAX
  for (;;) {
    const note = readServerNote(stateDir)
    if (note?.pid === child.pid && note !== null) {
      // As a number: the name is looked up for each connection.
      const address = note.url.replace('//localhost:', '//127.0.0.1:')
      if (await isReady(address)) return address
    }
    if (child.exitCode !== null || child.signalCode !== null) {
      await closed
      throw new Error(`the server did not start:\n${output()}`)
    }
    if (Date.now() > deadline) throw new Error(`the server is not ready:\n${output()}`)
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/ready`, { signal: AbortSignal.timeout(ANSWER_MS_MAX) })).ok
  } catch {
    return false
  }
}
