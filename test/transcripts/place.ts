import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect } from 'vitest'
import type { TranscriptCursor } from '../../src/transcripts/cursor.js'
import { listTranscriptFolders, type TranscriptFolder, type TranscriptFormat } from '../../src/transcripts/folders.js'
import { readTranscript } from '../../src/transcripts/read-transcript.js'
import { mergeUsage, type UsageSeen } from '../../src/transcripts/usage.js'

type TranscriptOptions = Parameters<typeof readTranscript>[2]
type TranscriptReading = Extract<Awaited<ReturnType<typeof readTranscript>>, { readonly ok: true }>

const CALLS_MAX = 100_000
const FILE: Record<TranscriptFormat, string> = {
  'claude-code': '.claude/projects/-home-dev-project/one.jsonl',
  codex: '.codex/sessions/2026/11/15/rollout-one.jsonl',
  gemini: '.gemini/tmp/project/chats/session-one.jsonl',
}

/** A home folder with a transcript in it. */
export class Place {
  readonly home = mkdtempSync(join(tmpdir(), 'phaselock-transcripts-'))
  readonly folders: readonly TranscriptFolder[] = listTranscriptFolders(this.home)

  path(format: TranscriptFormat): string {
    return join(this.home, FILE[format])
  }

  write(format: TranscriptFormat, content: string | Buffer): string {
    const path = this.path(format)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, content)
    return path
  }

  async read(
    path: string,
    cursor: TranscriptCursor | null = null,
    options: Partial<TranscriptOptions> = {},
  ): Promise<TranscriptReading> {
    const reading = await readTranscript(path, cursor, { folders: this.folders, ...options })
    if (!reading.ok) throw new Error(`refused: ${reading.problem}`)
    return reading
  }

  remove(): void {
    rmSync(this.home, { recursive: true, force: true })
  }
}

export interface Sum {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
}

/** What a caller has that keeps usage by id, over any number of calls. */
export class Book {
  readonly known = new Map<string, UsageSeen>()
  cursor: TranscriptCursor | null = null
  turns = 0
  malformed = 0
  skippedBytes = 0

  async readOn(place: Place, path: string, options: Partial<TranscriptOptions> = {}): Promise<this> {
    for (let calls = 0; calls < CALLS_MAX; calls += 1) {
      const reading = await place.read(path, this.cursor, options)
      for (const usage of reading.usage) {
        const known = this.known.get(usage.id)
        this.known.set(usage.id, known === undefined ? usage : mergeUsage(known, usage))
      }
      this.turns += reading.turns
      this.malformed += reading.malformed
      this.skippedBytes += reading.skippedBytes
      const kept = JSON.parse(JSON.stringify(reading.cursor)) as TranscriptCursor
      expect(kept).toEqual(reading.cursor)
      this.cursor = kept
      if (!reading.more) return this
    }
    throw new Error('the reading never ends')
  }

  sum(): Sum {
    return [...this.known.values()].reduce(
      (sum, usage) => ({
        input: sum.input + usage.input,
        output: sum.output + usage.output,
        cacheRead: sum.cacheRead + usage.cacheRead,
        cacheWrite: sum.cacheWrite + usage.cacheWrite,
      }),
      { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    )
  }

  facts(): unknown {
    const usage = [...this.known.values()].sort((one, other) => (one.id < other.id ? -1 : 1))
    return { usage, turns: this.turns, malformed: this.malformed, skippedBytes: this.skippedBytes }
  }
}

export const jsonl = (...lines: readonly unknown[]): string => lines.map((line) => `${JSON.stringify(line)}\n`).join('')

export const second = (seconds: number): string => new Date(Date.UTC(2026, 10, 15, 12, 0, seconds)).toISOString()
export const ms = (seconds: number): number => Date.UTC(2026, 10, 15, 12, 0, seconds)

export function claude(
  id: string,
  usage: Readonly<Record<string, unknown>>,
  more: Readonly<Record<string, unknown>> = {},
): unknown {
  return { type: 'assistant', timestamp: second(1), requestId: `req_${id}`, message: { id, usage }, ...more }
}

export function codex(
  at: number | null,
  input: unknown,
  output: unknown,
  more: Readonly<Record<string, unknown>> = {},
): unknown {
  const total = { input_tokens: input, output_tokens: output, ...more }
  const payload = { type: 'token_count', info: { total_token_usage: total } }
  return { ...(at === null ? {} : { timestamp: second(at) }), type: 'event_msg', payload }
}

export const codexSession = (id: unknown): unknown => ({
  timestamp: second(0),
  type: 'session_meta',
  payload: { id },
})

export function gemini(id: string, tokens: unknown, more: Readonly<Record<string, unknown>> = {}): unknown {
  return { id, timestamp: second(1), type: 'gemini', tokens, ...more }
}
