import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { AgentClient } from '../../sdk/typescript/src/index.js'
import { builtSdk, ROOT } from './built.js'
import { installMypy, MYPY_CACHE } from './mypy.js'

const INSTALL_MS_MAX = 240_000
let dir: string
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'phaselock-package-'))
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

interface Ran {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Beside the other tests of this file: most of what they run waits for one core. */
function run(command: string, args: readonly string[], cwd: string): Promise<Ran> {
  return new Promise((resolve) => {
    const child = execFile(command, args, { cwd, timeout: INSTALL_MS_MAX }, (_error, stdout, stderr) =>
      resolve({ status: child.exitCode, stdout, stderr }),
    )
  })
}

describe.concurrent('the package for TypeScript', () => {
  it('[REQ-SDK-25] has code, types and a page, and no dependency', async () => {
    const sdk = builtSdk()
    const manifest = JSON.parse(readFileSync(join(sdk, 'package.json'), 'utf8')) as Record<string, unknown>
    expect(Object.keys(manifest).filter((name) => /dependencies/i.test(name))).toEqual([])
    const packed = await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', dir], sdk)
    const [{ filename, files }] = JSON.parse(packed.stdout) as [{ filename: string; files: { path: string }[] }]
    const names = files.map((file) => file.path)
    expect(names.filter((name) => !/^(dist\/[a-z-]+(\.d)?\.[jt]s|package\.json|README\.md)$/.test(name))).toEqual([])
    expect(names).toEqual(expect.arrayContaining(['dist/index.js', 'dist/index.d.ts', 'README.md', 'package.json']))

    const installed = join(dir, 'consumer/node_modules/orchestrator-agent-sdk')
    mkdirSync(installed, { recursive: true })
    await run('tar', ['-xzf', join(dir, filename), '-C', installed, '--strip-components=1'], dir)
    writeFileSync(join(dir, 'consumer/package.json'), '{"name": "consumer", "private": true, "type": "module"}\n')
    writeFileSync(join(dir, 'consumer/agent.mts'), CONSUMER)
    // Without the types of Node: they are nothing that a user of the package must have.
    const options = ['--strict', '--noEmit', '--module', 'nodenext', '--lib', 'es2022,dom', '--types', '']
    const compiled = await run(
      process.execPath,
      [join(ROOT, 'node_modules/typescript/bin/tsc'), ...options, 'agent.mts'],
      join(dir, 'consumer'),
    )
    expect(compiled.stdout).toBe('')
    const script = "import('orchestrator-agent-sdk').then((sdk) => console.log(typeof sdk.AgentClient))"
    expect((await run(process.execPath, ['-e', script], join(dir, 'consumer'))).stdout).toBe('function\n')
  })

  it('[REQ-SDK-25] is the one that phaselock/sdk leads to', async () => {
    builtSdk()
    const script = "import('phaselock/sdk').then((sdk) => console.log(Object.keys(sdk).join(' ')))"
    expect((await run(process.execPath, ['-e', script], ROOT)).stdout).toContain('AgentClient ApiError')
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

describe.concurrent('the package for Python', () => {
  const source = join(ROOT, 'python')

  it('[REQ-SDK-25] is written for Python 3.9 and imports nothing but the standard library', async () => {
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
    expect(await run('python3', ['-c', script], source)).toMatchObject({ status: 0, stdout: '', stderr: '' })
    const compiled = await run('python3', ['-m', 'compileall', '-q', '-f', copied('compiled')], dir)
    expect(compiled).toMatchObject({ status: 0, stdout: '' })
  })

  it(
    '[REQ-SDK-25] is installed with pip, with its types and without a dependency',
    async (context) => {
      const venv = join(dir, 'venv')
      const python = join(venv, 'bin/python')
      // Without a pip of its own, which takes longer than everything else, where the machine's can be used.
      const isOurs = (await run('python3', ['-c', HAS_PIP], dir)).status === 0
      expect((await run('python3', ['-m', 'venv', ...(isOurs ? ['--without-pip'] : []), venv], dir)).status).toBe(0)
      const pip = (...args: readonly string[]) =>
        isOurs
          ? run('python3', ['-m', 'pip', '--python', python, ...args], dir)
          : run(python, ['-m', 'pip', ...args], dir)
      const install = (...more: readonly string[]) =>
        pip('install', '--no-input', '--no-deps', ...more, copied('installed'))
      const isolated = await install()
      // Without an index there is only what the machine has to build with.
      const done = isolated.status === 0 ? isolated : await install('--no-build-isolation')
      if (done.status !== 0) context.skip(`pip cannot build here: ${lastLine(isolated.stderr)}`)
      const script =
        'import orchestrator_agent_sdk as s, os; print(s.AgentClient, os.path.exists(os.path.join(os.path.dirname(s.__file__), "py.typed")))'
      const ran = await run(python, ['-I', '-c', script], dir)
      expect(ran.stdout).toContain('True')
      const shown = (await pip('show', 'orchestrator-agent-sdk')).stdout
      expect(shown).toContain('Version: 0.2.0')
      expect(shown).toMatch(/^Requires: *$/m)
    },
    INSTALL_MS_MAX,
  )

  it(
    '[REQ-SDK-25] has types that hold',
    async (context) => {
      const mypy = installMypy()
      if (typeof mypy !== 'string') return context.skip(mypy.reason)
      const checked = await run(mypy, ['--cache-dir', MYPY_CACHE], source)
      expect(checked.stdout).toContain('Success: no issues found')
    },
    INSTALL_MS_MAX,
  )

  it('[REQ-SDK-25] has the same calls as the one for TypeScript, under the names of its language', async () => {
    const wanted = Object.getOwnPropertyNames(AgentClient.prototype)
      .filter((name) => name !== 'constructor')
      .map((name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))
      .map((name) => (name === 'continue' ? 'continue_' : name))
    const script = `
import json, orchestrator_agent_sdk as s
print(json.dumps([[n for n in dir(c) if not n.startswith("_")] for c in (s.AgentClient, s.AsyncAgentClient)]))
`
    const ran = await run('python3', ['-c', script], join(source, 'src'))
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

// Older ones cannot install into another environment than their own.
const HAS_PIP = 'import pip, sys; sys.exit(tuple(map(int, pip.__version__.split(".")[:2])) < (22, 3))'

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? 'no reason given'
}
