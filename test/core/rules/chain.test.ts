import { describe, expect, it } from 'vitest'
import { countWhile, extend, getLink, type Link } from '../../../src/core/rules/chain.js'

function chainOf(length: number): Link | null {
  let chain: Link | null = null
  for (let position = 1; position <= length; position += 1)
    chain = extend(chain, { at: position, text: { value: '' }, tool: null, mark: 0, position })
  return chain
}

describe('chains', () => {
  it('[REQ-RULE-18] every link is found, from every length', () => {
    for (let length = 1; length <= 70; length += 1) {
      const chain = chainOf(length)
      for (let count = 1; count <= length; count += 1)
        expect(chain === null ? null : getLink(chain, count)).toMatchObject({ count, entry: { position: count } })
    }
  })

  it('[REQ-RULE-18] the newest that hold are counted, from none to all', () => {
    expect(countWhile(null, () => true)).toBe(0)
    for (let length = 1; length <= 70; length += 1)
      for (let from = 1; from <= length + 1; from += 1)
        expect(countWhile(chainOf(length), (entry) => entry.position >= from)).toBe(length + 1 - from)
  })

  it('[REQ-RULE-18] the way through ten thousand links takes a few dozen steps', () => {
    const chain = chainOf(10_000)
    for (const from of [1, 2, 777, 5000, 9998, 10_001]) {
      let asked = 0
      const holds = (entry: { readonly position: number }) => {
        asked += 1
        return entry.position >= from
      }
      expect(countWhile(chain, holds)).toBe(10_001 - from)
      expect(asked, `from ${from}`).toBeLessThan(100)
    }
  })
})
