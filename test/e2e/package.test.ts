import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { renderLicenses } from '../../scripts/third-party.mjs'
import { built, ROOT } from '../cli/program.js'
import { findNode } from '../mcp/packages.js'
import { installForAll, pack } from './installed.js'

const STEP_MS_MAX = 600_000
const VERSION = '0.2.0'
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

/** What builds and runs of other versions, editors and Python leave in the folders that are packed. */
const LEFT_BEHIND = [
  'dist/app/removed.js',
  'dist/app/removed.d.ts',
  'dist/app/app.js.map',
  'dist/program/removed.js',
  'dist/program/main.js.new',
  'dist/threads/removed.cjs',
  'dist/parsers/tree-sitter-cpp.wasm',
  'dist/dashboard/assets/index-0ld.js',
  'dist/examples/removed.js',
  'dist/tsconfig.tsbuildinfo',
  'sdk/typescript/dist/removed.js',
  'sdk/typescript/dist/removed.d.ts',
  'sdk/typescript/dist/.tsbuildinfo',
  'python/build/lib/orchestrator_agent_sdk/__init__.py',
  'python/src/orchestrator_agent_sdk/__pycache__/_core.cpython-312.pyc',
  'python/src/orchestrator_agent_sdk/removed.pyc',
  'python/src/orchestrator_agent_sdk.egg-info/PKG-INFO',
  'runtime/test-guards/python/__pycache__/guard_lock.cpython-312.pyc',
  'runtime/embedding/node_modules/model/package.json',
]
const LOADED = [
  // The embedding model.
  '@huggingface/tokenizers',
  '@photostructure/sqlite',
  // In code that Fastify could write and does not.
  'fast-json-stringify/lib/serializer',
  'onnxruntime-node',
  'onnxruntime-node/package.json',
  // A faster driver of PostgreSQL, where there is one.
  'pg-native',
]
const USES: Readonly<Record<string, string>> = {
  phaselock: `import { openOrchestrator, type Orchestrator } from 'phaselock'
const use = (orchestrator: Orchestrator): Promise<void> => orchestrator.close()
console.log(typeof openOrchestrator, use.length === 1 ? '' : 'odd')
`,
  'phaselock/core': `import { decide, type TaskState } from 'phaselock/core'
const statusOf = (state: TaskState): string => state.status
console.log(typeof decide, statusOf.length === 1 ? '' : 'odd')
`,
  'phaselock/sdk': `import { AgentClient, type ClaimAnswer } from 'phaselock/sdk'
const titleOf = (claim: ClaimAnswer): string => claim.task.title
console.log(typeof AgentClient, titleOf.length === 1 ? '' : 'odd')
`,
}

let dir: string
let files: readonly string[]
let skipped: string | null = null

