import { execFileSync, type SpawnSyncReturns, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { AgentClient } from '../../sdk/typescript/src/index.js'
import { builtSdk, ROOT } from './built.js'

const INSTALL_MS_MAX = 240_000
const MYPY = 'mypy==2.4.1'
const CACHE = join(ROOT, 'node_modules/.cache/phaselock-test')
let dir: string
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'phaselock-package-'))
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

function run(command: string, args: readonly string[], cwd: string): SpawnSyncReturns<string> {
  return spawnSync(command, args, { cwd, encoding: 'utf8', timeout: INSTALL_MS_MAX })
}

describe('the package for TypeScript', () => {
  it('[REQ-SDK-25] has code, types and a page, and no dependency', () => {
    const sdk = builtSdk()
    const manifest = JSON.parse(readFileSync(join(sdk, 'package.json'), 'utf8')) as Record<string, unknown>
    expect(Object.keys(manifest).filter((name) => /dependencies/i.test(name))).toEqual([])
    const packed = run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', dir], sdk)
    const [{ filename, files }] = JSON.parse(packed.stdout) as [{ filename: string; files: { path: string }[] }]
    const names = files.map((file) => file.path)
    expect(names.filter((name) => !/^(dist\/[a-z-]+(\.d)?\.[jt]s|package\.json|README\.md)$/.test(name))).toEqual([])
    expect(names).toEqual(expect.arrayContaining(['dist/index.js', 'dist/index.d.ts', 'README.md', 'package.json']))

    const installed = join(dir, 'consumer/node_modules/orchestrator-agent-sdk')
    mkdirSync(installed, { recursive: true })
    execFileSync('tar', ['-xzf', join(dir, filename), '-C', installed, '--strip-components=1'])
    writeFileSync(join(dir, 'consumer/package.json'), '{"name": "consumer", "private": true, "type": "module"}\n')
    writeFileSync(join(dir, 'consumer/agent.mts'), CONSUMER)
    // Without the types of Node: they are nothing that a user of the package must have.
    const options = ['--strict', '--noEmit', '--module', 'nodenext', '--lib', 'es2022,dom', '--types', '']
    const compiled = run(
      process.execPath,
      [join(ROOT, 'node_modules/typescript/bin/tsc'), ...options, 'agent.mts'],
      join(dir, 'consumer'),
    )
    expect(compiled.stdout).toBe('')
    const script = "import('orchestrator-agent-sdk').then((sdk) => console.log(typeof sdk.AgentClient))"
    expect(run(process.execPath, ['-e', script], join(dir, 'consumer')).stdout).toBe('function\n')
  })

  it('[REQ-SDK-25] is the one that phaselock/sdk leads to', () => {
    builtSdk()
    const script = "import('phaselock/sdk').then((sdk) => console.log(Object.keys(sdk).join(' ')))"
    expect(run(process.execPath, ['-e', script], ROOT).stdout).toContain('AgentClient ApiError')
  })
})

const CONSUMER = `import { AgentClient, type Blocker, ToolDenied, TransitionBlocked } from 'orchestrator-agent-sdk'
const client = new AgentClient({ url: 'http://localhost:8000', token: 'x', agentId: 'coder' })
const title: string = (await client.claimTask()).task.title
const code = await client.useTool('glob', { pattern: title }).catch((error) => (error instanceof ToolDenied ? error.code : ''))
const found: readonly Blocker[] = await client
  .requestTransition('TDD')
  .then(() => [], (error) => (error instanceof TransitionBlocked ? error.blockers : []))
for await (const event of client.events()) console.log(event.id, event.type, found, code)
`

