import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { appendFile, type FileHandle, open, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { StringDecoder } from 'node:string_decoder'
import { plainText } from '../core/plain-text.js'

const LOG_BYTES_MAX = 4 * 1024 * 1024
const LINE_CHARS_MAX = 16 * 1024
const LAST_LINES = 20
const LAST_LINE_CHARS = 300
const READ_BYTES_MAX = 256 * 1024
const PRIVATE_FOLDER = 0o700
const PRIVATE_FILE = 0o600

/** Valid names of started agents; the name is also its folder's. */
export const SPAWN_ID = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/

/** The folder of an agent. */
function getAgentFolder(stateDir: string, agentId: string): string {
  return join(stateDir, 'agents', agentId)
}

/** The output of an agent: without secrets, without terminal control sequences, and at most two files. */
export class AgentLog {
  readonly file: string
  #queue: Promise<void> = Promise.resolve()
  #last: string[] = []
  #bytes: number

  constructor(
    stateDir: string,
    agentId: string,
    private readonly redact: (text: string) => string,
  ) {
    const dir = getAgentFolder(stateDir, agentId)
    mkdirSync(dir, { recursive: true, mode: PRIVATE_FOLDER })
    this.file = join(dir, 'log')
    this.#bytes = statSync(this.file, { throwIfNoEntry: false })?.size ?? 0
  }

  /** The last lines, shortened. */
  get lastLines(): readonly string[] {
    return this.#last
  }

  /** Starts a new process: earlier lines are not its own. */
  forgetLast(): void {
    this.#last = []
  }

  /** Writes whole lines by Phaselock. Resolves when they are in the file, so that a fast writer waits for the disk. */
  write(lines: readonly string[]): Promise<void> {
    return this.#write(lines, (text) => text)
  }

  /**
   * Writes the agent's output; `mask` removes secrets that only it knows. It can never look like a line by Phaselock.
   */
  writeSaid(lines: readonly string[], mask: (text: string) => string): Promise<void> {
    return this.#write(lines, (text) => mask(text).replace(/^\s*---/, ' ---'))
  }

  #write(lines: readonly string[], own: (text: string) => string): Promise<void> {
    // Cleaned first: a secret split by an invisible character would not be recognised.
    const plain = lines.map((line) => cut(own(this.redact(stripControls(line.slice(0, LINE_CHARS_MAX))))))
    this.#last = [...this.#last, ...plain.filter((line) => line.trim() !== '')]
      .slice(-LAST_LINES)
      .map((line) => line.slice(0, LAST_LINE_CHARS).toWellFormed())
    const text = plain.map((line) => `${line}\n`).join('')
    this.#queue = this.#queue.then(() => this.#append(text))
    return this.#queue
  }

  async #append(text: string): Promise<void> {
    if (text === '') return
    const bytes = Buffer.byteLength(text)
    if (this.#bytes > 0 && this.#bytes + bytes > LOG_BYTES_MAX) {
      await rename(this.file, `${this.file}.1`)
      this.#bytes = 0
    }
    await appendFile(this.file, text, { mode: PRIVATE_FILE })
    this.#bytes += bytes
  }
}

// Cut where no secret can be split: a line that is too long ends at twice this position.
function cut(line: string): string {
  return line.length < LINE_CHARS_MAX / 2 ? line : `${line.slice(0, LINE_CHARS_MAX / 2)} … cut`
}

function stripControls(line: string): string {
  return plainText(line)
}

/** Splits a stream into lines. The rest of an overlong line is dropped. */
export class Lines {
  readonly #decoder = new StringDecoder('utf8')
  #rest = ''

  constructor(private readonly charsMax = LINE_CHARS_MAX) {}

  push(chunk: Buffer | string): readonly string[] {
    const text = typeof chunk === 'string' ? chunk : this.#decoder.write(chunk)
    const [first = '', ...more] = text.split('\n')
    const lines: string[] = []
    this.#add(first)
    for (const next of more) {
      lines.push(this.#take())
      this.#add(next)
    }
    return lines
  }

  end(): readonly string[] {
    this.#add(this.#decoder.end())
    return this.#rest === '' ? [] : [this.#take()]
  }

  #add(text: string): void {
    const room = this.charsMax - this.#rest.length
    if (room > 0) this.#rest += text.slice(0, room)
  }

  #take(): string {
    const line = this.#rest
    this.#rest = ''
    return line
  }
}

/** Number of ended agents whose folders are kept. */
const FOLDERS_KEPT_MAX = 100

/** Removes the output of agents that ended long ago. */
export function pruneLogs(stateDir: string, isAlive: (agentId: string) => boolean): void {
  const dir = join(stateDir, 'agents')
  const ended = readdirSync(dir).filter((name) => !isAlive(name))
  const age = (name: string): number => statSync(join(dir, name), { throwIfNoEntry: false })?.mtimeMs ?? 0
  const oldestFirst = ended.map((name) => ({ name, at: age(name) })).sort((a, b) => a.at - b.at)
  for (const { name } of oldestFirst.slice(0, Math.max(0, ended.length - FOLDERS_KEPT_MAX)))
    rmSync(join(dir, name), { recursive: true, force: true })
}

interface LogPart {
  readonly text: string
  /** Where to go on reading. */
  readonly cursor: string
  /** Whether more output is available now. */
  readonly more: boolean
}

/** A part of a log: its end, or what came after `cursor`. Null when there is no log. */
export async function readLog(stateDir: string, agentId: string, cursor: string | null): Promise<LogPart | null> {
  const file = join(getAgentFolder(stateDir, agentId), 'log')
  const [, inode, offset] = /^(\d{1,20}):(\d{1,15})$/.exec(cursor ?? '') ?? []
  const older = inode === undefined ? null : await openIfThere(`${file}.1`)
  try {
    // The rotated file is read to its end first.
    if (older !== null && String((await older.stat()).ino) === inode) {
      const part = await readFrom(older, Number(offset))
      if (part.text !== '') return { ...part, more: true }
    }
  } finally {
    await older?.close()
  }
  const newest = await openIfThere(file)
  if (newest === null) return null
  try {
    const { ino, size } = await newest.stat()
    const isKnown = String(ino) === inode
    const start = isKnown ? Number(offset) : cursor === null ? Math.max(0, size - READ_BYTES_MAX) : 0
    return await readFrom(newest, start)
  } finally {
    await newest.close()
  }
}

async function openIfThere(file: string): Promise<FileHandle | null> {
  try {
    return await open(file, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

async function readFrom(file: FileHandle, offset: number): Promise<LogPart> {
  const { ino, size } = await file.stat()
  const start = Math.min(offset, size)
  const buffer = Buffer.alloc(Math.min(READ_BYTES_MAX, size - start))
  const { bytesRead } = await file.read(buffer, 0, buffer.length, start)
  const whole = cutAfterCharacter(buffer.subarray(0, bytesRead), start + bytesRead >= size)
  const end = start + whole.length
  return { text: whole.toString('utf8'), cursor: `${ino}:${end}`, more: end < size }
}

// A read ends where the buffer does; half a character waits for the next one.
function cutAfterCharacter(bytes: Buffer, isEnd: boolean): Buffer {
  if (isEnd) return bytes
  let end = bytes.length
  while (end > 0 && ((bytes[end - 1] ?? 0) & 0xc0) === 0x80 && bytes.length - end < 3) end -= 1
  const lead = bytes[end - 1] ?? 0
  return lead >= 0xc0 ? bytes.subarray(0, end - 1) : bytes
}
