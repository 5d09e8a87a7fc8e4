// Installs and builds what is missing or older than its source. Plain Node, because nothing is installed yet.
import { spawnSync } from 'node:child_process'
import { lstatSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('..', import.meta.url))
const PACKAGES = join(ROOT, 'node_modules')
const INSTALLED = join(PACKAGES, '.package-lock.json')
const BUILT = join(ROOT, 'dist', 'program', 'main.js')
// The program holds the packages that it loads.
const CONFIGURED = [join(ROOT, 'tsconfig.json'), join(ROOT, 'scripts', 'bundle.mjs'), INSTALLED]
const SDK_SOURCE = join(ROOT, 'sdk', 'typescript', 'src')
const SDK_BUILT = join(ROOT, 'sdk', 'typescript', 'dist', 'index.js')
const EXAMPLES = join(ROOT, 'examples')
const DASHBOARD = join(ROOT, 'dashboard')
const DASHBOARD_BUILT = join(ROOT, 'dist', 'dashboard', 'index.html')
const EXAMPLES_BUILT = join(ROOT, 'dist', 'examples', 'agent.js')

/** Installs the dependencies unless they are those of the lock file. Packages that are shared by a link are left alone. */
export function install() {
  if (isInstalled()) return
  if (lstatSync(PACKAGES, { throwIfNoEntry: false })?.isSymbolicLink()) {
    say(`node_modules is a link to ${realpathSync(PACKAGES)}, whose packages are not those of package-lock.json.`)
    say('Run `npm ci` in the folder above it, or delete the link and run this again.')
    process.exit(1)
  }
  say('Installing dependencies (once, about half a minute) …')
  npm('install', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error', '--no-update-notifier')
}

/** Whether the installed packages are those of the lock file. Times do not count: every checkout changes them. */
export function isInstalled() {
  const [locked, installed] = [packagesIn(join(ROOT, 'package-lock.json')), packagesIn(INSTALLED)]
  if (locked === null || installed === null) return false
  const isSame = (name) =>
    installed[name]?.version === locked[name]?.version && installed[name]?.integrity === locked[name]?.integrity
  // Packages of other platforms are optional.
  const isNeeded = ([, { optional, devOptional }]) => !optional && !devOptional
  const needed = Object.entries(locked).filter(isNeeded)
  const found = Object.entries(installed).filter(([, { extraneous }]) => !extraneous)
  return [...needed, ...found].every(([name]) => name === '' || isSame(name))
}

/** Installs, and builds if a source file is newer than the program. */
export function prepare() {
  install()
  if (isBuilt()) return
  say('Building …')
  npm('run', '--silent', 'build')
}

/** Whether the compiled program is newer than every source file. */
export function isBuilt() {
  const folders = [join(ROOT, 'src'), SDK_SOURCE, EXAMPLES, DASHBOARD]
  const sources = [...folders.map(newestBelow), ...CONFIGURED.map(changedAt)]
  const built = [BUILT, SDK_BUILT, EXAMPLES_BUILT, DASHBOARD_BUILT].map(changedAt)
  return Math.min(...built) >= Math.max(...sources)
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

function packagesIn(lockFile) {
  try {
    return JSON.parse(readFileSync(lockFile, 'utf8')).packages
  } catch {
    return null
  }
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
