// Programs of the operating system that tests use, installed by Debian's packages where this account may do that. Tests that
// need one that is missing are skipped, each with its name.
import { spawn } from 'node:child_process'
import { accessSync, constants, existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { say } from './prepare.mjs'

const INSTALL_MS_MAX = 300_000
const APT = '/usr/bin/apt-get'
/** The package of each, and the names under which its program may be there. */
const PACKAGES = {
  bubblewrap: ['bwrap'],
  chromium: ['chromium', 'chromium-browser', 'google-chrome'],
  tmux: ['tmux'],
}

/** Installs what is missing, all at once: two installations at the same time would lock each other out. */
export async function installSystemPackages() {
  const missing = Object.keys(PACKAGES).filter((name) => !isThere(name))
  if (missing.length === 0) return
  if (process.getuid?.() !== 0 || !existsSync(APT)) {
    say(`Missing: ${missing.join(', ')}. Tests that need them are skipped; install them to run all tests.`)
    return
  }
  say(`Installing ${missing.join(', ')} for the tests …`)
  // The list of packages may be missing or old.
  if (!(await installNow(missing)) && (await askApt(['update']))) await installNow(missing)
  const still = missing.filter((name) => !isThere(name))
  if (still.length > 0) say(`Not installed: ${still.join(', ')}. Tests that need them are skipped.`)
}

function installNow(names) {
  return askApt(['install', '--yes', '--no-install-recommends', ...names])
}

function isThere(name) {
  if (name === 'chromium' && process.env.PHASELOCK_CHROMIUM !== undefined) return true
  const folders = (process.env.PATH ?? '').split(delimiter)
  return folders.some((folder) => PACKAGES[name].some((program) => isProgram(join(folder, program))))
}

function isProgram(path) {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

function askApt(words) {
  return new Promise((resolve) => {
    const options = {
      stdio: 'ignore',
      timeout: INSTALL_MS_MAX,
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    }
    const child = spawn(APT, words, options)
    child.once('error', () => resolve(false))
    child.once('close', (code) => resolve(code === 0))
  })
}
