import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readTestSetup } from '../../src/checks/test-setup/test-setup.js'
import { openWorkTree } from '../../src/tree/work-tree.js'
import { contractOf, phase } from '../core/world.js'

type Files = Readonly<Record<string, string>>
const json = (value: object) => JSON.stringify(value)

describe('the files that a command depends on', () => {
  let root: string
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'phaselock-pins-'))
  })
  afterEach(() => rmSync(root, { recursive: true, force: true }))
  const pinned = async (run: string, files: Files, env: Files = {}) => {
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(join(root, path, '..'), { recursive: true })
      writeFileSync(join(root, path), content)
    }
    const scope = { of: 'command' as const, commands: [{ run, env }] }
    const pins = await readTestSetup(openWorkTree(root), contractOf([phase('A')]), [], scope)
    return Object.entries(pins).flatMap(([path, parts]) => [path, ...Object.keys(parts).map((one) => `${path} ${one}`)])
  }

  it.each<[string, Files, string]>([
    [
      'npx chk',
      { 'packages/c/package.json': json({ name: '@x/chk', bin: './run.js' }), 'packages/c/run.js': '' },
      'packages/c/run.js',
    ],
    ['npx .', { 'package.json': json({ name: 'x', bin: { y: 'a/b.js' } }), 'a/b.js': '' }, 'a/b.js'],
    ['node ci/a.js', { 'ci/a.js': '', 'package.json': json({ type: 'module' }) }, 'package.json type'],
    ['node ci/a.js', { 'ci/a.js': '', 'ci/package.json': '{}' }, 'ci/package.json type'],
    [
      'node ci/a.mjs',
      { 'ci/a.mjs': "import 'yaml'", 'package.json': json({ name: 'yaml', exports: './x.js' }) },
      'package.json exports',
    ],
    ['node ci/a.mjs', { 'ci/a.mjs': '', 'package.json': json({ workspaces: ['x'] }) }, 'package.json workspaces'],
    [
      'node ci/a.cjs',
      { 'ci/a.cjs': "require('../verify')", 'verify/package.json': json({ main: 'm.js' }), 'verify/m.js': '' },
      'verify/m.js',
    ],
    ['node --no-warnings verify', { 'verify/index.mjs': '' }, 'verify/index.mjs'],
    ['node gates/run', { 'gates/run': "require('./rules')", 'gates/rules.js': '' }, 'gates/rules.js'],
    ['python3 -m a.b.c', { 'a/__init__.py': '' }, 'a/__init__.py'],
    ['python3 -m json.tool x', { 'json.py': '' }, 'json.py'],
    ['python3 -m checks.run', { 'checks/run.py': 'from . import rules', 'checks/rules.py': '' }, 'checks/rules.py'],
    [
      'python3 -m tools.run',
      { 'tools/run.py': 'from tools import (\n  rules,\n)', 'tools/rules.py': '' },
      'tools/rules.py',
    ],
    ['python3 ci/a.py', { 'ci/a.py': 'import yaml', 'yaml.py': '' }, 'yaml.py present'],
    [
      'python3 ci/a.py',
      { 'ci/a.py': 'import sys\nsys.path.insert(0, "mods")\nimport r', 'mods/r.py': '' },
      'mods/r.py',
    ],
    ['python3 -c "from tools import go"', { 'tools/__init__.py': '', 'tools/go.py': '' }, 'tools/go.py'],
    ['node -e "require(\'./gates/check\')"', { 'gates/check.js': '' }, 'gates/check.js'],
    ['cat gates/x | sh', { 'gates/x': '' }, 'gates/x'],
    ['bash <<< "$(cat gates/x.sh)"', { 'gates/x.sh': '' }, 'gates/x.sh'],
    ['source gates/x.sh && check', { 'gates/x.sh': '' }, 'gates/x.sh'],
    ["sh -c 'for f in gates/*; do sh $f; done'", { 'gates/x': '' }, 'gates/x'],
    ['ls gates | xargs -I{} bash gates/{}', { 'gates/x': '' }, 'gates/x'],
    ['ls gates | xargs -I% bash gates/%', { 'gates/x': '' }, 'gates/x'],
    ['cat list | xargs bash', { list: 'gates/x.sh\n', 'gates/x.sh': '' }, 'gates/x.sh'],
    ["find gates -name '*.sh' -exec bash {} \\;", { 'gates/a/x.sh': '' }, 'gates/a/x.sh'],
    ['find gates -type f -exec {} \\;', { 'gates/a/x': '' }, 'gates/a/x'],
    ['ls gates/*.sh | while read f; do bash "$f"; done', { 'gates/x.sh': '' }, 'gates/x.sh'],
    ['D=gates; bash $D/x.sh', { 'gates/x.sh': '' }, 'gates/x.sh'],
    ['node gates/[ab].mjs', { 'gates/a.mjs': '' }, 'gates/a.mjs'],
    ['bash gates/{1..3}.sh', { 'gates/2.sh': '' }, 'gates/2.sh'],
    ['run-parts gates', { 'gates/x': '' }, 'gates/x'],
    ['bash tests/smoke.sh', { 'tests/smoke.sh': '' }, 'tests/smoke.sh'],
    ['node tests/smoke.test.mjs', { 'tests/smoke.test.mjs': '' }, 'tests/smoke.test.mjs'],
    ['PATH=./gates:$PATH chk', { 'gates/chk': '' }, 'gates/chk'],
    ['perl -MRules -Imods -e 1', { 'mods/Rules.pm': '' }, 'mods/Rules.pm'],
    [
      'perl gates/a.pl',
      { 'gates/a.pl': "use lib 'mods';\nuse My::Rules;", 'mods/My/Rules.pm': '' },
      'mods/My/Rules.pm',
    ],
    ['perl gates/a.pl', { 'gates/a.pl': "require './gates/b.pl';", 'gates/b.pl': '' }, 'gates/b.pl'],
    ['ruby -Imods -rrules gates/a.rb', { 'mods/rules.rb': '', 'gates/a.rb': '' }, 'mods/rules.rb'],
    ['ruby gates/a.rb', { 'gates/a.rb': "require_relative 'b'", 'gates/b.rb': '' }, 'gates/b.rb'],
    ['lua gates/a.lua', { 'gates/a.lua': "require('gates.b')", 'gates/b.lua': '' }, 'gates/b.lua'],
    ['php gates/a.php', { 'gates/a.php': "<?php require __DIR__ . '/b.php';", 'gates/b.php': '' }, 'gates/b.php'],
    ['make', { Makefile: 'include rules/more\n', 'rules/more': '' }, 'rules/more'],
    ['make check', { Makefile: 'check:\n\t@node gates/x.mjs\n', 'gates/x.mjs': '' }, 'gates/x.mjs'],
    ['just check', { justfile: "import 'more.just'\ncheck:\n  @python3 gates/x.py\n", 'gates/x.py': '' }, 'gates/x.py'],
    [
      'task check',
      { 'Taskfile.yml': 'tasks:\n  check:\n    cmds:\n      - bash gates/x.sh\n', 'gates/x.sh': '' },
      'gates/x.sh',
    ],
    [
      'deno task check',
      { 'deno.json': json({ tasks: { check: 'deno run gates/x.ts' } }), 'gates/x.ts': '' },
      'gates/x.ts',
    ],
    [
      'bun run check',
      { 'package.json': json({ scripts: { check: 'bun gates/x.ts' } }), 'gates/x.ts': '' },
      'gates/x.ts',
    ],
    ['node -r ./gates/x src/a.js', { 'gates/x.js': '' }, 'gates/x.js'],
    ['node --loader ./gates/x.mjs src/a.js', { 'gates/x.mjs': '' }, 'gates/x.mjs'],
    ['bash ci/a.sh', { 'ci/a.sh': 'for f in rules/*.sh; do\n  . "$f"\ndone\n', 'rules/x.sh': '' }, 'rules/x.sh'],
    ['bash ci/a.sh', { 'ci/a.sh': 'bash "$ROOT/rules/x.sh"\n', 'deep/rules/x.sh': '' }, 'deep/rules/x.sh'],
    [
      'node ci/a.mjs',
      { 'ci/a.mjs': "for (const n of readdirSync('rules')) await import(join(here, n))", 'rules/x.mjs': '' },
      'rules/x.mjs',
    ],
    [
      'node ci/a.cjs',
      { 'ci/a.cjs': "require(path.join(__dirname, '..', 'rules', name))", 'rules/x.js': '' },
      'rules/x.js',
    ],
    [
      'python3 ci/a.py',
      { 'ci/a.py': "for p in glob('rules/*.py'): exec(open(p).read())", 'rules/x.py': '' },
      'rules/x.py',
    ],
    ['bash gates/{a,{b,c}}.sh', { 'gates/b.sh': '' }, 'gates/b.sh'],
    ['bash {gates,x}/{a,b}.sh', { 'gates/a.sh': '' }, 'gates/a.sh'],
    [
      'python3 ci/a.py',
      { 'ci/a.py': "for f in os.listdir('gates'): subprocess.run(['bash', f])", 'gates/x.sh': '' },
      'gates/x.sh',
    ],
    ['node ci/a.mjs', { 'ci/a.mjs': "execFileSync('bash', ['gates/x.sh'])", 'gates/x.sh': '' }, 'gates/x.sh'],
  ])('[REQ-PIN-3] %s with %j holds %s', async (run, files, path) => {
    expect(await pinned(run, files)).toContain(path)
  })

  it('[REQ-PIN-3] scripts that run the tests are followed through packages and programs too', async () => {
    await pinned('true', {
      'package.json': json({
        name: 'x',
        type: 'module',
        imports: { '#r': './gates/r.mjs' },
        bin: { chk: 'gates/c.mjs' },
      }),
      'ci/run.mjs': "import '#r'",
      'gates/r.mjs': '',
      'gates/c.mjs': '',
    })
    const tests = { run: 'chk && node ci/run.mjs', format: 'auto', report: null, timeoutSeconds: 60, env: {} }
    const contract = { ...contractOf([phase('A')]), commands: new Map([['tests', tests]]) }
    const pins = await readTestSetup(openWorkTree(root), contract)
    expect(Object.keys(pins)).toEqual(expect.arrayContaining(['gates/r.mjs', 'gates/c.mjs']))
    expect(Object.keys(pins['package.json'] ?? {})).toEqual(expect.arrayContaining(['imports', 'bin.chk']))
  })

  it('[REQ-PIN-3] texts that are made to be slow to read are read in time', async () => {
    const long = 250_000
    const slow = [
      'from'.padEnd(long),
      '-exec '.repeat(long / 6),
      'a'.repeat(long),
      '{'.repeat(4000),
      '[a'.repeat(900),
      '${'.repeat(900),
    ]
    const files = Object.fromEntries(
      slow.flatMap((text, at) => [
        [`ci/${at}.mjs`, text],
        [`ci/${at}.sh`, text],
        [`ci/${at}.py`, text],
      ]),
    )
    const begun = performance.now()
    expect(await pinned('for f in ci/*; do node $f; done', files)).toContain('ci/0.mjs')
    expect(performance.now() - begun).toBeLessThan(10_000)
  })

  it('[REQ-PIN-3] variables of the command set up interpreters too', async () => {
    const files = { 'mods/json.py': '', 'gates/a.py': 'import json', 'gates/up.py': '', 'gates/pre.cjs': '' }
    const env = { PYTHONPATH: 'x:mods', PYTHONSTARTUP: 'gates/up.py', NODE_OPTIONS: '--require=./gates/pre' }
    expect(await pinned('python3 gates/a.py', files, env)).toEqual(
      expect.arrayContaining(['mods/json.py', 'gates/up.py', 'gates/pre.cjs']),
    )
  })

  it.each<[string, Files, string]>([
    [
      'node ci/a.mjs',
      { 'ci/a.mjs': '', 'package.json': json({ name: 'x', type: 'module', exports: './i.js', main: 'i.js' }) },
      'package.json',
    ],
    [
      'node ci/a.mjs',
      { 'ci/a.mjs': "import '#x'", 'package.json': json({ imports: { '#x': './src/x.mjs' } }), 'src/x.mjs': '' },
      'src/x.mjs',
    ],
    ['npx eslint src', { 'package.json': json({ name: 'x', bin: { x: 'bin/x.js' } }), 'bin/x.js': '' }, 'bin/x.js'],
    ['node --test tests/a.test.mjs', { 'tests/a.test.mjs': '' }, 'tests/a.test.mjs'],
    [
      'node ci/a.mjs',
      {
        'ci/a.mjs': "import 'x/a'; log('x')",
        'package.json': json({ name: 'x', exports: { './a': './gates/a.mjs', './b': './gates/b.mjs' } }),
        'gates/b.mjs': '',
      },
      'gates/b.mjs',
    ],
    [
      'node ci/a.mjs',
      {
        'ci/a.mjs': "new URL('..', import.meta.url)",
        'package.json': json({ name: 'x', main: './gates/b.mjs' }),
        'gates/b.mjs': '',
      },
      'gates/b.mjs',
    ],
    [
      'node ci/a.mjs',
      {
        'ci/a.mjs': "readdirSync('docs')\nfor (const one of ['web', 'api']) spawnSync('tsc', ['-p', one])",
        'web/x.mjs': '',
      },
      'web/x.mjs',
    ],
    ['npx eslint .', { 'package.json': json({ name: 'x', bin: { x: 'bin/x.js' } }), 'bin/x.js': '' }, 'bin/x.js'],
    ['python3 -c "import calc.ops"', { 'calc/ops.py': '' }, 'calc/ops.py'],
    ['cat src/a.txt | node ci/a.mjs', { 'ci/a.mjs': '', 'src/a.txt': '' }, 'src/a.txt'],
    ['for f in src/*.js; do node --check $f; done', { 'src/a.js': '' }, 'src/a.js'],
    ["find src -name '*.js' | xargs node ci/a.mjs", { 'ci/a.mjs': '', 'src/a.js': '' }, 'src/a.js'],
    ["find src -name '*.js' | xargs -I{} node ci/a.mjs {}", { 'ci/a.mjs': '', 'src/a.js': '' }, 'src/a.js'],
    ["find src -name '*.sh' -exec shellcheck {} \\;", { 'src/a.sh': '' }, 'src/a.sh'],
    ['eslint src/*.js', { 'src/a.js': '' }, 'src/a.js'],
    ["bash -c 'eslint src/*.js'", { 'src/a.js': '' }, 'src/a.js'],
    [
      'cd web && npm run lint',
      { 'web/package.json': json({ main: 'm.js', scripts: { lint: 'eslint .' } }), 'web/m.js': '' },
      'web/m.js',
    ],
    ['python3 ci/a.py', { 'ci/a.py': 'from calc import add', 'calc.py': '' }, 'calc.py '],
    ['python3 ci/a.py', { 'ci/a.py': 'from calc.ops import add', 'calc/ops.py': '' }, 'calc/ops.py'],
    [
      'bash ci/a.sh',
      { 'ci/a.sh': 'node src/cli.mjs check\nnode bin/cli.mjs\n', 'bin/cli.mjs': '', 'src/cli.mjs': '' },
      'bin/cli.mjs',
    ],
    [
      'node ci/a.mjs',
      { 'ci/a.mjs': "for (const n of readdirSync('content')) look(n)", 'content/x.mjs': '' },
      'content/x.mjs',
    ],
    ['node --version && eslint src', { 'src/a.js': '' }, 'src/a.js'],
    ['node ci/a.mjs', { 'ci/a.mjs': '/** looks at ci */ const x = 1 // a/*', 'ci/b.mjs': '' }, 'ci/b.mjs'],
  ])('[REQ-PIN-2] %s with %j leaves %s free', async (run, files, path) => {
    expect(await pinned(run, files)).not.toContain(path)
  })
})
