import { describe, expect, it } from 'vitest'
import { addsSnapshotsOnly, parseSnapshots } from '../../src/checks/test-files/snapshots.js'
import { findSnapshotTest } from '../../src/core/paths/snapshot-names.js'

const HEAD = '// Vitest Snapshot v1, https://vitest.dev/guide/snapshot.html\n\n'
const OLD = 'exports[`old 1`] = `1`;\n'
const NEW = 'exports[`new \\`quoted\\` 1`] = `\n{\n  "a": 1,\n}\n`;\n'

describe('snapshot files', () => {
  it.each([
    ['an entry that is changed', `${HEAD}${OLD.replace('`1`', '`2`')}`],
    ['an entry that is gone', `${HEAD}${NEW}`],
    ['an entry twice', `${HEAD}${OLD}${OLD}`],
    ['code after the entries', `${HEAD}${OLD}exports['old 1'] = '2'\n`],
    ['code in a text', `${HEAD}${OLD}exports[\`new 1\`] = \`\${exports['old 1'] = '2'}\`;\n`],
    ['code before the entries', `globalThis.x = 1\n${OLD}`],
    ['a text without an end', `${HEAD}${OLD}exports[\`new 1\`] = \`1`],
  ])('[REQ-PIN-5] %s is more than an addition', (_what, now) => {
    expect(addsSnapshotsOnly(`${HEAD}${OLD}`, now)).toBe(false)
  })

  it('[REQ-PIN-5] entries may be added', () => {
    expect(addsSnapshotsOnly(`${HEAD}${OLD}`, `${HEAD}${NEW}\n${OLD}`)).toBe(true)
    expect([...(parseSnapshots(`${HEAD}${NEW}\n${OLD}`)?.keys() ?? [])]).toEqual(['new \\`quoted\\` 1', 'old 1'])
    expect(parseSnapshots('')?.size).toBe(0)
  })

  it('[REQ-PIN-5] belong to the test file beside their folder', () => {
    expect(findSnapshotTest('tests/__snapshots__/a.test.js.snap')).toBe('tests/a.test.js')
    expect(findSnapshotTest('__snapshots__/a.test.js.snap')).toBe('a.test.js')
    expect(findSnapshotTest('tests/a.test.js')).toBeNull()
    expect(findSnapshotTest('tests/__snapshots__/helper.js')).toBeNull()
  })
})
