// Run by test/whole/plans.test.ts in a process of its own, which ends at a step: makes or undoes a change of a tree.
import { readFileSync, writeFileSync } from 'node:fs'

const [mode, root, file] = process.argv.slice(2)
const { openTreeWriter } = await import('../../dist/tree/write/tree-writer.js')
const { undoPlan } = await import('../../dist/tree/write/change-plan.js')
const { Trees } = await import('../../dist/app/trees/trees.js')

const content = (text) => Buffer.from(text)
const STEPS = [
  { type: 'delete', path: 'gone' },
  { type: 'delete', path: 'folder', isRecursive: true },
  { type: 'delete', path: 'was-file' },
  { type: 'make_directory', path: 'was-file', mode: 0o755 },
  { type: 'make_directory', path: 'moded', mode: 0o700 },
  { type: 'set_mode', path: 'program', mode: 0o755 },
  { type: 'write', path: 'changed', content: content('new\n') },
  { type: 'append', path: 'log', content: content('second\n') },
  { type: 'write', path: 'created', content: content('created\n') },
  { type: 'write', path: 'new/deep/file', content: content('deep\n') },
  { type: 'write', path: 'was-file/inside', content: content('inside\n') },
  { type: 'make_link', path: 'link', target: 'created' },
  { type: 'make_link', path: 'old-link', target: 'changed' },
]

if (mode === 'change') {
  // As the journal of a tree does: the newest plan is the one that counts.
  const done = await openTreeWriter(root).begin(STEPS, {
    secret: 'secret',
    onPlanned: (plan) => writeFileSync(file, JSON.stringify(plan)),
  })
  if (!done.ok) throw new Error(JSON.stringify(done))
}
if (mode === 'undo') await undoPlan(root, JSON.parse(readFileSync(file, 'utf8')))
if (mode === 'trees') {
  const trees = new Trees(file)
  const index = { entries: { a: 'file 1', b: 'file 2' }, packages: {}, rules: [] }
  trees.accept(root, index, ['a'])
}