beforeAll(async () => {
  await built()
  dir = mkdtempSync(join(tmpdir(), 'phaselock-installed-'))
  const packed = pack(ROOT, dir)
  files = packed.files
  const installed = installForAll(packed.file, join(dir, 'prefix'))
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
        'dist/THIRD_PARTY_LICENSES',
        'python/README.md',
        'python/pyproject.toml',
        'README.md',
        'LICENSE',
      ]),
    )
    const odd = /^(?:src|test|dev|docs|scripts|dashboard|examples|node_modules)\/|\.map$|\.test\.ts$|tsbuildinfo|\.env/
    expect(files.filter((name) => odd.test(name))).toEqual([])
  })

  it('[REQ-PACKAGE-5] holds the same files after earlier builds and test runs left others in its folders', () => {
    const copy = join(dir, 'used')
    for (const name of [...new Set(files.map((path) => path.split('/')[0] ?? ''))].filter((name) => name !== ''))
      cpSync(join(ROOT, name), join(copy, name), { recursive: true, filter: (path) => !path.includes('node_modules') })
    expect(pack(copy, join(dir, 'packed-clean')).files).toEqual(files)
    for (const path of LEFT_BEHIND) {
      mkdirSync(dirname(join(copy, path)), { recursive: true })
      writeFileSync(join(copy, path), 'left behind')
    }
    expect(pack(copy, join(dir, 'packed-used')).files).toEqual(files)
  })

  it('[REQ-PACKAGE-6] names exact versions, and an install has only these: no other package comes with them', () => {
    const read = (path: string) => JSON.parse(readFileSync(path, 'utf8'))
    const { dependencies } = read(join(ROOT, 'package.json')) as { dependencies: Record<string, string> }
    expect(Object.values(dependencies).filter((version) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([])
    if (skipped !== null) return console.warn(`SKIPPED: ${skipped}`)
    const folder = join(dir, 'prefix/lib/node_modules')
    const manifests = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
      /(?:^|\/)node_modules\/(?:@[^/]+\/)?[^/]+\/package\.json$/.test(`node_modules/${path}`),
    )
    const found = manifests.map((path) => read(join(folder, path)) as { name: string; version: string })
    const versions = Object.fromEntries(found.map(({ name, version }) => [name, version]))
    expect(versions).toEqual({ phaselock: VERSION, ...dependencies })
    expect(found.length).toBe(Object.keys(versions).length)
  })

  it('[REQ-PACKAGE-6] loads no package that it does not name, but those that people install beside it', () => {
    const loading =
      /^import\b[^'"\n]*["']([^"']+)["']|\bimport\(["']([^"']+)["']\)|^[^"'`*]*\b_*require\(["']([^"']+)["']\)/gm
    const program = files.filter((path) => /^dist\/(?:program|threads)\/.+js$/.test(path))
    const loaded = program.flatMap((path) =>
      [...readFileSync(join(ROOT, path), 'utf8').matchAll(loading)].map(
        (found) => found[1] ?? found[2] ?? found[3] ?? '',
      ),
    )
    const others = new Set(loaded.filter((name) => !/^\.|^node:/.test(name) && !isBuiltin(name)))
    expect([...others].toSorted()).toEqual(LOADED)
  })

  it(
    '[REQ-PACKAGE-6] installs where a package for another Node.js is refused, with the oldest Node.js that it names',
    () => {
      const node = findNode('20.19.0')
      if (skipped !== null || !node.ok) return console.warn(`SKIPPED: ${skipped ?? 'no Node.js 20.19.0 can be had'}`)
      const npm = realpathSync(run('sh', ['-c', 'command -v npm']).stdout.trim())
      const install = (what: string, name: string) => {
        const cwd = join(dir, name)
        mkdirSync(cwd)
        writeFileSync(join(cwd, 'package.json'), '{"private": true}')
        return run(node.dir, [npm, 'install', '--engine-strict', '--ignore-scripts', what], { cwd })
      }
      const other = join(dir, 'needs-newer')
      mkdirSync(other)
      writeFileSync(join(other, 'package.json'), '{"name": "o", "version": "1.0.0", "engines": {"node": ">=22"}}')
      expect(install(other, 'refused').stderr).toContain('EBADENGINE')
      const done = install(join(dir, `phaselock-${VERSION}.tgz`), 'accepted')
      expect(done.status, done.stderr).toBe(0)
    },
    STEP_MS_MAX,
  )

  it('[REQ-PACKAGE-7] has the licence of every package whose code is in the program or the dashboard', () => {
    const licenses = readFileSync(join(ROOT, 'dist/THIRD_PARTY_LICENSES'), 'utf8')
    const bundled = ['dist/program', 'dist/threads'].flatMap((folder) =>
      readdirSync(join(ROOT, folder)).flatMap((name) => [
        ...readFileSync(join(ROOT, folder, name), 'utf8').matchAll(
          /^\s*\/\/ node_modules\/((?:@[^/\s]+\/)?[^/\s]+)\//gm,
        ),
      ]),
    )
    const names = new Set([...bundled.map(([, name]) => name ?? ''), 'react', '@vscode/tree-sitter-wasm'])
    expect([...names]).toEqual(expect.arrayContaining(['fastify', 'pg', 'echarts', 'gpt-tokenizer', 'yaml']))
    expect([...names].filter((name) => !licenses.includes(`\n${name}@`))).toEqual([])
    const sections = licenses.split(`\n${'-'.repeat(80)}\n`).slice(1)
    expect(sections.filter((text) => !/permi(?:ssion|tted)|licensor/i.test(text))).toEqual([])
  })

  it('[REQ-PACKAGE-7] a package without a licence ends the build', () => {
    const folder = join(dir, 'unlicensed')
    mkdirSync(folder)
    const write = (license: object) =>
      writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'u', version: '1.0.0', ...license }))
    write({})
    expect(() => renderLicenses([folder])).toThrow('u@1.0.0 has no licence that can be shipped')
    write({ license: 'MIT', author: 'Ada' })
    expect(renderLicenses([folder])).toMatch(/u@1\.0\.0 \(MIT\)\n\nCopyright \(c\) Ada\n\nPermission is hereby granted/)
  })

  it.each(['phaselock', 'phaselock/core', 'phaselock/sdk'])(
    '[REQ-PACKAGE-8] %s can be imported, and its types need no package but those of Node.js',
    (name) => {
      if (skipped !== null) return console.warn(`SKIPPED: ${skipped}`)
      const cwd = join(dir, `uses-${name.replace('/', '-')}`)
      mkdirSync(join(cwd, 'node_modules/@types'), { recursive: true })
      symlinkSync(join(dir, 'prefix/lib/node_modules/phaselock'), join(cwd, 'node_modules/phaselock'))
      for (const types of ['@types/node', 'undici-types'])
        symlinkSync(join(ROOT, 'node_modules', types), join(cwd, 'node_modules', types))
      writeFileSync(join(cwd, 'package.json'), '{"type": "module"}')
      writeFileSync(join(cwd, 'use.ts'), USES[name] ?? '')
      const tsc = [join(ROOT, 'node_modules/typescript/bin/tsc'), '--strict', '--module', 'nodenext', '--types', 'node']
      const compiled = run(process.execPath, [...tsc, '--target', 'es2023', 'use.ts'], { cwd })
      expect(compiled.stdout).toBe('')
      expect(run(process.execPath, ['use.js'], { cwd })).toMatchObject({ status: 0, stdout: 'function \n' })
    },
  )

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

  it(
    '[REQ-PACKAGE-9] has a folder `python` that pip installs',
    () => {
      if (skipped !== null) return console.warn(`SKIPPED: ${skipped}`)
      const target = join(dir, 'site-of-package')
      const source = join(dir, 'prefix/lib/node_modules/phaselock/python')
      const pip = (...more: readonly string[]) =>
        run('python3', ['-m', 'pip', 'install', '--quiet', '--no-input', '--target', target, ...more, source])
      // Without an index there is only what the machine has to build with.
      const isolated = pip()
      if (isolated.status !== 0 && pip('--no-build-isolation').status !== 0)
        return console.warn(`SKIPPED: pip cannot build here: ${isolated.stderr.slice(-300)}`)
      const ran = run('python3', ['-c', 'import orchestrator_agent_sdk as s; print(s.AgentClient.__name__)'], {
        env: { PYTHONPATH: target },
      })
      expect(ran.stdout).toBe('AgentClient\n')
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
