import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { TreeMarks } from '../../src/app/trees/tree-marks.js'
import { Trees } from '../../src/app/trees/trees.js'
import type { Change } from '../../src/tree/change.js'
import type { TreeIndex } from '../../src/tree/tree-contents.js'

const TREE = '/tmp/phaselock-no-such-tree'
const sha = (name: string): string => name.padEnd(64, '0')
const file = (name: string): string => `file ${sha(name)}`

let dir: string
let trees: Trees
beforeEach(() => {
  dir = join(mkdtempSync(join(tmpdir(), 'phaselock-marks-')), 'trees')
  mkdirSync(dir)
  trees = new Trees(dir)
  trees.settle(TREE, indexOf({ 'a.js': file('a1'), 'b.js': file('b1') }))
})
afterEach(() => rmSync(join(dir, '..'), { recursive: true, force: true }))

function indexOf(entries: Readonly<Record<string, string>>, more: Partial<TreeIndex> = {}): TreeIndex {
  return { entries: Object.assign(Object.create(null), entries), packages: Object.create(null), rules: [], ...more }
}

function change(path: string, kind: Change['kind'], more: Partial<Change> = {}): Change {
  return { path, kind, type: 'file', bytes: 1, problem: null, sha256: kind === 'deleted' ? null : sha('x'), ...more }
}

const snapshot = (): string => join(dir, readdirSync(dir).find((name) => name.endsWith('.json.gz')) ?? '')
const read = (moment: string, of = trees) => of.readMark(TREE, 'task', moment)?.entries
const restart = (): Trees => new Trees(dir)

test('[REQ-RECONCILE-5] the tree of a moment stays as it was then, whatever is allowed or accepted later', () => {
  trees.mark(TREE, 'task', 'PLAN')
  trees.explain(TREE, [change('c.js', 'created'), change('b.js', 'deleted')])
  trees.mark(TREE, 'task', 'TDD')
  trees.settle(TREE, indexOf({ 'a.js': file('a2'), 'c.js': file('x'), 'd.js': file('d1') }))
  trees.mark(TREE, 'task', 'IMPL')
  trees.explain(TREE, [change('a.js', 'modified'), change('d.js', 'deleted')])
  for (const of of [trees, restart()]) {
    expect(read('PLAN', of)).toEqual({ 'a.js': file('a1'), 'b.js': file('b1') })
    expect(read('TDD', of)).toEqual({ 'a.js': file('a1'), 'c.js': file('x') })
    expect(read('IMPL', of)).toEqual({ 'a.js': file('a2'), 'c.js': file('x'), 'd.js': file('d1') })
    expect(of.findExpectedEntries(TREE)).toEqual({ 'a.js': file('x'), 'c.js': file('x') })
  }
})

test('[REQ-RECONCILE-5] a moment that is marked again has nothing of its first tree', () => {
  trees.explain(TREE, [change('c.js', 'created')])
  trees.mark(TREE, 'task', 'TDD')
  trees.accept(TREE, indexOf({ 'a.js': file('a3') }), ['a.js', 'b.js', 'c.js'])
  trees.mark(TREE, 'task', 'TDD')
  for (const of of [trees, restart()]) expect(read('TDD', of)).toEqual({ 'a.js': file('a3') })
})

test('[REQ-RECONCILE-1] a link that an allowed call made may point anywhere until the gate, and nowhere else after it', () => {
  trees.explain(TREE, [change('link', 'created', { type: 'link', sha256: null })])
  expect(trees.findExpectedEntry(TREE, 'link')).toBe('link ?')
  trees.settle(TREE, indexOf({ 'a.js': file('a1'), 'b.js': file('b1'), link: 'link a.js' }))
  for (const of of [trees, restart()]) expect(of.findExpectedEntry(TREE, 'link')).toBe('link a.js')
})

test('[REQ-TREE-9] what a killed commit left behind does not become part of the expected tree', () => {
  const left = `.phaselock-${'0'.repeat(32)}`
  for (const packages of [{}, { node_modules: 'other' }]) {
    trees.settle(TREE, indexOf({ 'a.js': file('a1'), [left]: file('l'), 'e.js': file('e') }, { packages }))
    expect(Object.keys(restart().findExpectedEntries(TREE) ?? {})).toEqual(['a.js', 'e.js'])
  }
})

test('[REQ-RECONCILE-5] packages and ignore rules that changed are accepted with the tree', () => {
  const rules = [{ base: '', text: 'out/\n' }]
  trees.settle(TREE, indexOf({ 'a.js': file('a1') }, { packages: { node_modules: 'p2' }, rules }))
  trees.mark(TREE, 'task', 'TDD')
  const marked = restart().readMark(TREE, 'task', 'TDD')
  expect(marked).toEqual(indexOf({ 'a.js': file('a1') }, { packages: { node_modules: 'p2' }, rules }))
  expect(restart().getIgnoreRules(TREE)).toEqual(rules)
})

test('a gate writes what changed, and a whole snapshot only after many changes', () => {
  const before = statSync(snapshot()).ino
  trees.settle(TREE, indexOf({ 'a.js': file('a2'), 'b.js': file('b1') }))
  trees.mark(TREE, 'task', 'TDD')
  expect(statSync(snapshot()).ino).toBe(before)
  const many = Object.fromEntries(Array.from({ length: 600 }, (_, n) => [`n${n}.js`, file(`n${n}`)]))
  trees.settle(TREE, indexOf(many))
  trees.mark(TREE, 'task', 'IMPL')
  expect(statSync(snapshot()).ino).not.toBe(before)
  for (const of of [trees, restart()]) {
    expect(read('TDD', of)).toEqual({ 'a.js': file('a2'), 'b.js': file('b1') })
    expect(read('IMPL', of)).toEqual(many)
  }
})

test('with the oldest marks, their journals go', () => {
  trees.explain(TREE, [change('c.js', 'created')])
  const marks = new TreeMarks(dir, 3)
  const journal = join(dir, readdirSync(dir).find((name) => name.endsWith('.journal')) ?? '')
  for (let n = 0; n < 5; n += 1) marks.link(`m${n}`, snapshot(), journal)
  const names = readdirSync(dir).filter((name) => name.includes('.mark.gz'))
  expect(names.filter((name) => name.endsWith('.gz'))).toHaveLength(3)
  expect(names.filter((name) => name.endsWith('.journal'))).toHaveLength(3)
  expect(marks.read('m4')?.entries).toEqual({ 'a.js': file('a1'), 'b.js': file('b1'), 'c.js': file('x') })
})
