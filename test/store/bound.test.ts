import { expect, test } from 'vitest'
import type { Json } from '../../src/core/json.js'
import { boundData } from '../../src/store/redaction/bound-data.js'
import { sha256 } from './events.js'

const EVENT_BYTES_MAX = 256 * 1024
const size = (value: Json) => Buffer.byteLength(JSON.stringify(value))

test('REQ-LEDGER-23 data within the bounds comes back unchanged', () => {
  const data = { text: 'é😀'.repeat(1_000), list: [1, null, true, { deep: 'x' }], empty: {}, none: [] }
  expect(boundData(data)).toEqual(data)
})

test('REQ-LEDGER-23 a long text is cut to a beginning with its length and hash', () => {
  const text = 'abcdefghij'.repeat(5_000)
  const cut = String(boundData({ text }).text)
  expect(cut).toMatch(/^(abcdefghij)+[a-j]{0,9}… \[cut: 50000 characters, sha256 [0-9a-f]{64}\]$/)
  expect(cut).toContain(sha256(text))
  expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(16 * 1024)
  expect(boundData({ text: cut })).toEqual({ text: cut })
})

test('REQ-LEDGER-23 a cut never leaves half of a surrogate pair', () => {
  for (let shift = 0; shift < 5; shift += 1) {
    const cut = String(boundData({ text: 'x'.repeat(shift) + '😀'.repeat(1_000) }, 1_000).text)
    expect(cut).not.toMatch(/\p{Surrogate}/u)
    expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(1_000)
  }
})

test('REQ-LEDGER-23 control characters count as what they take in JSON', () => {
  const text = '\u0001'.repeat(16_000)
  expect(size(boundData({ text }))).toBeLessThan(17_000)
})

test('REQ-LEDGER-23 one event never grows over its bound, whatever its shape', () => {
  const text = 'x'.repeat(16_000)
  const shapes: Record<string, Json>[] = [
    { list: Array.from({ length: 100 }, () => text) },
    Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`field_${index}`, index])),
    { list: Array.from({ length: 500_000 }, (_, index) => index) },
    { list: Array.from({ length: 200_000 }, () => []) },
    { ['k'.repeat(400_000)]: 1 },
  ]
  for (const shape of shapes) {
    const bounded = boundData({ args: shape, code: 'forbidden_tool' })
    expect(bounded.code).toBe('forbidden_tool')
    expect(size(bounded)).toBeLessThanOrEqual(EVENT_BYTES_MAX)
    expect(JSON.stringify(bounded)).toContain('[cut: ')
  }
})

test('REQ-LEDGER-23 data nested too deep is cut, not refused', () => {
  let deep: Json = 'end'
  for (let level = 0; level < 5_000; level += 1) deep = { deep }
  expect(JSON.stringify(boundData({ deep }))).toContain('[cut: more than 64 levels]')
})