describe('the package for Python', () => {
  const source = join(ROOT, 'python')

  it('[REQ-SDK-25] is written for Python 3.9 and imports nothing but the standard library', () => {
    const script = `
import ast, pathlib, sys
for path in sorted(pathlib.Path("src").rglob("*.py")):
    tree = ast.parse(path.read_text("utf-8"), str(path), feature_version=(3, 9))
    for node in ast.walk(tree):
        names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [node.module]
        for name in names:
            if name.split(".")[0] not in sys.stdlib_module_names:
                print(path, name)
`
    expect(run('python3', ['-c', script], source)).toMatchObject({ status: 0, stdout: '', stderr: '' })
    const compiled = run('python3', ['-m', 'compileall', '-q', '-f', copied('compiled')], dir)
    expect(compiled).toMatchObject({ status: 0, stdout: '' })
  })

  it(
    '[REQ-SDK-25] is installed with pip, with its types and without a dependency',
    (context) => {
      const venv = join(dir, 'venv')
      expect(run('python3', ['-m', 'venv', venv], dir).status).toBe(0)
      const pip = (...more: readonly string[]) =>
        run(join(venv, 'bin/pip'), ['install', '--no-input', '--no-deps', ...more, copied('installed')], dir)
      const isolated = pip()
      // Without an index there is only what the machine has to build with.
      const done = isolated.status === 0 ? isolated : pip('--no-build-isolation')
      if (done.status !== 0) context.skip(`pip cannot build here: ${lastLine(isolated.stderr)}`)
      const script =
        'import orchestrator_agent_sdk as s, os; print(s.AgentClient, os.path.exists(os.path.join(os.path.dirname(s.__file__), "py.typed")))'
      const ran = run(join(venv, 'bin/python'), ['-I', '-c', script], dir)
      expect(ran.stdout).toContain('True')
      const shown = run(join(venv, 'bin/pip'), ['show', 'orchestrator-agent-sdk'], dir).stdout
      expect(shown).toContain('Version: 0.1.0')
      expect(shown).toMatch(/^Requires: *$/m)
    },
    INSTALL_MS_MAX,
  )

  it(
    '[REQ-SDK-25] has types that hold',
    (context) => {
      const mypy = installedMypy()
      if (typeof mypy !== 'string') return context.skip(mypy.reason)
      const checked = run(mypy, ['--cache-dir', join(dir, 'mypy')], source)
      expect(checked.stdout).toContain('Success: no issues found')
    },
    INSTALL_MS_MAX,
  )

  it('[REQ-SDK-25] has the same calls as the one for TypeScript, under the names of its language', () => {
    const wanted = Object.getOwnPropertyNames(AgentClient.prototype)
      .filter((name) => name !== 'constructor')
      .map((name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))
      .map((name) => (name === 'continue' ? 'continue_' : name))
    const script = `
import json, orchestrator_agent_sdk as s
print(json.dumps([[n for n in dir(c) if not n.startswith("_")] for c in (s.AgentClient, s.AsyncAgentClient)]))
`
    const ran = spawnSync('python3', ['-c', script], { cwd: join(source, 'src'), encoding: 'utf8' })
    const [plain, withAsyncio] = JSON.parse(ran.stdout) as [string[], string[]]
    expect(plain).toEqual([...wanted, 'agent_id', 'from_env'].sort())
    expect(withAsyncio).toEqual(plain)
  })

  /** A copy, because building leaves files behind. */
  function copied(name: string): string {
    const copy = join(dir, name)
    if (!existsSync(copy))
      cpSync(source, copy, { recursive: true, filter: (path) => !/__pycache__|egg-info|\/build$/.test(path) })
    return copy
  }
})

/** A type checker, kept in the cache of the installation. What cannot be had is a reason to skip. */
function installedMypy(): string | { readonly reason: string } {
  const version = run('python3', ['-c', 'import sys; print("%d.%d" % sys.version_info[:2])'], dir).stdout.trim()
  const venv = join(CACHE, `${MYPY.replace('==', '-')}-python-${version}`)
  const program = join(venv, 'bin/mypy')
  if (existsSync(program)) return program
  mkdirSync(CACHE, { recursive: true })
  run('python3', ['-m', 'venv', venv], dir)
  const done = run(join(venv, 'bin/pip'), ['install', '--no-input', '-q', MYPY], dir)
  if (done.status === 0 && existsSync(program) && readdirSync(venv).length > 0) return program
  rmSync(venv, { recursive: true, force: true })
  return { reason: `pip cannot install mypy: ${lastLine(done.stderr ?? '')}` }
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? 'no reason given'
}
