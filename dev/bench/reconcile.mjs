// Comparing a whole work tree with what it should be: the first look, those after it, and what git needs on the same files.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { alternate, line, medians, round } from './measure.mjs'
import { place } from './servers.mjs'

const FILES_A_FOLDER = 100
const CHANGED = 10
const SETTLED_MS = 2500

export async function benchReconcile({ files, rounds }) {
  const { Trees } = await import('../../dist/app/trees/trees.js')
  const at = place()
  const tree = join(at.dir, 'tree')
  fill(tree, files)
  const git = (...args) => execFileSync('git', args, { cwd: tree, stdio: 'ignore' })
  // A file that was written a moment ago is read again each time.
  await new Promise((resolve) => setTimeout(resolve, SETTLED_MS))
  const trees = new Trees(join(at.dir, 'state'))
  try {
    // The first of both reads every file; neither has seen any of them before.
    const bareMs = await timed(() => readAll(tree))
    const beginMs = await timed(() => trees.begin(tree))
    git('init', '-q')
    const addMs = await timed(() => git('add', '.'))
    git('-c', 'user.name=bench', '-c', 'user.email=bench@localhost', 'commit', '-qm', 'all')
    const results = await alternate(rounds, {
      same: () => timed(() => compared(trees, tree, 0)),
      some: async (n) => {
        for (let i = 0; i < CHANGED; i += 1) writeFileSync(join(tree, pathOf(i * 7)), `changed ${n}\n`)
        const ms = await timed(() => compared(trees, tree, CHANGED))
        for (let i = 0; i < CHANGED; i += 1) writeFileSync(join(tree, pathOf(i * 7)), textOf(i * 7))
        return ms
      },
      status: () => timed(() => git('status', '--porcelain')),
      walk: () => timed(() => walk(tree)),
    })
    const ms = { ...medians(results), begin: beginMs, add: addMs, bare: bareMs }
    const against = (name, value, baseline) =>
      line(name, {
        value: `${round(ms[value])} ms`,
        baseline: `${round(ms[baseline])} ms`,
        ratio: round(ms[value] / ms[baseline]),
      })
    return {
      lines: [
        against(`first look at ${files} files, against reading and hashing each`, 'begin', 'bare'),
        against(`first look at ${files} files, against git add`, 'begin', 'add'),
        against(`comparing ${files} files, nothing changed, against git status`, 'same', 'status'),
        against(`comparing ${files} files, nothing changed, against a bare lstat of each`, 'same', 'walk'),
        against(`comparing ${files} files, ${CHANGED} changed, against git status`, 'some', 'status'),
      ],
    }
  } finally {
    await trees.close()
    at.remove()
  }
}

async function compared(trees, tree, count) {
  const { differences } = await trees.compare(tree)
  if (differences.length !== count) throw new Error(`${differences.length} differences instead of ${count}`)
}

function pathOf(i) {
  return join(`f${Math.floor(i / FILES_A_FOLDER)}`, `${i}.txt`)
}

function textOf(i) {
  return `file ${i}\n`.repeat(40)
}

function fill(tree, files) {
  for (let i = 0; i < files; i += 1) {
    if (i % FILES_A_FOLDER === 0) mkdirSync(join(tree, `f${i / FILES_A_FOLDER}`))
    writeFileSync(join(tree, pathOf(i)), textOf(i))
  }
}

function* filesOf(tree) {
  for (const folder of readdirSync(tree)) {
    if (folder === '.git') continue
    for (const name of readdirSync(join(tree, folder))) yield join(tree, folder, name)
  }
}

function walk(tree) {
  let bytes = 0
  for (const file of filesOf(tree)) bytes += lstatSync(file).size
  return bytes
}

function readAll(tree) {
  let last = ''
  for (const file of filesOf(tree)) last = createHash('sha256').update(readFileSync(file)).digest('hex')
  return last
}

async function timed(work) {
  const start = performance.now()
  await work()
  return performance.now() - start
}
