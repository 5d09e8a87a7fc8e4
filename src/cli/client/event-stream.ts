const BUFFER_CHARS_MAX = 16 * 1024 * 1024

export interface ServerEvent {
  readonly id: string | null
  /** Its name; empty where it has none. */
  readonly event: string
  readonly data: string
}

/** Reads server-sent events. Ends when the stream does; throws when it breaks. */
export async function* readEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder()
  let buffer = ''
  for await (const chunk of body) {
    buffer += decoder.decode(chunk, { stream: true })
    let end = buffer.indexOf('\n\n')
    while (end !== -1) {
      const event = parseEvent(buffer.slice(0, end))
      buffer = buffer.slice(end + 2)
      if (event !== null) yield event
      end = buffer.indexOf('\n\n')
    }
    if (buffer.length > BUFFER_CHARS_MAX) throw new Error('an event of the stream is too large')
  }
}

/** One block; null when it carries no data, such as a sign of life. */
function parseEvent(block: string): ServerEvent | null {
  let id: string | null = null
  let event = ''
  const data: string[] = []
  for (const line of block.split(/\r?\n/)) {
    if (line.startsWith('id:')) id = line.slice(3).trim()
    if (line.startsWith('event:')) event = line.slice(6).trim()
    if (line.startsWith('data:')) data.push(line.slice(5).replace(/^ /, ''))
  }
  return data.length === 0 ? null : { id, event, data: data.join('\n') }
}
