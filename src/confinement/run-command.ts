import type { Readable } from 'node:stream'
import { runInSpan } from '../base/spans.js'
import type { ChangeSet, CommandEnd, ConfinedCommand, Job } from './confinement.js'

/** How much of each output is kept: its beginning and its end. A note replaces the rest. */
export interface OutputLimits {
  readonly headBytes: number
  readonly tailBytes: number
  /** The standard input of the command; empty by default. */
  readonly stdin?: string
  /** A command that writes more than this is stopped; `OUTPUT_BYTES_MAX` unless it is given. */
  readonly bytesMax?: number
  /** Receives the whole standard output piece by piece, including parts that are not kept. */
  readonly onStdout?: (chunk: Buffer) => void
  /** The same for standard error. */
  readonly onStderr?: (chunk: Buffer) => void
}
const SHOWN: OutputLimits = { headBytes: 96 * 1024, tailBytes: 32 * 1024 }
/** A command that writes more than this is stopped. */
export const OUTPUT_BYTES_MAX = 16 * 1024 * 1024

export interface CommandRun {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
  readonly truncated: boolean
  readonly stopped: CommandEnd['stopped']
  readonly durationMs: number
  readonly changes: ChangeSet
  readonly files: CommandEnd['files']
  readonly isFilesCut?: boolean
  readonly written: readonly string[]
}

interface Starts {
  start(job: Job): Promise<ConfinedCommand>
}

/** Runs a command until it ends and keeps a bounded part of its output. */
export function runCommand(confinement: Starts, job: Job, kept: OutputLimits = SHOWN): Promise<CommandRun> {
  const onResult = ({ exitCode, stopped }: CommandRun) => ({
    'process.exit.code': exitCode,
    'phaselock.stopped': String(stopped ?? 'no'),
  })
  return runInSpan('sandbox run', { onResult }, () => runToEnd(confinement, job, kept))
}

async function runToEnd(confinement: Starts, job: Job, kept: OutputLimits): Promise<CommandRun> {
  const startedAt = performance.now()
  const confined = await confinement.start(job)
  // A command may ignore its input.
  confined.stdin.on('error', () => undefined)
  confined.stdin.end(kept.stdin)
  let written = 0
  const count = (bytes: number): void => {
    written += bytes
    if (written > (kept.bytesMax ?? OUTPUT_BYTES_MAX)) confined.kill()
  }
  const stdout = collect(confined.stdout, kept, count)
  if (kept.onStdout !== undefined) confined.stdout.on('data', kept.onStdout)
  const stderr = collect(confined.stderr, kept, count)
  if (kept.onStderr !== undefined) confined.stderr.on('data', kept.onStderr)
  const ended = await confined.done
  return {
    exitCode: ended.exitCode,
    stdout: stdout.text(),
    stderr: stderr.text(),
    truncated: stdout.isCut() || stderr.isCut(),
    stopped: ended.stopped,
    durationMs: Math.round(performance.now() - startedAt),
    changes: ended.changes,
    files: ended.files,
    isFilesCut: ended.isFilesCut === true,
    written: ended.written ?? [],
  }
}

interface CollectedOutput {
  text(): string
  isCut(): boolean
}

function collect(stream: Readable, kept: OutputLimits, count: (bytes: number) => void): CollectedOutput {
  const head = new ByteQueue()
  const tail = new ByteQueue()
  let total = 0
  stream.on('data', (chunk: Buffer) => {
    total += chunk.length
    count(chunk.length)
    const first = chunk.subarray(0, kept.headBytes - head.length)
    head.push(first)
    tail.push(chunk.subarray(first.length))
    tail.dropUntil(kept.tailBytes)
  })
  const readTail = (): Buffer => {
    const end = tail.join()
    return end.subarray(Math.max(0, end.length - kept.tailBytes))
  }
  const countLeftOut = (): number => total - head.length - Math.min(tail.length, kept.tailBytes)
  return {
    isCut: () => countLeftOut() > 0,
    text: () => {
      // Decode head and tail together: a character may span both.
      if (countLeftOut() === 0) return Buffer.concat([head.join(), readTail()]).toString('utf8')
      return `${head.join().toString('utf8')}\n… ${countLeftOut()} bytes left out …\n${readTail().toString('utf8')}`
    },
  }
}

const BLOCK_BYTES = 64 * 1024

/** Stores bytes in blocks of equal size, so that many small writes take no more memory than few large ones. */
class ByteQueue {
  length = 0
  readonly #blocks: Buffer[] = []
  #room = 0

  push(bytes: Buffer): void {
    this.length += bytes.length
    for (let from = 0; from < bytes.length; ) {
      if (this.#room === 0) {
        this.#blocks.push(Buffer.allocUnsafeSlow(BLOCK_BYTES))
        this.#room = BLOCK_BYTES
      }
      const copied = bytes.copy(this.#blocks.at(-1) as Buffer, BLOCK_BYTES - this.#room, from)
      this.#room -= copied
      from += copied
    }
  }

  /** Drops whole blocks from the front while at least this many bytes remain. */
  dropUntil(bytesMin: number): void {
    while (this.length - BLOCK_BYTES >= bytesMin && this.#blocks.length > 1) {
      this.#blocks.shift()
      this.length -= BLOCK_BYTES
    }
  }

  join(): Buffer {
    return Buffer.concat(this.#blocks, this.length)
  }
}
