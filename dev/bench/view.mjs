// Composing the view of an observed run: pinned tests, dependencies and ignored files, and what is noted before the command starts.
// Against a bare listing and lstat of every file, and a confined `true`. Processor time is of all threads: on a busy machine only
// that can be compared.
import { lstatSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { confined } from './confined.mjs'
import { alternate, line, medians, round } from './measure.mjs'
import { place } from './servers.mjs'

const FILES_A_FOLDER = 100
const SETTLED_MS = 2500
// 50 ms for 1,000 files and 1 s for 100,000; where an lstat takes 2 µs that is so many of them.
const goalOf = (files) => (files <= 1000 ? '≤ 25' : '≤ 5')
const allowedMs = (files) => (files <= 1000 ? 50 : files / 100)

export async function benchView({ sizes, rounds }) {
  const lines = []
  for (const files of sizes) lines.push(...(await benchSize(files, rounds)))
  return { lines }
}

async function benchSize(files, rounds) {
  const { Trees } = await import('../../dist/app/trees/trees.js')
  const { TaskViews } = await import('../../dist/app/test-runs/task-views.js')
  const { composeViewOf } = await import('../../dist/app/test-runs/compose-view.js')
  const { openWorkTree } = await import('../../dist/tree/work-tree.js')
  const { watchView } = await import('../../dist/confinement/view/watch-view.js')
  const { openConfinement } = await import('../../dist/confinement/open-confinement.js')
  const at = place()
  const workspace = join(at.dir, 'tree')
  const empty = join(at.dir, 'upper')
  mkdirSync(empty)
  // One tenth are tests, one tenth sources, and the rest installed packages.
  const tests = fill(join(workspace, 'tests'), files / 10, 'test.js')
  fill(join(workspace, 'src'), files / 10, 'js')
  fill(join(workspace, 'node_modules'), (files * 8) / 10, 'js')
  writeFileSync(join(workspace, '.gitignore'), 'node_modules/\n')
  await new Promise((resolve) => setTimeout(resolve, SETTLED_MS))
  mkdirSync(join(at.dir, 'wall'))
  const small = join(at.dir, 'small')
  mkdirSync(small)
  const wall = await openConfinement({ stateDir: join(at.dir, 'wall'), only: null })
  const trees = new Trees(join(at.dir, 'state'))
  const views = new TaskViews(join(at.dir, 'views'), trees)
  const tree = openWorkTree(workspace)
  const contract = {
    tests: { patterns: ['tests/**'], allowChanges: false },
    commands: new Map([['tests', { run: 'npm test', env: {}, report: null }]]),
    phases: new Map(),
    enforcement: { reconcile: 'block' },
  }
  try {
    await trees.begin(workspace)
    trees.mark(workspace, 't', '')
    const began = performance.now()
    views.begin('t', workspace, Date.now())
    await views.dependenciesSince('t', workspace)
    const beginMs = performance.now() - began
    const hashes = {}
    for (const path of tests) hashes[`tests/${path}`] = await tree.hash(`tests/${path}`)
    await views.keepPins('t', workspace, hashes)
    const pinnedTests = new Map(Object.entries(hashes))
    const state = { id: 't', workspace, pinnedTests, pinnedRun: null }
    const seen = await alternate(rounds, {
      compose: () =>
        timed(async () => {
          const about = { tree, needed: { pinsTests: false }, pinnedRun: { harness: { 'package.json': {} } } }
          const { composition } = await composeViewOf({ trees, views }, contract, state, about)
          if (composition.put.length + composition.leftOut.length > 0) throw new Error('nothing differs')
          await watchView({ view: workspace, touched: empty }, composition)
        }),
      walk: () => timed(() => walk(workspace)),
      confined: () => timed(() => confined(wall, small, 'true')),
    })
    const ms = medians(seen, (one) => one.ms)
    const cpuMs = medians(seen, (one) => one.cpuMs)
    const against = (name, value, baseline, goal) =>
      line(name, {
        value: `${round(value)} ms`,
        baseline: `${round(baseline)} ms`,
        ratio: round(value / baseline),
        goal,
      })
    const composed = `view of ${files} files composed`
    return [
      against(`${composed}, against what is allowed`, ms.compose, allowedMs(files), '≤ 1'),
      against(`${composed}, against a bare lstat of each`, ms.compose, ms.walk, goalOf(files)),
      against(`${composed}, processor time, against a bare lstat of each`, cpuMs.compose, cpuMs.walk),
      against(`${composed}, against a confined true`, ms.compose, ms.confined),
      against(`listing ${files} files when a task begins, against a bare lstat of each`, beginMs, ms.walk),
    ]
  } finally {
    await trees.close()
    await wall.close()
    at.remove()
  }
}

function fill(folder, count, suffix) {
  const paths = []
  for (let i = 0; i < count; i += 1) {
    const inner = `f${Math.floor(i / FILES_A_FOLDER)}`
    if (i % FILES_A_FOLDER === 0) mkdirSync(join(folder, inner), { recursive: true })
    writeFileSync(join(folder, inner, `${i}.${suffix}`), `export const n = ${i}\n`)
    paths.push(`${inner}/${i}.${suffix}`)
  }
  return paths
}

function walk(tree) {
  let bytes = 0
  for (const folder of ['tests', 'src', 'node_modules'])
    for (const inner of readdirSync(join(tree, folder)))
      for (const name of readdirSync(join(tree, folder, inner)))
        bytes += lstatSync(join(tree, folder, inner, name)).size
  return bytes
}

async function timed(work) {
  const before = process.cpuUsage()
  const start = performance.now()
  await work()
  const { user, system } = process.cpuUsage(before)
  return { ms: performance.now() - start, cpuMs: (user + system) / 1000 }
}
