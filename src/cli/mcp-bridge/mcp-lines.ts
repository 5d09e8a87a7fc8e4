import type { Readable } from 'node:stream'

/** More than a server takes in one request, so that it is the server that refuses what is too long. */
const LINE_BYTES_MAX = 12 * 1024 * 1024
const NEWLINE = 0x0a

/** The lines of a stream; null stands for one that is too long, which is skipped to its end. */
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

const EVENT_CHARS_MAX = 64 * 1024 * 1024

/** The data of server-sent events, one text for each event. */
export async function* readEventData(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true })
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const data = text
        .slice(0, end)
        .split('\n')
        .filter((line) => line.startsWith('data:'))
        .map((line) => line.slice('data:'.length).trimStart())
      text = text.slice(end + 2)
      if (data.length > 0) yield data.join('\n')
    }
    if (text.length > EVENT_CHARS_MAX) throw new Error('an event of the server is too long')
  }
}
