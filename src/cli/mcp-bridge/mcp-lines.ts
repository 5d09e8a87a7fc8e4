import type { Readable } from 'node:stream'

/** More than a server accepts in one request, so that the server refuses what is too long. */
const LINE_BYTES_MAX = 12 * 1024 * 1024
const NEWLINE = 0x0a

/** The lines of a stream; null for one that is too long, which is skipped to its end. */
export async function* readLines(input: Readable): AsyncGenerator<string | null> {
  let parts: Buffer[] = []
  let bytes = 0
  let isSkipping = false
  for await (const chunk of input) {
    let rest = chunk as Buffer
    for (let at = rest.indexOf(NEWLINE); at >= 0; at = rest.indexOf(NEWLINE)) {
      parts.push(rest.subarray(0, at))
      if (!isSkipping) yield bytes + at > LINE_BYTES_MAX ? null : Buffer.concat(parts).toString('utf8')
      parts = []
      bytes = 0
      isSkipping = false
      rest = rest.subarray(at + 1)
    }
    if (isSkipping) continue
    parts.push(rest)
    bytes += rest.length
    if (bytes <= LINE_BYTES_MAX) continue
    yield null
    parts = []
    isSkipping = true
  }
  if (bytes > 0 && !isSkipping) yield Buffer.concat(parts).toString('utf8')
}
