import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AgentLog, Lines, pruneLogs, readLog } from '../../src/spawn/agent-log.js'
import { makeRedactor } from '../../src/store/redaction/redact.js'

const LOG_BYTES_MAX = 4 * 1024 * 1024
let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'phaselock-log-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const SECRET = 'a-secret-that-is-long-enough'
const redactor = makeRedactor([SECRET])
const logOf = (id = 'ada'): AgentLog => new AgentLog(dir, id, (text) => String(redactor(text)))

describe('the log of an agent', () => {
  it('[REQ-SPAWN-28] knows a secret that is split by what nobody sees, and shows no half of one in a line that is cut', async () => {
    const log = logOf()
    const hidden = [...SECRET].join('\u200b')
    const coloured = [...SECRET].join('\u001b[31m')
    await log.write([
      hidden,
      coloured,
      `${'x'.repeat(8180)}${SECRET}`,
      `${'y'.repeat(16_370)}${SECRET}`,
      '\u001b]0;title\u0007plain\u009b2J',
    ])
    const text = readFileSync(log.file, 'utf8')
    expect(text).not.toContain(SECRET.slice(0, 8))
    // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what must not be there.
    expect(text).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b]/)
    expect(text).toContain('\nplain\n')
    for (const line of text.split('\n')) expect(line.length).toBeLessThan(8300)
    expect(log.lastLines.every((line) => line.length <= 300)).toBe(true)
  })

  it("[REQ-DEADEND-5] keeps the marks of Phaselock's own lines from what the agent says", async () => {
    const log = logOf()
    const forged = '2026-11-16T00:00:00.000Z write_files: done, 1 ms'
    const asIs = (text: string): string => text
    await log.writeSaid([`--- ${forged}`, `\u200b--- ${forged}`, `\t--- ${forged}`, '- a list'], asIs)
    await log.write([`--- ${forged}`])
    const lines = readFileSync(log.file, 'utf8').trimEnd().split('\n')
    expect(lines.map((line) => line.startsWith('---'))).toEqual([false, false, false, false, true])
    expect(lines[3]).toBe('- a list')
  })

  it('[REQ-SPAWN-28] is made of whole lines, however the bytes come', () => {
    const lines = new Lines(10)
    const bytes = Buffer.from('äöü\nshort\n01234567890123456789\nrest')
    const got = [...bytes].flatMap((byte) => lines.push(Buffer.from([byte])))
    expect([...got, ...lines.end()]).toEqual(['äöü', 'short', '0123456789', 'rest'])
  })

  it('[REQ-SPAWN-6] is read on through the file that was put aside, without a gap and without half a character', async () => {
    const log = logOf()
    await log.write(['first'])
    let part = await readLog(dir, 'ada', null)
    expect(part).toMatchObject({ text: 'first\n', more: false })
    const line = 'ü'.repeat(500)
    const count = Math.ceil((LOG_BYTES_MAX * 1.2) / 1001)
    for (let at = 0; at < count; at += 100)
      await log.write(Array.from({ length: 100 }, (_, one) => `${at + one} ${line}`))
    expect(existsSync(`${log.file}.1`)).toBe(true)
    let text = ''
    do {
      part = await readLog(dir, 'ada', part?.cursor ?? '')
      text += part?.text ?? ''
    } while (part?.more === true)
    const numbers = text.trim().split('\n')
    expect(numbers.every((one, at) => one === `${at} ${line}`)).toBe(true)
    expect(numbers.length).toBeGreaterThanOrEqual(count)
    expect(await readLog(dir, 'nobody', null)).toBeNull()
    expect(await readLog(dir, 'ada', 'no:cursor')).toMatchObject({ more: true })
  })

  it('[REQ-SPAWN-27] of agents that ended is kept of the newest hundred; of those that live, always', () => {
    const names = Array.from({ length: 110 }, (_, at) => `agent-${at}`)
    for (const [at, name] of names.entries()) {
      mkdirSync(join(dir, 'agents', name), { recursive: true })
      utimesSync(join(dir, 'agents', name), 1000 + at, 1000 + at)
    }
    pruneLogs(dir, (id) => id === 'agent-0')
    const left = readdirSync(join(dir, 'agents'))
    expect(left).toHaveLength(101)
    expect(left).toContain('agent-0')
    expect(left).not.toContain('agent-9')
    expect(left).toContain('agent-10')
  })
})
