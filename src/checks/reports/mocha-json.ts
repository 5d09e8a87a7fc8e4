import { countIn, type Fields, fieldsOf, get, listIn, textIn } from './json.js'
import { type ReportReading, type TestStatus, unreadable } from './report.js'
import { createTally } from './tally.js'
import { relativePath } from './text.js'

export function isMochaJson(document: Fields): boolean {
  return countIn(fieldsOf(get(document, 'stats')), 'passes') !== null && Array.isArray(get(document, 'passes'))
}

const LISTS: readonly (readonly [list: string, status: TestStatus, count: string])[] = [
  ['passes', 'passed', 'passes'],
  // Also hooks that broke: they are in no other list, and the tests they belong to did not run.
  ['failures', 'failed', 'failures'],
  ['pending', 'skipped', 'pending'],
]

export function readMochaJson(document: Fields, root: string | null): ReportReading {
  const stats = fieldsOf(get(document, 'stats'))
  const tally = createTally(root)
  for (const [list, status, count] of LISTS) {
    const entries = listIn(document, list)
    const said = countIn(stats, count)
    if (said !== entries.length) return unreadable(`the summary counts ${said} ${list}, ${entries.length} are listed`)
    for (const entry of entries) {
      const test = fieldsOf(entry)
      if (test === null) return unreadable(`${list} has an entry that is not an object`)
      const file = textIn(test, 'file')
      const title = textIn(test, 'fullTitle') || textIn(test, 'title')
      const message = textIn(fieldsOf(get(test, 'err')), 'message')
      tally.add({ path: [relativePath(file, root), title], status, file, message })
    }
  }
  return { result: 'read', report: tally.report('mocha') }
}
