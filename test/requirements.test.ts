import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const ROOT = new URL('..', import.meta.url).pathname
const ID = /REQ-[A-Z]+-\d+/g

function testFiles(folder = join(ROOT, 'test')): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return testFiles(path)
    return /\.(test|suite)\.ts$|suite.*\.ts$/.test(entry.name) ? [path] : []
  })
}

const stated = [
  ...readFileSync(join(ROOT, 'docs/internals/requirements.md'), 'utf8').matchAll(/^\| (REQ-[A-Z]+-\d+) \|/gm),
].map(([, id]) => id ?? '')
const cited = new Set(testFiles().flatMap((file) => readFileSync(file, 'utf8').match(ID) ?? []))

describe('requirements', () => {
  it('[REQ-TIDY-5] every requirement is cited by a test', () => {
    expect(stated.length).toBeGreaterThan(100)
    expect(stated.filter((id) => !cited.has(id))).toEqual([])
  })

  it('[REQ-TIDY-5] every id that a test cites is a requirement, and each is stated once', () => {
    expect([...cited].filter((id) => !stated.includes(id))).toEqual([])
    expect(stated.filter((id, index) => stated.indexOf(id) !== index)).toEqual([])
  })

  it('[REQ-TIDY-5] every id that the code names is a requirement', () => {
    const source = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.ts'),
    )
    const named = source.flatMap((name) => readFileSync(join(ROOT, 'src', name), 'utf8').match(ID) ?? [])
    expect(named.length).toBeGreaterThan(0)
    expect(named.filter((id) => !stated.includes(id))).toEqual([])
  })
})
