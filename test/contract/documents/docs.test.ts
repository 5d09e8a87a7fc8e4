import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { understood } from './phase.js'

const DOCS = readFileSync(new URL('../../../docs/documents.md', import.meta.url), 'utf8')
const samples = [...DOCS.matchAll(/^(`{3,4})markdown\n([\s\S]*?)^\1$/gm)]
  .map(([, , text]) => text ?? '')
  .filter((text) => text.startsWith('## Checkpoint'))

describe('the page about documents', () => {
  it('[REQ-DOC-2] shows four ways to demand evidence, and each is understood without a warning', async () => {
    expect(samples).toHaveLength(4)
    for (const sample of samples) {
      const { fields, problems } = await understood(sample.replace('## Checkpoint', '### Checkpoint'))
      expect(problems, sample).toEqual([])
      expect(fields.length, sample).toBeGreaterThan(0)
    }
  })

  it.each(
    [...DOCS.matchAll(/^\| `([^|]+)` \| (all|numbers|texts|booleans|the same)/gm)].map(([, rules]) => rules ?? ''),
  )('[REQ-DOC-2] every rule of its table is known: %s', async (rules) => {
    for (const rule of rules.split(/`, `/)) {
      const words = rule.replace(/\bN\b/, '2').replace(/\bM\b/, '3').replace(/\bX\b/, 'true').replace(/\bP\b/, '^a$')
      const types = ['integer', 'string', 'boolean', 'array']
      const tried = await Promise.all(types.map((type) => understood(`### Checkpoint\n\n- \`f\` (${type}, ${words})`)))
      expect(
        tried.flatMap((one) => one.problems).filter((one) => one.startsWith('unknown')),
        rule,
      ).toEqual([])
      expect(tried.some((one) => one.fields.length > 0) || words.startsWith('observed'), rule).toBe(true)
    }
  })
})
