import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'

const SCRIPT = fileURLToPath(new URL('../../scripts/prepare.mjs', import.meta.url))

interface Package {
  readonly version: string
  readonly integrity: string
  readonly optional?: true
  readonly extraneous?: true
}

const ONE: Package = { version: '1.0.0', integrity: 'sha512-one' }
const TWO: Package = { version: '2.0.0', integrity: 'sha512-two' }

let clone = ''
beforeEach(() => {
  clone = mkdtempSync(join(tmpdir(), 'phaselock-prepare-'))
  mkdirSync(join(clone, 'scripts'))
  cpSync(SCRIPT, join(clone, 'scripts', 'prepare.mjs'))
  // Stands for npm, which would need a network: it says what it was asked for.
  writeFileSync(join(clone, 'npm.cjs'), "require('node:fs').writeFileSync('asked', process.argv.slice(2).join(' '))\n")
})
afterEach(() => rmSync(clone, { recursive: true, force: true }))

function write(file: string, packages: Readonly<Record<string, Package>>): void {
  const named = Object.entries(packages).map(([name, one]) => [`node_modules/${name}`, one])
  mkdirSync(join(clone, file, '..'), { recursive: true })
  writeFileSync(join(clone, file), JSON.stringify({ lockfileVersion: 3, packages: Object.fromEntries(named) }))
}

// The installed packages are written first: the lock file is always the newer one.
function install(installed: Readonly<Record<string, Package>> | null, locked: Readonly<Record<string, Package>>) {
  if (installed !== null) write('node_modules/.package-lock.json', installed)
  write('package-lock.json', locked)
  return run()
}

function run() {
  const ran = spawnSync(
    process.execPath,
    ['--input-type=module', '-e', `import { install } from './scripts/prepare.mjs'; install()`],
    { cwd: clone, encoding: 'utf8', env: { ...process.env, npm_execpath: join(clone, 'npm.cjs') } },
  )
  const asked = join(clone, 'asked')
  return { ...ran, asked: existsSync(asked) ? readFileSync(asked, 'utf8') : null }
}

test.each([
  ['the same packages', { one: ONE, two: TWO }, { one: ONE, two: TWO }],
  ['all but those of other platforms', { one: ONE }, { one: ONE, two: { ...TWO, optional: true as const } }],
  ['one more that was added by hand', { one: ONE, own: { ...TWO, extraneous: true as const } }, { one: ONE }],
])(
  '[REQ-CLI-26] npm start installs nothing where %s are installed, however new the lock file is',
  (_what, installed, locked) => {
    expect(install(installed, locked)).toMatchObject({ status: 0, asked: null })
  },
)

test.each([
  ['nothing', null, { one: ONE }],
  ['a package less', { one: ONE }, { one: ONE, two: TWO }],
  ['a package too many', { one: ONE, two: TWO }, { one: ONE }],
  ['another version', { one: ONE }, { one: { ...ONE, version: '1.0.1' } }],
  ['another content', { one: ONE }, { one: { ...ONE, integrity: 'sha512-other' } }],
])('[REQ-CLI-26] npm start installs where %s is installed', (_what, installed, locked) => {
  expect(install(installed, locked)).toMatchObject({
    status: 0,
    asked: 'install --include=dev --no-audit --no-fund --loglevel=error --no-update-notifier',
    stderr: expect.stringContaining('Installing dependencies'),
  })
})

test('[REQ-CLI-26] npm start never replaces packages that are shared by a link', () => {
  const shared = join(clone, 'shared')
  mkdirSync(shared)
  symlinkSync(shared, join(clone, 'node_modules'))
  expect(install({ one: ONE }, { one: ONE })).toMatchObject({ status: 0, asked: null })
  const refused = install({ one: ONE }, { one: TWO })
  expect(refused).toMatchObject({ status: 1, asked: null })
  expect(refused.stderr).toContain(`node_modules is a link to ${shared}`)
  expect(refused.stderr).toContain('npm ci')
})
