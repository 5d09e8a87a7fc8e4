/** Receives the data of an event stream. */
interface DataReader {
  take(bytes: Uint8Array): void
  /** The event is over. */
  end(): void
}

/** Extracts the data of server-sent events from bytes that arrive in pieces, and stores none of it. */
export class EventData {
  #isAfterReturn = false
  /** How much of `data:` the current line has matched; null: it is another line. */
  #matched: number | null = 0

  constructor(private readonly reader: DataReader) {}

  take(bytes: Uint8Array): void {
    let at = 0
    while (at < bytes.length) {
      const lineEnd = findLineEnd(bytes, at)
      if (lineEnd > at) this.#line(bytes.subarray(at, lineEnd))
      if (lineEnd < bytes.length) this.#endLine(bytes[lineEnd] === RETURN)
      at = lineEnd + 1
    }
  }

  end(): void {
    this.reader.end()
  }

  /** The rest of the line, as far as it has arrived. */
  #line(part: Uint8Array): void {
    this.#isAfterReturn = false
    let at = 0
    while (at < part.length && this.#matched !== null && this.#matched < DATA.length) {
      this.#matched = part[at] === DATA[this.#matched] ? this.#matched + 1 : null
      at += 1
    }
    if (this.#matched !== null) this.reader.take(part.subarray(at))
  }

  // A line may end with one character, the other, or both.
  #endLine(isReturn: boolean): void {
    const isSecondHalf = !isReturn && this.#isAfterReturn
    this.#isAfterReturn = isReturn
    if (isSecondHalf) return
    if (this.#matched === 0) this.reader.end()
    if (this.#matched === DATA.length) this.reader.take(LINE_END)
    this.#matched = 0
  }
}

function findLineEnd(bytes: Uint8Array, from: number): number {
  let at = from
  while (at < bytes.length && bytes[at] !== RETURN && bytes[at] !== NEWLINE) at += 1
  return at
}

const RETURN = 0x0d
const NEWLINE = 0x0a
const DATA = Buffer.from('data:')
const LINE_END = Buffer.from('\n')
