import type { IncomingMessage, ServerResponse } from 'node:http'

export interface CarryLimits {
  /** A client that reads nothing for this long counts as disconnected. */
  readonly stalledMsMax: number
  readonly readOnMsMax: number
  readonly readOnBytesMax: number
}

export const CARRY_LIMITS: CarryLimits = {
  stalledMsMax: 60_000,
  readOnMsMax: 120_000,
  readOnBytesMax: 64 * 1024 * 1024,
}

export interface AnswerReader {
  take(bytes: Uint8Array): void
  /** Called once, when the answer has ended. */
  end(): void
}

export interface Carried {
  readonly bytes: () => number
  /** Nothing more of it is read. */
  readonly cut: () => void
}

/**
 * Passes an answer on as it arrives, and shows it to the reader. If the client disconnects early, the rest is still
 * read, for the reader alone, because usage is reported at the end.
 */
export function carryAnswer(
  answer: IncomingMessage,
  response: ServerResponse,
  reader: AnswerReader | null,
  limits: CarryLimits,
): Carried {
  let bytes = 0
  let unheardBytes = 0
  let isOver = false
  let timer: NodeJS.Timeout | undefined
  const wait = (ms: number, then: () => void): void => {
    clearTimeout(timer)
    timer = setTimeout(then, ms)
    timer.unref()
  }
  const finish = (): void => {
    clearTimeout(timer)
    if (isOver) return
    isOver = true
    reader?.end()
  }
  const cut = (): void => {
    finish()
    answer.destroy()
    response.destroy()
  }
  answer.on('data', (chunk: Buffer) => {
    if (isOver) return
    bytes += chunk.length
    if (response.destroyed) unheardBytes += chunk.length
    else if (!response.write(chunk)) {
      answer.pause()
      wait(limits.stalledMsMax, () => response.destroy())
    }
    reader?.take(chunk)
    if (unheardBytes > limits.readOnBytesMax) cut()
  })
  response.on('drain', () => {
    clearTimeout(timer)
    answer.resume()
  })
  answer.on('end', () => {
    finish()
    response.end()
  })
  answer.on('error', cut)
  answer.on('close', () => (answer.complete ? finish() : cut()))
  response.on('error', () => undefined)
  const readOn = (): void => {
    if (isOver) return
    if (reader === null) {
      cut()
      return
    }
    wait(limits.readOnMsMax, cut)
    answer.resume()
  }
  if (response.destroyed) readOn()
  else response.on('close', readOn)
  return { bytes: () => bytes, cut }
}
