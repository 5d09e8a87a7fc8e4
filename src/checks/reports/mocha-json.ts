import { asFields, countIn, type Fields, get, getText, listIn } from './json.js'
import { makeUnreadable, type ReportReading, type TestStatus } from './report.js'
import { createTally } from './tally.js'
import { toRelativePath } from './text.js'

export function isMochaJson(document: Fields): boolean {
  return countIn(asFields(get(document, 'stats')), 'passes') !== null && Array.isArray(get(document, 'passes'))
}

const LISTS: readonly (readonly [list: string, status: TestStatus, count: string])[] = [
  ['passes', 'passed', 'passes'],
  // Also hooks that broke: they are in no other list, and the tests they belong to did not run.
  ['failures', 'failed', 'failures'],
  ['pending', 'skipped', 'pending'],
]

export function readMochaJson(document: Fields, root: string | null): ReportReading {
  const stats = asFields(get(document, 'stats'))
  const tally = createTally(root)
  for (const [list, status, count] of LISTS) {
    const entries = listIn(document, list)
    const said = countIn(stats, count)
    if (said !== entries.length)
      return makeUnreadable(`the summary counts ${said} ${list}, but ${entries.length} are listed`)
    for (const entry of entries) {
      const test = asFields(entry)
      if (test === null) return makeUnreadable(`${list} has an entry that is not an object`)
      const file = getText(test, 'file')
      const title = getText(test, 'fullTitle') || getText(test, 'title')
      const message = getText(asFields(get(test, 'err')), 'message')
      tally.add({ path: [toRelativePath(file, root), title], status, file, message })
    }
  }
  return { result: 'read', report: tally.report('mocha') }
}
