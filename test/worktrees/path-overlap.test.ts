import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { matchesGlob } from '../../src/contract/glob.js'
import { mayOverlap, prefixPatterns, writeOverlap } from '../../src/core/paths/path-overlap.js'
import { cpuMs } from '../cpu-time.js'
import { depth } from '../depth.js'

const NAMES = ['a', 'b', 'ab', 'ba', 'a.b', '.a', 'aab', 'A']
const PATHS = [
  ...NAMES,
  ...NAMES.flatMap((one) => NAMES.map((two) => `${one}/${two}`)),
  ...NAMES.flatMap((one) => ['a', 'ab', '.a'].flatMap((two) => ['b', 'a.b'].map((three) => `${one}/${two}/${three}`))),
]
const PARTS = [
  ...['a', 'b', 'ab', '.a', '*', '**', '?', 'a*', '*b', '*.b', '?b', 'a?', 'a**', '**b', '[ab]', '[!a]b', '{a,b}'],
  ...[
    '{a,b}*',
    '{a/b,b}',
    '{a,{b,ab}}',
    '{a}',
    '{a..b}',
    '{a,**}',
    'a+',
    '!a',
    '@a',
    '(a|b)',
    '\\*',
    '"a"',
    '',
    '.',
    '..',
  ],
]
const patterns = fc
  .array(fc.constantFrom(...PARTS), { minLength: 1, maxLength: 4 })
  .map((parts) => parts.join('/'))
  .filter((one) => one !== '')

const DISJOINT = [
  ['src/**', 'test/**'],
  ['src/**', 'srcs/**'],
  ['*.ts', '*.js'],
  ['src/*.ts', 'src/*/*.ts'],
  ['**/*.test.ts', 'src/*.css'],
  ['{src,lib}/**', '{docs,test}/**'],
  ['a?c', 'a?d'],
  ['docs/a*.md', 'docs/b*.md'],
  ['README.md', 'docs/**'],
] as const

const RUNS = depth(1000, 3000)

const MEETING = [
  ['src/**', 'src/**'],
  ['**', 'a'],
  ['src/**', 'src'],
  ['**/*.test.ts', 'src/**'],
  ['*.ts', 'a.*'],
  ['{src,lib}/**', 'lib/x'],
  ['src/[ab].ts', 'src/c.ts'],
] as const

describe('paths that two patterns share', () => {
  it('[REQ-LEASES-3] no common path of two patterns is missed', () => {
    fc.assert(
      fc.property(patterns, patterns, (one, other) => {
        const shared = PATHS.find((path) => matchesGlob(one, path) && matchesGlob(other, path))
        if (shared !== undefined) expect(mayOverlap(one, other), `${one} and ${other} share ${shared}`).toBe(true)
      }),
      { numRuns: RUNS },
    )
  })

  it('[REQ-LEASES-3] it is the same from both sides', () => {
    fc.assert(fc.property(patterns, patterns, (one, other) => mayOverlap(one, other) === mayOverlap(other, one)))
  })

  it.each(DISJOINT)('[REQ-LEASES-3] %s and %s share nothing', (one, other) => {
    expect([mayOverlap(one, other), mayOverlap(other, one)]).toEqual([false, false])
  })

  it.each(MEETING)('[REQ-LEASES-3] %s and %s may share a path', (one, other) => {
    expect([mayOverlap(one, other), mayOverlap(other, one)]).toEqual([true, true])
  })

  it('[REQ-LEASES-3] a pattern with a range may match what its dots do not say', () => {
    expect(matchesGlob('a.b/{a..c}', 'a/b/a')).toBe(true)
    expect(mayOverlap('a.b/{a..c}', 'a/b/a')).toBe(true)
  })

  it('[REQ-LEASES-3] long and deeply braced patterns are decided at once', () => {
    const deep = `${'{a,'.repeat(200)}b${'}'.repeat(200)}`
    const wide = '{a,b}'.repeat(300)
    const stars = '*a'.repeat(1500)
    const began = cpuMs()
    expect([mayOverlap(deep, 'zz'), mayOverlap(wide, 'zz'), mayOverlap(stars, `${stars}b`)]).toEqual([
      true,
      true,
      false,
    ])
    expect(cpuMs() - began).toBeLessThan(5000)
  })

  it('[REQ-LEASES-3] what one side is forbidden as a whole folder is not an overlap', () => {
    const all = { allowed: ['**'], forbidden: ['src/**'] }
    expect(writeOverlap(all, { allowed: ['src/a/**'], forbidden: [] })).toBeNull()
    expect(writeOverlap({ allowed: ['src/a/**'], forbidden: [] }, all)).toBeNull()
    expect(writeOverlap(all, { allowed: ['src*/a'], forbidden: [] })).not.toBeNull()
    expect(writeOverlap(all, { allowed: ['lib/**'], forbidden: [] })).toEqual({ mine: '**', theirs: 'lib/**' })
  })

  it('[REQ-LEASES-3] a tree inside another one is written under its folder', () => {
    expect(prefixPatterns('packages/a', ['src/**', './x'])).toEqual(['packages/a/src/**', 'packages/a/x'])
    expect(prefixPatterns('odd{x}', ['src/**'])).toEqual(['**'])
  })
})
