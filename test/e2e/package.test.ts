import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { built, ROOT } from '../cli/program.js'
import { findNode } from '../mcp/packages.js'

const STEP_MS_MAX = 600_000
const NODES = ['20.19.0', '22.23.3', '24.21.0']
const TOOLS = join(ROOT, 'node_modules/.cache/phaselock-test')
const TEST = `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { add } from '../src/add.js'
test('adds', () => assert.equal(add(2, 3), 5))
`
const PROJECT = {
  'package.json': '{"name": "adder", "type": "module", "scripts": {"test": "node --test tests/*.test.js"}}\n',
  'src/add.js': 'export const add = (a, b) => a + b\n',
  'tests/add.test.js': TEST,
}

let dir: string
let files: readonly string[]
let skipped: string | null = null

beforeAll(async () => {
  await built()
  dir = mkdtempSync(join(tmpdir(), 'phaselock-installed-'))
  const packed = run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', dir], { cwd: ROOT })
  const [{ filename, files: list }] = JSON.parse(packed.stdout) as [{ filename: string; files: { path: string }[] }]
  files = list.map(({ path }) => path)
  const installed = run('npm', ['install', '--global', '--prefix', join(dir, 'prefix'), join(dir, filename)])
  if (installed.status !== 0) skipped = `packages cannot be installed: ${installed.stderr.slice(-300)}`
}, STEP_MS_MAX)
afterAll(() => rmSync(dir, { recursive: true, force: true }))

function run(
  program: string,
  args: readonly string[],
  { cwd = dir, env = {} }: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
) {
  return spawnSync(program, args, { cwd, encoding: 'utf8', timeout: STEP_MS_MAX, env: { ...process.env, ...env } })
}

describe('the package', () => {
  it('[REQ-PACKAGE-1] holds what the program needs and nothing of its making', () => {
    expect(files).toEqual(
      expect.arrayContaining([
        'bin/phaselock',
        'dist/program/main.js',
        'dist/dashboard/index.html',
        'README.md',
        'LICENSE',
      ]),
    )
    const odd = /^(?:src|test|dev|docs|scripts|dashboard|examples|node_modules)\/|\.map$|\.test\.ts$|tsbuildinfo|\.env/
    expect(files.filter((name) => odd.test(name))).toEqual([])
  })

  it.each(NODES)(
    '[REQ-PACKAGE-2] installed for all and run from another folder with Node.js %s: init, validate, the demo',
    (version) => {
      const node = findNode(version)
      if (skipped !== null || !node.ok) return console.warn(`SKIPPED: ${skipped ?? `no Node.js ${version} can be had`}`)
      const home = mkdtempSync(join(dir, 'home-'))
      const cwd = join(home, 'adder')
      for (const [name, text] of Object.entries(PROJECT)) {
        mkdirSync(join(cwd, name, '..'), { recursive: true })
        writeFileSync(join(cwd, name), text)
      }
      const env = {
        ...{ HOME: home, XDG_STATE_HOME: join(home, 'state'), XDG_DATA_HOME: join(home, 'data') },
        PATH: [dirname(node.dir), join(dir, 'prefix/bin'), '/usr/bin', '/bin'].join(delimiter),
      }
      const phaselock = (...args: readonly string[]) => {
        const ran = run('phaselock', args, { cwd, env })
        expect(ran.status, `${args.join(' ')}\n${ran.stdout}${ran.stderr}`).toBe(0)
        return ran.stdout
      }
      expect(run('node', ['--version'], { env }).stdout).toBe(`v${version}\n`)
      run('git', ['init', '-q'], { cwd, env })
      run('git', ['add', '.'], { cwd, env })
      run('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'Start'], { cwd, env })
      expect(phaselock()).toContain('This repository has no contract yet.')
      expect(phaselock('init', '--yes')).toMatch(/read 1 passed, 0 failed, 0 skipped as node; ids complete/)
      expect(phaselock('validate')).toContain('ok')
      expect(JSON.parse(phaselock('demo', '--fast', '--json'))).toMatchObject({ ok: true, faults: [] })
    },
    STEP_MS_MAX,
  )

  it(
    '[REQ-PACKAGE-3] for Python is built as wheel and sdist, and the wheel can be imported',
    () => {
      const venv = join(TOOLS, 'python-build')
      const python = join(venv, 'bin/python')
      if (!existsSync(python)) run('python3', ['-m', 'venv', venv])
      if (run(python, ['-c', 'import build']).status !== 0) run(python, ['-m', 'pip', 'install', '--quiet', 'build'])
      if (run(python, ['-c', 'import build']).status !== 0)
        return console.warn('SKIPPED: the package build cannot be had')
      const out = join(dir, 'python')
      const made = run(python, ['-m', 'build', '--outdir', out, join(ROOT, 'python')])
      expect(made.status, made.stdout + made.stderr).toBe(0)
      const names = run('ls', [out]).stdout.split('\n').filter(Boolean)
      expect(names).toEqual([expect.stringMatching(/-py3-none-any\.whl$/), expect.stringMatching(/\.tar\.gz$/)])
      const target = join(dir, 'site')
      run(python, ['-m', 'pip', 'install', '--quiet', '--no-index', '--target', target, join(out, names[0] ?? '')])
      const seen = run(python, ['-c', 'import orchestrator_agent_sdk as s; print(s.AgentClient.__name__)'], {
        env: { PYTHONPATH: target },
      })
      expect(seen.stdout).toBe('AgentClient\n')
      expect(existsSync(join(target, 'orchestrator_agent_sdk/py.typed'))).toBe(true)
    },
    STEP_MS_MAX,
  )
})

it('[REQ-PACKAGE-4] the release script refuses versions that differ and a changelog without the version', () => {
  const copy = join(dir, 'release')
  for (const name of ['scripts', 'sdk/typescript', 'python', 'claude-plugin/.claude-plugin'])
    mkdirSync(join(copy, name), { recursive: true })
  const manifest = (version: string) => `{"type": "module", "version": "${version}"}\n`
  run('cp', ['scripts/release.mjs', 'scripts/prepare.mjs', join(copy, 'scripts')], { cwd: ROOT })
  writeFileSync(join(copy, 'package.json'), manifest('9.9.9'))
  writeFileSync(join(copy, 'package-lock.json'), manifest('9.9.9'))
  writeFileSync(join(copy, 'sdk/typescript/package.json'), manifest('9.9.8'))
  writeFileSync(join(copy, 'claude-plugin/.claude-plugin/plugin.json'), manifest('9.9.7'))
  writeFileSync(join(copy, 'python/pyproject.toml'), 'version = "9.9.9"\n')
  writeFileSync(join(copy, 'CHANGELOG.md'), '# Changelog\n\n## Unreleased\n\n## 9.9.0\n')
  const ran = run(process.execPath, ['scripts/release.mjs', '--skip-tests', '--allow-dirty'], { cwd: copy })
  expect(ran.status).toBe(1)
  expect(ran.stderr).toContain('sdk/typescript/package.json says 9.9.8, package.json says 9.9.9')
  expect(ran.stderr).toContain('claude-plugin/.claude-plugin/plugin.json says 9.9.7')
  expect(ran.stderr).toContain('the newest version in CHANGELOG.md is 9.9.0')
  expect(existsSync(join(copy, 'release'))).toBe(false)
})
