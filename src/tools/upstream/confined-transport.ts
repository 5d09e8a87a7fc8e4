import { setTimeout as sleep } from 'node:timers/promises'
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import type { ConfinedCommand } from '../../confinement/confinement.js'
import { formatMessage } from './failure.js'

const LINE_BYTES_MAX = 4 * 1024 * 1024
const BETWEEN_REQUESTS_BYTES_MAX = 8 * 1024 * 1024
const BETWEEN_REQUESTS_MESSAGES_MAX = 10_000
const UNREAD_BYTES_MAX = 8 * 1024 * 1024
const NOISE_LINES_MAX = 100
const PIECES_MAX = 1024
const SETTLE_MS = 500
const STDERR_CHARS_MAX = 8192
const NEWLINE = 0x0a

export interface Complaint {
  readonly text: string
  /** Earlier output was dropped. */
  readonly isCut: boolean
}

/** MCP over the standard input and output of a sandboxed command. Everything that the command sends is limited. */
export class ConfinedTransport implements Transport {
  onclose?: (() => void) | undefined
  onerror?: ((error: Error) => void) | undefined
  onmessage?: ((message: JSONRPCMessage) => void) | undefined

  private pieces: Buffer[] = []
  private pieceBytes = 0
  private bytesLeft = BETWEEN_REQUESTS_BYTES_MAX
  private messagesLeft = BETWEEN_REQUESTS_MESSAGES_MAX
  private noiseLines = 0
  private said: Complaint = { text: '', isCut: false }
  private reason: string | null = null

  constructor(
    private readonly confined: ConfinedCommand,
    private readonly parse: (line: string) => JSONRPCMessage,
  ) {}

  /** Why this transport cannot be used any more; null while it can. */
  get failure(): string | null {
    return this.reason
  }

  /** The end of the command's standard error. */
  get complaint(): Complaint {
    return this.said
  }

  /** A request is about to be made: resets the command's allowance. */
  resetBudget(): void {
    this.bytesLeft = BETWEEN_REQUESTS_BYTES_MAX
    this.messagesLeft = BETWEEN_REQUESTS_MESSAGES_MAX
  }

  async start(): Promise<void> {
    const { stdin, stdout, stderr } = this.confined
    stdin.on('error', () => this.finish('does not take input any more'))
    stdout.on('data', (chunk: Buffer) => this.read(chunk))
    stdout.on('error', (error: Error) => this.finish(`cannot be read from: ${error.message}`))
    stderr.on('data', (chunk: Buffer) => this.readStderr(chunk))
    stderr.on('error', (error: Error) => this.onerror?.(error))
    void this.watch(new Promise((resolve) => stdout.once('close', resolve).once('end', resolve)))
  }

  // The last output of a command and its end arrive in either order; each waits briefly for the other.
  private async watch(silence: Promise<unknown>): Promise<void> {
    const settle = (): Promise<null> => sleep(SETTLE_MS, null, { ref: false })
    const over = this.confined.done.then(
      ({ exitCode, stopped }) => (stopped === null ? `ended (exit code ${exitCode})` : `was stopped (${stopped})`),
      (error: unknown) => `was lost: ${formatMessage(error)}`,
    )
    await Promise.race([silence, over.then(() => Promise.race([silence, settle()]))])
    this.finish((await Promise.race([over, settle()])) ?? 'closed its output')
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.reason !== null) throw new Error(this.reason)
    this.confined.stdin.write(`${JSON.stringify(message)}\n`)
    // Answers to the server's requests pile up here when it does not read them.
    if (this.confined.stdin.writableLength > UNREAD_BYTES_MAX) this.finish('does not read its input')
  }

  async close(): Promise<void> {
    this.finish('was closed')
  }

  private finish(reason: string): void {
    if (this.reason !== null) return
    this.reason = reason
    this.pieces = []
    this.pieceBytes = 0
    this.confined.stdin.end()
    this.onclose?.()
  }

  private spend(bytes: number): boolean {
    this.bytesLeft -= bytes
    if (this.bytesLeft < 0) this.finish(`sent more than ${BETWEEN_REQUESTS_BYTES_MAX} bytes between two requests`)
    return this.reason === null
  }

  private readStderr(chunk: Buffer): void {
    if (!this.spend(chunk.length)) return
    const whole = this.said.text + chunk.toString('utf8')
    this.said = { text: whole.slice(-STDERR_CHARS_MAX), isCut: this.said.isCut || whole.length > STDERR_CHARS_MAX }
  }

  private read(chunk: Buffer): void {
    if (!this.spend(chunk.length)) return
    let begin = 0
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, begin)) {
      this.take(chunk.subarray(begin, end))
      const line = Buffer.concat(this.pieces)
      this.pieces = []
      this.pieceBytes = 0
      begin = end + 1
      if (this.reason !== null) return
      this.readLine(line.toString('utf8').trim())
    }
    this.take(chunk.subarray(begin))
  }

  private take(piece: Buffer): void {
    this.pieces.push(piece)
    this.pieceBytes += piece.length
    // A command that writes byte by byte would cost a buffer for each of them.
    if (this.pieces.length > PIECES_MAX) this.pieces = [Buffer.concat(this.pieces)]
    if (this.pieceBytes > LINE_BYTES_MAX) this.finish(`sent a line of more than ${LINE_BYTES_MAX} bytes`)
  }

  private readLine(line: string): void {
    if (line === '') return
    this.messagesLeft -= 1
    if (this.messagesLeft < 0) {
      this.finish(`sent more than ${BETWEEN_REQUESTS_MESSAGES_MAX} messages between two requests`)
      return
    }
    try {
      this.onmessage?.(this.parse(line))
    } catch (error) {
      // Some servers print a greeting on standard output; a little of that is tolerated.
      this.noiseLines += 1
      if (!(error instanceof SyntaxError)) this.finish('sent something that is not a message of the protocol')
      else if (this.noiseLines > NOISE_LINES_MAX)
        this.finish(`sent more than ${NOISE_LINES_MAX} lines that are not JSON`)
    }
  }
}
