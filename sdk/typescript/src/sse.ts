import { PhaselockError } from './errors.js'

export interface Frame {
  readonly id: string
  readonly event: string
  readonly data: string
}

const PENDING_CHARS_MAX = 16 * 1024 * 1024

/** Parses server-sent events from a stream as it arrives. Comments are dropped. */
export class FrameReader {
  readonly #decoder = new TextDecoder()
  #pending = ''

  constructor(private readonly charsMax = PENDING_CHARS_MAX) {}

  take(chunk: Uint8Array): readonly Frame[] {
    this.#pending += this.#decoder.decode(chunk, { stream: true })
    const parts = this.#pending.split('\n\n')
    this.#pending = parts.pop() ?? ''
    if (this.#pending.length > this.charsMax) throw new PhaselockError('an event is too large')
    return parts.map(parseFrame).filter((frame) => frame.data !== '')
  }
}

/** The server-sent events of a stream, until it ends. */
export async function* framesOf(chunks: AsyncIterable<Uint8Array>, charsMax?: number): AsyncGenerator<Frame> {
  const reader = new FrameReader(charsMax)
  for await (const chunk of chunks) yield* reader.take(chunk)
}

function parseFrame(block: string): Frame {
  const fields = { id: '', event: '', data: '' }
  for (const line of block.split('\n')) {
    const [, name = '', value = ''] = /^(\w+): ?(.*)$/.exec(line.replace(/\r$/, '')) ?? []
    if (name === 'data') fields.data += fields.data === '' ? value : `\n${value}`
    else if (name === 'id' || name === 'event') fields[name] = value
  }
  return fields
}
