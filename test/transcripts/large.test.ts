import { execFile } from 'node:child_process'
import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { READ_BYTES_MAX } from '../../src/transcripts/read-transcript.js'
import { claude, jsonl, Place } from './place.js'

const LARGE_BYTES = 200 * 1024 * 1024
const RESIDENT_MEGABYTES_MAX = 200
const place = new Place()
afterAll(() => place.remove())

interface Said {
  readonly calls: number
  readonly turns: number
  readonly malformed: number
  readonly skippedBytes: number
  readonly cursorBytes: number
  readonly output: number
  readonly residentMegabytes: number
}

async function readInChild(path: string): Promise<Said> {
  const program = fileURLToPath(new URL('read-large.mjs', import.meta.url))
  const words = ['--max-old-space-size=64', program, path, place.folders[0]?.path ?? '']
  const { stdout } = await promisify(execFile)(process.execPath, words)
  return JSON.parse(stdout) as Said
}

/** Messages of three lines each, with a tool's output between them, until the file is large enough. */
function writeLarge(fd: number): number {
  const result = jsonl({ type: 'user', message: { content: 'x'.repeat(12_000) } })
  let messages = 0
  for (let bytes = 0; bytes < LARGE_BYTES; ) {
    const block: string[] = []
    for (let index = 0; index < 100; index += 1) {
      const id = `msg_${messages}`
      for (const output of [1, 7, 5]) block.push(jsonl(claude(id, { input_tokens: 3, output_tokens: output })), result)
      messages += 1
    }
    bytes += writeSync(fd, block.join(''))
  }
  return messages
}

describe('a transcript of 200 MB', () => {
  it('[REQ-TRANSCRIPT-9] it is read call by call in a process with 64 MB of heap, to the last token', async () => {
    const path = place.write('claude-code', '')
    const fd = openSync(path, 'w')
    const messages = writeLarge(fd)
    closeSync(fd)
    const said = await readInChild(path)
    expect(said).toMatchObject({ turns: messages, malformed: 0, output: messages * 7 })
    expect(said.calls).toBeGreaterThanOrEqual(LARGE_BYTES / READ_BYTES_MAX)
    expect(said.cursorBytes).toBeLessThan(100_000)
    expect(said.residentMegabytes).toBeLessThan(RESIDENT_MEGABYTES_MAX)
  })

  it('[REQ-TRANSCRIPT-9] one line of 200 MB without an end is passed over with as little', async () => {
    const path = place.write('claude-code', '')
    const fd = openSync(path, 'w')
    ftruncateSync(fd, LARGE_BYTES)
    writeSync(fd, `\n${jsonl(claude('last', { input_tokens: 1, output_tokens: 2 }))}`, LARGE_BYTES)
    closeSync(fd)
    const said = await readInChild(path)
    expect(said).toMatchObject({ turns: 1, malformed: 1, skippedBytes: LARGE_BYTES, output: 2 })
    expect(said.residentMegabytes).toBeLessThan(RESIDENT_MEGABYTES_MAX)
  })

  it('[REQ-TRANSCRIPT-9] lines that are made to take as much memory as they can stay within it', async () => {
    const path = place.write('claude-code', `${`[${'{},'.repeat(340_000)}{}]\n`.repeat(12)}`)
    const said = await readInChild(path)
    expect(said).toMatchObject({ turns: 0, malformed: 12 })
    expect(said.residentMegabytes).toBeLessThan(RESIDENT_MEGABYTES_MAX)
  })
})
