import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { tableOfRules } from './catalogue.js'

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/internals/inverted-run-rules.md'), 'utf8')
const TYPES = readFileSync(join(import.meta.dirname, '../../src/inverter/types.ts'), 'utf8')

function namesOf(type: string): readonly string[] {
  const [, list] = new RegExp(`export type ${type} =([^]*?)\\n\\n`).exec(TYPES) ?? []
  return [...(list ?? '').matchAll(/'(\w+)'/g)].map(([, name]) => name ?? '')
}

describe('docs/internals/inverted-run-rules.md', () => {
  it('[REQ-INVERT-9] lists every assertion of the tables with its rule, and no other', () => {
    const lines = PAGE.split('\n').filter((line) => /^\| (JavaScript|Python|Go|Rust) \|/.test(line))
    expect(lines).toEqual(tableOfRules())
  })

  it.each(['RuleName', 'LeftReason', 'NotJudgedReason'])('[REQ-INVERT-9] explains each %s', (type) => {
    expect(namesOf(type).length).toBeGreaterThan(4)
    expect(namesOf(type).filter((name) => !PAGE.includes(`| \`${name}\` |`))).toEqual([])
  })
})
