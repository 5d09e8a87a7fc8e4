import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { addDigest, FIRST_DIGEST } from '../../src/store/export/export-format.js'
import { exportLedger } from '../../src/store/export/export-ledger.js'
import { verifyExport } from '../../src/store/export/verify-export.js'
import { ledgerOnDisk, tamper } from './ledger-on-disk.js'

async function exported(dir: string): Promise<string[]> {
  const lines: string[] = []
  await exportLedger({ dir, url: null }, async (line) => {
    lines.push(line)
  })
  return lines
}

async function* each(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines
}

test('REQ-LEDGER-21 an export verifies with the public key alone', async () => {
  const dir = await ledgerOnDisk()
  const lines = await exported(dir)
  const pem = readFileSync(join(dir, 'ledger.ed25519.pub'), 'utf8')
  expect(lines).toHaveLength(14)
  expect(await verifyExport(each(lines), pem)).toEqual({
    ok: true,
    events: 12,
    streams: 3,
    key: 'given',
    problem: null,
  })
  expect(await verifyExport(each([...lines, '']))).toMatchObject({ ok: true, key: 'embedded' })
})

describe('REQ-LEDGER-21 a changed export is refused at the first bad line', () => {
  const swap = (lines: string[], a: number, b: number) =>
    lines.map((line, index) => (index === a ? lines[b] : index === b ? lines[a] : line) ?? '')
  const changes: [string, (lines: string[]) => string[], number, string][] = [
    ['a changed word', (lines) => lines.map((line) => line.replace('task:b 1', 'task:b 9')), 6, 'changed_line'],
    ['a line taken out', (lines) => lines.toSpliced(4, 1), 5, 'changed_line'],
    ['a line twice', (lines) => lines.toSpliced(4, 0, lines[4] ?? ''), 6, 'changed_line'],
    ['two lines swapped', (lines) => swap(lines, 3, 5), 4, 'changed_line'],
    ['the end cut off', (lines) => lines.slice(0, -1), 14, 'closing_missing'],
    ['the last event cut off', (lines) => lines.toSpliced(-2, 1), 13, 'bad_closing'],
    [
      'a changed time in the header',
      (lines) => lines.map((line) => line.replace('"created_at":"2', '"created_at":"1')),
      14,
      'bad_closing',
    ],
    ['a changed count', (lines) => lines.map((line) => line.replace('"count":12', '"count":11')), 14, 'bad_signature'],
    ['more after the end', (lines) => [...lines, lines[1] ?? ''], 15, 'after_closing'],
    [
      'another format',
      (lines) => lines.map((line) => line.replace('phaselock-ledger/1', 'phaselock-ledger/2')),
      1,
      'bad_header',
    ],
    ['nothing at all', () => [], 1, 'closing_missing'],
  ]
  for (const [name, change, line, code] of changes) {
    test(name, async () => {
      const report = await verifyExport(each(change(await exported(await ledgerOnDisk()))))
      expect(report).toMatchObject({ ok: false, problem: { line, code } })
    })
  }

  test('lines rewritten with new digests', async () => {
    const lines = await exported(await ledgerOnDisk())
    let digest = FIRST_DIGEST
    const rewritten = lines.map((line, index) => {
      if (index === 0 || index === lines.length - 1) return line
      const text = `${line.slice(0, line.lastIndexOf(',"digest"'))}}`.replace('agent:ada', 'agent:eve')
      const next = addDigest(text, digest)
      digest = next.digest
      return next.text
    })
    expect(await verifyExport(each(rewritten))).toMatchObject({ ok: false, problem: { line: 14, code: 'bad_closing' } })
  })

  test('signed again by somebody else', async () => {
    const dir = await ledgerOnDisk()
    const pem = readFileSync(join(dir, 'ledger.ed25519.pub'), 'utf8')
    const lines = await exported(dir)
    const { privateKey, publicKey } = generateKeyPairSync('ed25519')
    const forged = lines.slice(0, -1)
    forged[0] = JSON.stringify({
      ...JSON.parse(lines[0] ?? ''),
      public_key: publicKey.export({ type: 'spki', format: 'pem' }),
    })
    const { closing } = JSON.parse(lines.at(-1) ?? '')
    closing.sha256 = createHash('sha256')
      .update(forged.map((line) => `${line}\n`).join(''))
      .digest('hex')
    const signature = sign(null, Buffer.from(JSON.stringify(closing)), privateKey).toString('base64')
    forged.push(JSON.stringify({ closing, signature }))
    expect(await verifyExport(each(forged))).toMatchObject({ ok: true, key: 'embedded' })
    expect(await verifyExport(each(forged), pem)).toMatchObject({ ok: false, problem: { line: 1, code: 'bad_header' } })
  })
})

test('REQ-LEDGER-21 a ledger that was tampered with is not signed', async () => {
  const dir = await ledgerOnDisk()
  tamper(dir, "UPDATE event SET actor = 'agent:eve' WHERE seq = 5")
  const lines: string[] = []
  const write = async (line: string) => {
    lines.push(line)
  }
  await expect(exportLedger({ dir, url: null }, write)).rejects.toMatchObject({
    code: 'tampered',
    message: expect.stringContaining('Event 5'),
  })
  expect(lines.some((line) => line.includes('signature'))).toBe(false)
})
