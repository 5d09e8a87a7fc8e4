/** The fields found in one document, by path: `usage.input_tokens`. */
export type Fields = ReadonlyMap<string, number | string>

/** Deeper than any wanted field: deeper levels are skipped, however deep they go. */
const LEVELS_MAX = 5
const TOKEN_BYTES_MAX = 300

type Mode = 'between' | 'string' | 'escape' | 'bare' | 'lost'

/**
 * Finds fields in JSON documents that arrive in pieces, one after the other or in a list. Only these fields are kept,
 * so that no document is too large. Text that is not JSON is skipped.
 */
export class JsonFields {
  readonly #found = new Map<string, number | string>()
  /** For each level, the prefix of its paths, and the current key. */
  readonly #before: string[] = []
  readonly #keys: string[] = []
  readonly #token = Buffer.alloc(TOKEN_BYTES_MAX)
  #tokenBytes = 0
  /** The level of the outermost list: lists are not searched. */
  #list: number | null = null
  #mode: Mode = 'between'
  #depth = 0
  #isAfterColon = false
  /** How the current token is read; null: it is skipped. */
  #reads: 'key' | 'value' | null = null

  constructor(
    private readonly wanted: ReadonlySet<string>,
    private readonly onDocument: (fields: Fields) => void,
  ) {}

  take(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at += 1) {
      if (this.#mode === 'string' && this.#reads === null) at = findStringEnd(bytes, at)
      const byte = bytes[at]
      if (byte === undefined) return
      if (this.#mode === 'between') this.#between(byte)
      else if (this.#mode === 'string') this.#inString(byte)
      else if (this.#mode === 'bare') this.#inBare(byte)
      else if (this.#mode === 'escape') this.#escaped(byte)
      else return
    }
  }

  /** The input has ended: an unfinished document counts as far as it arrived. */
  end(): void {
    // A number at the very end may be the beginning of a longer one.
    this.#tell()
    this.#mode = 'between'
    this.#depth = 0
    this.#list = null
    this.#isAfterColon = false
  }

  #tell(): void {
    if (this.#found.size === 0) return
    this.onDocument(this.#found)
    this.#found.clear()
  }

  #between(byte: number): void {
    if (this.#depth === 0) {
      if (byte === OPEN_OBJECT) this.#open(true)
      else if (!OUTSIDE.has(byte)) this.#mode = 'lost'
      return
    }
    if (byte === QUOTE) this.#begin('string')
    else if (byte === OPEN_OBJECT) this.#open(true)
    else if (byte === OPEN_LIST) this.#open(false)
    else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) this.#close()
    else if (byte === COLON) this.#isAfterColon = true
    else if (byte === COMMA) this.#isAfterColon = false
    else if (!SPACES.has(byte)) {
      this.#begin('bare')
      this.#keep(byte)
    }
  }

  #open(isObject: boolean): void {
    if (!isObject) this.#list ??= this.#depth
    else if (this.#isLookedAt) {
      this.#before[this.#depth] = this.#depth === 0 ? '' : `${this.#path()}.`
      this.#keys[this.#depth] = ''
    }
    this.#depth += 1
    this.#isAfterColon = false
  }

  #close(): void {
    this.#depth -= 1
    if (this.#list === this.#depth) this.#list = null
    // A value has ended, and only a comma can follow.
    this.#isAfterColon = true
    if (this.#depth === 0) this.#tell()
  }

  #begin(mode: 'string' | 'bare'): void {
    this.#mode = mode
    this.#tokenBytes = 0
    this.#reads = this.#readAs(mode)
  }

  #readAs(mode: 'string' | 'bare'): 'key' | 'value' | null {
    if (!this.#isLookedAt) return null
    if (this.#isAfterColon) return this.wanted.has(this.#path()) ? 'value' : null
    return mode === 'string' ? 'key' : null
  }

  get #isLookedAt(): boolean {
    return this.#list === null && this.#depth <= LEVELS_MAX
  }

  #path(): string {
    return `${this.#before[this.#depth - 1]}${this.#keys[this.#depth - 1]}`
  }

  #inString(byte: number): void {
    if (byte === QUOTE) this.#finish()
    else if (byte === BACKSLASH) {
      this.#mode = 'escape'
      this.#keep(byte)
    } else this.#keep(byte)
  }

  #escaped(byte: number): void {
    this.#mode = 'string'
    this.#keep(byte)
  }

  #inBare(byte: number): void {
    if (!ENDS_BARE.has(byte)) this.#keep(byte)
    else {
      this.#finish()
      this.#between(byte)
    }
  }

  #keep(byte: number): void {
    if (this.#reads === null) return
    if (this.#tokenBytes < TOKEN_BYTES_MAX) {
      this.#token[this.#tokenBytes] = byte
      this.#tokenBytes += 1
    } else this.#drop()
  }

  // A key that is too long is skipped with everything below it.
  #drop(): void {
    if (this.#reads === 'key') this.#keys[this.#depth - 1] = ''
    this.#reads = null
  }

  #finish(): void {
    const isString = this.#mode === 'string'
    this.#mode = 'between'
    if (this.#reads === null) return
    const text = this.#token.toString('utf8', 0, this.#tokenBytes)
    const value = isString && !text.includes('\\') ? text : parseJson(isString ? `"${text}"` : text)
    if (this.#reads === 'key') this.#keys[this.#depth - 1] = formatKey(value)
    else if (typeof value === 'number' || typeof value === 'string') this.#found.set(this.#path(), value)
  }
}

// Most of an answer is text that is not searched.
function findStringEnd(bytes: Uint8Array, from: number): number {
  let at = from
  while (at < bytes.length && bytes[at] !== QUOTE && bytes[at] !== BACKSLASH) at += 1
  return at
}

// A key with a dot could be mistaken for two.
function formatKey(value: unknown): string {
  return typeof value === 'string' && !value.includes('.') ? value : ''
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const COLON = 0x3a
const COMMA = 0x2c
const SPACES: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d])
/** Between documents: list separators, and the byte order mark. */
const OUTSIDE: ReadonlySet<number> = new Set([...SPACES, OPEN_LIST, CLOSE_LIST, COMMA, 0xef, 0xbb, 0xbf])
const ENDS_BARE: ReadonlySet<number> = new Set([...SPACES, COMMA, COLON, CLOSE_OBJECT, CLOSE_LIST, QUOTE])
