import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { TreeTasks } from '../../src/app/trees/tree-tasks.js'
import { listDifferences, type TreeIndex } from '../../src/tree/tree-contents.js'

const TREE = '/tree'
const task = { id: 't', workspace: TREE }
const before = toIndex({ 'src/z.js': 'file 1' })

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'phaselock-tree-tasks-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

function toIndex(entries: Readonly<Record<string, string>>): TreeIndex {
  return { entries, packages: {}, rules: [] }
}

function compare(index: TreeIndex, expected: TreeIndex) {
  return { index, differences: listDifferences(expected, index) }
}

it('[REQ-RECONCILE-9] a change does not hide behind thousands of files that are removed afterwards', () => {
  const tasks = new TreeTasks(dir)
  const junk = Object.fromEntries(Array.from({ length: 20_000 }, (_, name) => [`junk/${name}`, 'file 0']))
  const changed = toIndex({ ...junk, 'src/z.js': 'file 2' })
  tasks.keepOpen(TREE, ['t'], before, compare(changed, before))
  const left = toIndex({ 'src/z.js': 'file 2' })
  expect(tasks.listUnexplained(task, compare(left, changed))).toEqual([{ path: 'src/z.js', kind: 'modified' }])
})

it('[REQ-RECONCILE-9] a change that was undone is forgotten, one that was changed again keeps its first content', () => {
  const tasks = new TreeTasks(dir)
  const first = toIndex({ 'src/z.js': 'file 2' })
  tasks.keepOpen(TREE, ['t'], before, compare(first, before))
  const second = toIndex({ 'src/z.js': 'file 3' })
  tasks.keepOpen(TREE, ['t'], first, compare(second, first))
  expect(tasks.findOpen(TREE, 't')).toEqual([{ path: 'src/z.js', kind: 'modified', was: 'file 1', now: 'file 3' }])
  tasks.keepOpen(TREE, ['t'], second, compare(before, second))
  expect(tasks.findOpen(TREE, 't')).toEqual([])
  expect(tasks.listUnexplained(task, compare(before, before))).toEqual([])
})
