import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

const LOOK_MS = 200

/**
 * Waits until no other test run on this machine uses what has this name, and returns what gives it back. A socket without a file
 * is the lock: the kernel removes it together with a run that was killed.
 */
export async function takeTurn(name: string, waitMsMax: number): Promise<() => void> {
  const giveUpAt = Date.now() + waitMsMax
  for (;;) {
    const lock = createServer().listen(`\0phaselock-test-${name}`)
    try {
      await once(lock, 'listening')
      lock.unref()
      return () => lock.close()
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
      if (Date.now() > giveUpAt) throw new Error(`Another test run has used ${name} for ${waitMsMax / 1000} seconds.`)
    }
    await sleep(LOOK_MS)
  }
}
