// Installs and builds what is missing or older than its source. Plain Node, because nothing is installed yet.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('..', import.meta.url))
const INSTALLED = join(ROOT, 'node_modules', '.package-lock.json')
const BUILT = join(ROOT, 'dist', 'program', 'main.js')
// The program holds the packages that it loads.
const CONFIGURED = [join(ROOT, 'tsconfig.json'), join(ROOT, 'scripts', 'bundle.mjs'), INSTALLED]
const SDK_SOURCE = join(ROOT, 'sdk', 'typescript', 'src')
const SDK_BUILT = join(ROOT, 'sdk', 'typescript', 'dist', 'index.js')
const EXAMPLES = join(ROOT, 'examples')
const EXAMPLES_BUILT = join(ROOT, 'dist', 'examples', 'agent.js')

/** Installs the dependencies if they are missing or older than the lock file. */
export function install() {
  if (changedAt(INSTALLED) < changedAt(join(ROOT, 'package-lock.json'))) {
    say('Installing dependencies (once, about half a minute) …')
    npm('install', '--include=dev', '--no-audit', '--no-fund')
    if (existsSync(INSTALLED)) utimesSync(INSTALLED, new Date(), new Date())
  }
}

/** Installs, and builds if a source file is newer than the program. */
export function prepare() {
  install()
  const folders = [join(ROOT, 'src'), SDK_SOURCE, EXAMPLES]
  const sources = [...folders.map(newestBelow), ...CONFIGURED.map(changedAt)]
  const built = [BUILT, SDK_BUILT, EXAMPLES_BUILT].map(changedAt)
  if (Math.min(...built) < Math.max(...sources)) {
    say('Building …')
    npm('run', '--silent', 'build')
  }
}

export function say(text) {
  process.stderr.write(`${text}\n`)
}

function npm(...args) {
  const inNode = process.env.npm_execpath
  const [command, first] = inNode === undefined ? ['npm', []] : [process.execPath, [inNode]]
  const done = spawnSync(command, [...first, ...args], {
    cwd: ROOT,
    stdio: ['ignore', 2, 2],
    shell: inNode === undefined && process.platform === 'win32',
  })
  if (done.status === 0) return
  say(`npm ${args.join(' ')} failed. Its message stands above.`)
  process.exit(done.signal === null ? 1 : 130)
}

function changedAt(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
}

function newestBelow(dir) {
  const inside = readdirSync(dir, { withFileTypes: true }).map((entry) =>
    entry.isDirectory() ? newestBelow(join(dir, entry.name)) : changedAt(join(dir, entry.name)),
  )
  return Math.max(changedAt(dir), ...inside)
}
