import { describe, expect, it } from 'vitest'
import { makeOutsideMatcher } from '../../../src/checks/observed-runs/outside-tree.js'
import { readCoverage } from '../../../src/checks/reports/coverage.js'
import { REPORT_CHARS_MAX } from '../../../src/checks/reports/report.js'
import { recorded } from './fixtures.js'

const lcov = (...lines: readonly string[]) => readCoverage({ format: 'lcov', text: `${lines.join('\n')}\n` })
const cobertura = (text: string) => readCoverage({ format: 'cobertura', text })
const classOf = (lines: string, file = 'a.js'): string =>
  `<class name="a" filename="${file}"><methods><method><lines><line number="9" hits="0"/></lines></method></methods><lines>${lines}</lines></class>`

describe('coverage', () => {
  it.each([
    ['coverage/lcov/py', { linesFound: 4, linesHit: 3, percent: 75 }],
    ['coverage/lcov/vitest', { linesFound: 2, linesHit: 1, percent: 50 }],
    ['coverage/cobertura/py', { linesFound: 4, linesHit: 3, percent: 75 }],
    ['coverage/cobertura/vitest', { linesFound: 2, linesHit: 1, percent: 50 }],
  ])('[REQ-REPORT-10] %s, as it was recorded', (name, expected) => {
    const format = name.includes('lcov') ? 'lcov' : 'cobertura'
    expect(readCoverage({ format, text: recorded(name).reportText ?? '' })).toEqual(expected)
  })

  it('[REQ-REPORT-10] lines decide, not the sums that are beside them', () => {
    expect(lcov('SF:a.js', 'DA:1,1', 'DA:2,0', 'LF:2', 'LH:2', 'end_of_record')).toMatchObject({ percent: 50 })
    const lines = '<line number="1" hits="1"/><line number="2" hits="0"/>'
    expect(cobertura(`<coverage lines-valid="2" lines-covered="2">${classOf(lines)}</coverage>`)).toMatchObject({
      percent: 50,
    })
  })

  it('[REQ-REPORT-10] a line of two records is one line, and ran when it ran in one of them', () => {
    const record = ['SF:a.js', 'DA:1,0', 'DA:2,3', 'end_of_record']
    expect(lcov(...record, 'SF:a.js', 'DA:1,1', 'DA:2,0', 'end_of_record')).toEqual({
      linesFound: 2,
      linesHit: 2,
      percent: 100,
    })
  })

  it('[REQ-REPORT-10] sums are taken where there are no lines', () => {
    expect(lcov('SF:a.js', 'LF:4', 'LH:9', 'end_of_record', 'SF:b.js', 'DA:1,0', 'end_of_record')).toMatchObject({
      linesFound: 5,
      linesHit: 4,
    })
    expect(cobertura('<coverage lines-valid="8" lines-covered="2"/>')).toMatchObject({ percent: 25 })
  })

  it('[REQ-REPORT-12] files outside the work tree do not count', () => {
    const isOutside = (file: string): boolean => file.startsWith('/usr/')
    const read = (format: 'lcov' | 'cobertura', text: string) => readCoverage({ format, text, isOutside })
    const own = 'SF:a.js\nDA:1,1\nend_of_record\n'
    const other = 'SF:/usr/b.js\nDA:1,0\nDA:2,0\nend_of_record\nSF:/usr/c.js\nLF:4\nLH:0\nend_of_record\n'
    expect(read('lcov', own + other)).toMatchObject({ linesFound: 1, percent: 100 })
    expect(read('lcov', other)).toBeNull()
    const [ran, not] = ['<line number="1" hits="1"/>', '<line number="1" hits="0"/>']
    const sums = 'lines-valid="2" lines-covered="1"'
    const outside = classOf(not, '/usr/b.py')
    expect(read('cobertura', `<coverage ${sums}>${classOf(ran)}${outside}</coverage>`)).toMatchObject({ percent: 100 })
    expect(read('cobertura', `<coverage ${sums}>${outside}</coverage>`)).toBeNull()
  })

  it('[REQ-REPORT-12] a path that leads out of the tree is outside if it is absolute or the file exists', () => {
    const tree = import.meta.dirname
    const isOutside = makeOutsideMatcher(tree)
    for (const file of ['a.js', `${tree}/a.js`, `file://${tree}/a.js`, '../no/such/file.js', './a.js', '..a.js'])
      expect([file, isOutside(file)]).toEqual([file, false])
    for (const file of [
      '/usr/lib/a.py',
      'file:///usr/a.js',
      '../../../runtime/test-guards/node/guard.cjs',
      `${tree}-other/a.js`,
    ])
      expect([file, isOutside(file)]).toEqual([file, true])
  })

  it('[REQ-REPORT-10] a share just below a hundredth is not rounded up', () => {
    const lines = Array.from({ length: 30_000 }, (_, index) => `DA:${index + 1},${index === 0 ? 0 : 1}`)
    expect(lcov('SF:a.js', ...lines, 'end_of_record')?.percent).toBe(99.99)
  })

  it.each([
    ['nothing', () => lcov('')],
    ['no line at all', () => lcov('SF:a.js', 'end_of_record')],
    ['a record without an end', () => lcov('SF:a.js', 'DA:1,1')],
    ['a count that is no number', () => lcov('SF:a.js', 'DA:1,many', 'end_of_record')],
    ['a negative count', () => lcov('SF:a.js', 'DA:1,-1', 'end_of_record')],
    ['a line outside a file', () => lcov('DA:1,1', 'end_of_record')],
    ['XML instead of lcov', () => lcov('<coverage/>')],
    ['another root', () => cobertura('<report lines-valid="1" lines-covered="1"/>')],
    ['more covered lines than lines', () => cobertura('<coverage lines-valid="1" lines-covered="2"/>')],
    ['XML that is not well formed', () => cobertura('<coverage lines-valid="1" lines-covered="1">')],
    ['an entity', () => cobertura('<!DOCTYPE c [<!ENTITY a "1">]><coverage lines-valid="&a;" lines-covered="1"/>')],
    ['too much', () => cobertura(' '.repeat(REPORT_CHARS_MAX + 1))],
  ])('[REQ-REPORT-10] a report with %s gives no coverage', (_name, read) => {
    expect(read()).toBeNull()
  })
})
