import { StringDecoder } from 'node:string_decoder'
import type { CommandEnd, ConfinedCommand } from '../../confinement/confinement.js'
import type { Json } from '../../core/json.js'
import type { FailureCode } from '../model/failures.js'
import type { Usage } from '../participant.js'
import type { OutputItem, OutputReader } from './agent-cli-output.js'

export interface ProcessLimits {
  readonly outputBytesMax: number
  readonly lineCharsMax: number
}

export interface Announced {
  readonly name: string
  readonly arguments: Json
}

/** How a process ended. */
export type ProcessEnd =
  | { readonly type: 'done' }
  | { readonly type: 'failed'; readonly code: FailureCode; readonly detail: string }

const STDERR_CHARS_KEPT = 1_000
const PARTS_MAX = 100_000
const ANNOUNCED_MAX = 256
const NO_USAGE: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }

/** A running agent: its output since the last read, and how it ended. */
export class HarnessProcess {
  end: ProcessEnd | null = null
  /** Its model is in the middle of a message. */
  isWriting = false
  /** Resolves when nothing of it runs any more. */
  readonly gone: Promise<void>
  #parts: { readonly type: 'text' | 'reasoning'; readonly text: string }[] = []
  #usage = NO_USAGE
  #announced: Announced[] = []
  #gaveUp: string | null = null
  #stopped: FailureCode | null = null
  #complaint = ''
  #bytes = 0
  #line = ''

  constructor(
    private readonly confined: ConfinedCommand,
    private readonly reader: OutputReader,
    private readonly limits: ProcessLimits,
    private readonly onChange: () => void,
  ) {
    this.gone = this.#watch().catch((error: unknown) => this.#finish(toFailedEnd(error)))
  }

  takeParts(): readonly { readonly type: 'text' | 'reasoning'; readonly text: string }[] {
    return this.#parts.splice(0)
  }

  takeUsage(): Usage {
    const usage = this.#usage
    this.#usage = NO_USAGE
    return usage
  }

  /** The calls that its model has announced and that were not taken yet. */
  takeAnnounced(): readonly Announced[] {
    return this.#announced.splice(0)
  }

  /** Ends it and everything it started. */
  async kill(): Promise<void> {
    this.confined.kill()
    await this.gone
  }

  #watch(): Promise<void> {
    const { stdin, stdout, stderr, done } = this.confined
    const [out, err] = [new StringDecoder('utf8'), new StringDecoder('utf8')]
    for (const stream of [stdin, stdout, stderr]) stream.on('error', () => undefined)
    stdout.on('data', (chunk: Buffer) => this.#read(out.write(chunk), chunk.length))
    stderr.on('data', (chunk: Buffer) => {
      this.#complaint = (this.#complaint + err.write(chunk)).slice(-STDERR_CHARS_KEPT)
      this.#count(chunk.length)
    })
    return done.then(async (ended) => {
      await ended.changes.discard()
      if (this.#line !== '') this.#tell(this.#line)
      this.#finish(this.#endOf(ended))
    })
  }

  #read(text: string, bytes: number): void {
    this.#count(bytes)
    const lines = (this.#line + text).split('\n')
    this.#line = lines.pop() ?? ''
    for (const line of lines) this.#tell(line)
    if (this.#line.length > this.limits.lineCharsMax) this.#stop('too_large')
    this.onChange()
  }

  #tell(line: string): void {
    if (this.#stopped !== null) return
    const isLong = line.length > this.limits.lineCharsMax
    if (!isLong) for (const told of this.reader(line)) this.#add(told)
    if (isLong || this.#parts.length > PARTS_MAX) this.#stop('too_large')
  }

  #add(told: OutputItem): void {
    switch (told.type) {
      case 'text':
      case 'reasoning':
        this.#parts.push(told)
        return
      case 'usage':
        this.#usage = {
          input: this.#usage.input + told.input,
          output: this.#usage.output + told.output,
          cacheRead: this.#usage.cacheRead + told.cacheRead,
          cacheWrite: this.#usage.cacheWrite + told.cacheWrite,
        }
        return
      case 'announced':
        if (this.#announced.length < ANNOUNCED_MAX) this.#announced.push({ name: told.name, arguments: told.arguments })
        return
      case 'message_began':
        this.isWriting = true
        // Calls that were announced and never arrived were refused by the agent CLI itself.
        this.#announced = []
        return
      case 'message_ended':
        this.isWriting = false
        return
      case 'turned_away':
        return
      case 'gave_up':
        this.#gaveUp = told.detail
    }
  }

  #count(bytes: number): void {
    this.#bytes += bytes
    if (this.#bytes > this.limits.outputBytesMax) this.#stop('too_large')
  }

  #stop(code: FailureCode): void {
    this.#stopped ??= code
    this.confined.kill()
  }

  #endOf({ exitCode, stopped }: CommandEnd): ProcessEnd {
    if (this.#stopped !== null) return { type: 'failed', code: this.#stopped, detail: '' }
    if (stopped === 'timeout') return { type: 'failed', code: 'timed_out', detail: '' }
    if (stopped !== null) return { type: 'failed', code: 'aborted', detail: '' }
    if (exitCode === 0 && this.#gaveUp === null) return { type: 'done' }
    const said = [this.#gaveUp ?? '', this.#complaint].filter((text) => text.trim() !== '').join(' ')
    return { type: 'failed', code: 'exited', detail: `exit code ${exitCode}${said === '' ? '' : `: ${said}`}` }
  }

  #finish(end: ProcessEnd): void {
    this.end = end
    this.isWriting = false
    this.onChange()
  }
}

function toFailedEnd(error: unknown): ProcessEnd {
  return { type: 'failed', code: 'not_started', detail: error instanceof Error ? error.message : String(error) }
}
