'use strict'
const { lstatSync, readFileSync, realpathSync } = require('node:fs')
const { dirname, join, relative, sep } = require('node:path')

const TICK_MS = 10
/** Start times are exact to about two clock ticks, and no program runs a test that soon. */
const SLACK_MS = 30
const FILES_MAX = 5000
const TEST_FOLDER =
  /^(tests?|__tests?__|specs?|e2e|testdata|test[_-](data|helpers?|utils?|support)|fixtures|__fixtures__)$/
const NAMED = /(^|[._-])(tests?|specs?|mocks?|stubs?|fakes?|fixtures?|helpers?|testing|test_?utils?)([._-]|$)/i
const IMPORTS = /(?:from|import|require)\s{0,20}\(?\s{0,20}['"`](\.{1,2}\/[^'"`\n]{1,500})['"`]/g

/**
 * A run may write to the output folders of compilers, so the view does not protect compiled tests. They are written
 * before the runner starts: a later write comes from a test or from the code under test.
 */
function refuseLateTests(file, startedMs) {
  const late = lateTest(file, startedMs)
  if (late !== null) throw new Error(`phaselock: ${late}`)
}

/** The first of a test file and its imports from the tests that changed after the tests were started; null: none. */
function lateTest(file, startedMs) {
  const late = testFilesFrom([file]).find((one) => changedMs(one) > startedMs + SLACK_MS)
  return late === undefined ? null : changedText(late)
}

function changedText(file) {
  return `${relative(process.cwd(), file)} was changed while the tests ran`
}

/** When the parent process was started; null if the system does not say. */
function parentStartedMs() {
  if (process.platform !== 'linux') return null
  const stat = readFileSync(`/proc/${process.ppid}/stat`, 'utf8')
  const ticks = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19])
  const uptimeMs = Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]) * 1000
  return Date.now() - uptimeMs + ticks * TICK_MS
}

/**
 * Returns a function that reports which of the test files, and of the files they import from their test folder, changed
 * since.
 */
function watchTests(files) {
  const before = new Map(testFilesFrom(files).map((file) => [file, changedMs(file)]))
  return () => {
    const late = [...before].find(([file, ms]) => changedMs(file) !== ms)
    return late === undefined ? null : changedText(late[0])
  }
}

function testFilesFrom(files) {
  const found = new Set()
  const queue = files.map((file) => ({ file, folder: testFolderOf(file) }))
  for (let next = queue.pop(); next !== undefined && found.size < FILES_MAX; next = queue.pop()) {
    const { file, folder } = next
    if (found.has(file) || !Number.isFinite(changedMs(file))) continue
    found.add(file)
    for (const [, path] of readFileSync(file, 'utf8').matchAll(IMPORTS)) {
      const at = join(dirname(file), path)
      if (folder === null ? !isNamedTest(at) : !at.startsWith(folder)) continue
      for (const one of [at, `${at}.js`, `${at}.cjs`, `${at}.mjs`, `${at}.json`, join(at, 'index.js')])
        queue.push({ file: one, folder })
    }
  }
  return [...found]
}

// For a test among the sources, only file names tell what belongs to the tests.
function isNamedTest(path) {
  return relative(process.cwd(), path)
    .split(sep)
    .some((part) => TEST_FOLDER.test(part) || NAMED.test(part))
}

// The outermost test folder above a file.
function testFolderOf(file) {
  const parts = relative(process.cwd(), file).split(sep)
  const at = parts.findIndex((part, index) => index < parts.length - 1 && TEST_FOLDER.test(part))
  return at === -1 ? null : join(process.cwd(), ...parts.slice(0, at + 1), sep)
}

function changedMs(file) {
  try {
    const stat = lstatSync(file)
    return stat.isFile() ? stat.ctimeMs : Number.NaN
  } catch {
    return Number.NaN
  }
}

function startedWith() {
  try {
    return process.argv[1] === undefined ? null : realpathSync(process.argv[1])
  } catch {
    return null
  }
}

module.exports = { lateTest, parentStartedMs, refuseLateTests, startedWith, watchTests }
