import type { Readable } from 'node:stream'
import type { ChangeSet, CommandEnd, ConfinedCommand, Job } from './confinement.js'

/** How much of each output is kept: its beginning and its end. A note replaces the rest. */
export interface OutputLimits {
  readonly headBytes: number
  readonly tailBytes: number
  /** The standard input of the command; empty by default. */
  readonly stdin?: string
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
  readonly written: readonly string[]
}

interface Starts {
  start(job: Job): Promise<ConfinedCommand>
}

/** Runs a command until it ends and keeps a bounded part of its output. */
export async function runCommand(confinement: Starts, job: Job, kept: OutputLimits = SHOWN): Promise<CommandRun> {
  const startedAt = performance.now()
  const confined = await confinement.start(job)
  // A command may ignore its input.
  confined.stdin.on('error', () => undefined)
  confined.stdin.end(kept.stdin)
  let written = 0
  const count = (bytes: number): void => {
    written += bytes
    if (written > OUTPUT_BYTES_MAX) confined.kill()
  }
  const stdout = collect(confined.stdout, kept, count)
  const stderr = collect(confined.stderr, kept, count)
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
    written: ended.written ?? [],
  }
}

interface CollectedOutput {
  text(): string
  isCut(): boolean
}

function collect(stream: Readable, kept: OutputLimits, count: (bytes: number) => void): CollectedOutput {
  const head: Buffer[] = []
  let headBytes = 0
  let tail = Buffer.alloc(0)
  let total = 0
  stream.on('data', (chunk: Buffer) => {
    total += chunk.length
    count(chunk.length)
    const room = kept.headBytes - headBytes
    if (room > 0) {
      head.push(chunk.subarray(0, room))
      headBytes += Math.min(room, chunk.length)
    }
    if (chunk.length > room) tail = takeLastBytes(tail, chunk.subarray(Math.max(0, room)), kept.tailBytes)
  })
  const isCut = (): boolean => total > headBytes + tail.length
  return {
    isCut,
    text: () => {
      const gap = isCut() ? `\n… ${total - headBytes - tail.length} bytes left out …\n` : ''
      return `${decodeText(Buffer.concat(head))}${gap}${decodeText(tail)}`
    },
  }
}

function takeLastBytes(tail: Buffer, chunk: Buffer, bytesMax: number): Buffer<ArrayBuffer> {
  const joined = Buffer.concat([tail, chunk])
  return Buffer.from(joined.subarray(Math.max(0, joined.length - bytesMax)))
}

function decodeText(bytes: Buffer): string {
  return bytes.toString('utf8')
}
