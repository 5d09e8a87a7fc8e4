import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { depth } from '../depth.js'
import { type Answer, type Running, start } from './harness.js'

/** A command of a gate, and the ways in which an agent tried to make it do something else. */
interface Redirected {
  readonly run: string
  readonly env?: Readonly<Record<string, string>>
  readonly files: Readonly<Record<string, string>>
  /** What is written (of package.json: the fields that differ), and how the refusal names it. */
  readonly forged: readonly (readonly [path: string, content: string | object, told?: string])[]
}

const LOOKS = "import { readFileSync } from 'node:fs'\n"
const GOOD = "readFileSync('src/a.txt', 'utf8').includes('good')"
const rule = `${LOOKS}export const isGood = () => ${GOOD}\n`
const yes = 'export const isGood = () => true\n'
const using = (from: string) => `import { isGood } from '${from}'\nprocess.exit(isGood() ? 0 : 1)\n`
const script = `${LOOKS}process.exit(${GOOD} ? 0 : 1)\n`
const common = `process.exit(require('node:fs').${GOOD} ? 0 : 1)\n`
const shell = 'grep -q good src/a.txt || exit 1\n'
const python = "import json, sys\nsys.exit(0 if 'good' in open('src/a.txt').read() else json.loads('1'))\n"
const perl = "sub good { open(my $f, '<', 'src/a.txt'); return <$f> =~ /good/ } 1;\n"
const ROOT = {
  name: 'adder',
  imports: { '#rules': './gates/rules.mjs' },
  exports: { '.': './src/index.mjs', './gate': './gates/self.mjs' },
  bin: { chk: './gates/chk.mjs' },
  scripts: { offered: 'chk', start: 'node src/start.mjs' },
}
const root = (about: object) => JSON.stringify({ ...ROOT, ...about })

const COMMANDS: Readonly<Record<string, Redirected>> = {
  bin: {
    run: 'npx --offline chk',
    files: { 'gates/chk.mjs': `#!/usr/bin/env node\n${script}` },
    forged: [
      ['package.json', { bin: { chk: './src/yes.mjs' } }, 'package.json (bin.chk) changed'],
      ['gates/chk.mjs', ''],
    ],
  },
  imports: {
    run: 'node checks/imports.mjs',
    files: { 'checks/imports.mjs': using('#rules'), 'gates/rules.mjs': rule, 'checks/yes.mjs': yes },
    forged: [
      ['package.json', { imports: { '#rules': './src/yes.mjs' } }, 'package.json (imports) changed'],
      ['checks/package.json', '{"imports":{"#rules":"./yes.mjs"}}', 'checks/package.json was added'],
      ['gates/rules.mjs', yes],
    ],
  },
  itself: {
    run: 'node selves/check.mjs',
    files: { 'selves/check.mjs': using('adder/gate'), 'gates/self.mjs': rule },
    forged: [
      ['package.json', { exports: { './gate': './src/yes.mjs' } }, 'package.json (exports) changed'],
      ['gates/self.mjs', yes],
    ],
  },
  folder: {
    run: 'node verify',
    files: { 'verify/index.js': common },
    forged: [
      ['verify/index.js', ''],
      ['verify/package.json', '{"main":"../src/yes.mjs"}', 'verify/package.json was added'],
      ['verify.js', '', 'verify.js was added'],
    ],
  },
  main: {
    run: 'node entry',
    files: { 'entry/package.json': '{"main":"first.js"}', 'entry/first.js': common },
    forged: [
      ['entry/package.json', '{"main":"../src/yes.mjs"}', 'entry/package.json (main) changed'],
      ['entry/first.js', ''],
    ],
  },
  module: {
    run: 'python3 -m gates.check',
    files: { 'gates/check.py': python, 'gates/__init__.py': '' },
    forged: [
      ['gates/check.py', ''],
      ['gates/__init__.py', 'import sys\nsys.exit(0)\n'],
      ['json.py', 'loads = lambda _: 0\n', 'json.py was added'],
      ['json/__init__.py', 'loads = lambda _: 0\n', 'json/__init__.py was added'],
    ],
  },
  piped: { run: 'cat gates/p.sh | bash', files: { 'gates/p.sh': shell }, forged: [['gates/p.sh', '']] },
  input: { run: 'bash -s -- x < gates/i.sh', files: { 'gates/i.sh': shell }, forged: [['gates/i.sh', '']] },
  sourced: { run: '. gates/s.sh', files: { 'gates/s.sh': shell }, forged: [['gates/s.sh', '']] },
  handed: {
    run: "find hooks -name '*.sh' | sort | xargs bash",
    files: { 'hooks/a/x.sh': shell },
    forged: [
      ['hooks/a/x.sh', ''],
      ['hooks/0.sh', 'true', 'hooks/0.sh was added'],
    ],
  },
  globbed: {
    run: 'for f in each/*.sh; do bash "$f" && exit 0; done; exit 1',
    files: { 'each/a.sh': shell },
    forged: [
      ['each/a.sh', ''],
      ['each/b.sh', 'true', 'each/b.sh was added'],
    ],
  },
  braces: {
    run: 'bash gates/{one,two}.sh',
    files: { 'gates/one.sh': shell, 'gates/two.sh': '' },
    forged: [['gates/one.sh', '']],
  },
  beside: { run: 'node tests/smoke.mjs', files: { 'tests/smoke.mjs': script }, forged: [['tests/smoke.mjs', '']] },
  perl: {
    run: 'perl -Iperl5 gates/check.pl',
    files: { 'gates/check.pl': 'use Rules; exit(good() ? 0 : 1);\n', 'perl5/Rules.pm': perl },
    forged: [
      ['perl5/Rules.pm', 'sub good { 1 } 1;\n'],
      ['gates/check.pl', 'exit 0;\n'],
    ],
  },
  made: {
    run: 'make -f gates/m.mk check',
    files: { 'gates/m.mk': 'include gates/more\n', 'gates/more': 'check:\n\t@bash hold/it.sh\n', 'hold/it.sh': shell },
    forged: [
      ['gates/more', 'check:\n\ttrue\n'],
      ['hold/it.sh', ''],
    ],
  },
  preloaded: {
    run: 'NODE_OPTIONS="--import ./gates/pre.mjs" node gates/after.mjs',
    files: { 'gates/pre.mjs': '', 'gates/after.mjs': script },
    forged: [['gates/pre.mjs', 'process.exit(0)\n']],
  },
  searched: {
    run: 'python3 gates/searched.py',
    env: { PYTHONPATH: 'modules' },
    files: {
      'gates/searched.py': 'import sys, rules\nsys.exit(0 if rules.good() else 1)\n',
      'modules/rules.py': "def good(): return 'good' in open('src/a.txt').read()\n",
    },
    forged: [['modules/rules.py', 'def good(): return True\n']],
  },
  listed: {
    run: 'node gates/listed.mjs',
    files: {
      'gates/listed.mjs': `import { readdirSync } from 'node:fs'
for (const name of readdirSync('rules.d')) if ((await import(\`../rules.d/\${name}\`)).isGood()) process.exit(0)
process.exit(1)
`,
      'rules.d/one.mjs': rule,
    },
    forged: [
      ['rules.d/one.mjs', yes],
      ['rules.d/two.mjs', yes, 'rules.d/two.mjs was added'],
    ],
  },
}
const HONEST: Readonly<Record<string, string>> = {
  'src/a.txt': 'good\n',
  'src/index.mjs': 'export {}\n',
  'calc.py': 'x = 1\n',
  'bench/run.sh': 'true\n',
  'tests/new.mjs': 'x\n',
  'package.json': root({ version: '2.0.0', scripts: { ...ROOT.scripts, start: 'true' }, dependencies: {} }),
}

const blockers = Object.keys(COMMANDS).map(
  (id) => `          - {check: command_succeeds, command: ${id}, message: ${id}}`,
)
const commands = Object.entries(COMMANDS).map(
  ([id, { run, env }]) => `  ${id}: ${JSON.stringify({ run, env: env ?? {} })}`,
)
const CONTRACT = `
name: redirected
version: "1"
phases:
  - id: IMPL
    allowed_tools: [write_files, bash]
    gates:
      - id: done
        type: validation
        blockers:
${blockers.join('\n')}
  - {id: DONE, allowed_tools: []}
commands:
${commands.join('\n')}
enforcement: {denial_budget: 1000}
`

describe('a command of a gate cannot be redirected', () => {
  let run: Running
  let token = ''
  const files: Record<string, string> = {
    'package.json': root({}),
    'src/a.txt': 'poor\n',
    'src/index.mjs': '',
    'src/yes.mjs': `#!/usr/bin/env node\n${yes}`,
  }
  const put = (path: string, content: string, mode = 0o755) => {
    mkdirSync(join(run.workspace, path, '..'), { recursive: true })
    writeFileSync(join(run.workspace, path), content, { mode })
  }
  const tool = async (tool_name: string, args: object) => {
    const { status, body } = await run.call('POST', '/tools/execute', token, { task_id: 't', tool_name, args })
    expect(status, JSON.stringify(body)).toBe(200)
  }
  const write = (path: string, content: string) => tool('write_files', { path, content })
  const ask = (): Promise<Answer> =>
    run.call('POST', '/tasks/transition', token, { task_id: 't', target_phase: 'DONE' })

  beforeAll(async () => {
    run = await start({ contract: CONTRACT })
    for (const one of Object.values(COMMANDS)) Object.assign(files, one.files)
    for (const [path, content] of Object.entries(files)) put(path, content)
    await run.addTask({ id: 't' })
    token = await run.claim('a', await run.addAgent('a'), 't')
  })
  afterAll(() => run.stop())

  const ROUNDS = Math.max(...Object.values(COMMANDS).map(({ forged }) => forged.length))
  it.each(Array.from({ length: depth(1, ROUNDS) }, (_, at) => at))(
    '[REQ-PIN-3] way %i of each command is named and refused',
    async (round) => {
      const tried = Object.entries(COMMANDS).flatMap(([id, { forged }]) => {
        const [path, content, told] = forged[round] ?? []
        return path === undefined ? [] : [{ id, path, content: content ?? '', told: told ?? `${path} changed` }]
      })
      const fields = Object.assign({}, ...tried.map(({ content }) => (typeof content === 'object' ? content : {})))
      for (const { path, content } of tried) await write(path, typeof content === 'object' ? root(fields) : content)
      const messages = (((await ask()).body.blockers ?? []) as { message: string }[]).map((one) => one.message)
      for (const { path } of tried)
        if (files[path] === undefined) await tool('bash', { command: `rm -f ${path}` })
        else await write(path, String(files[path]))
      for (const { id, told } of tried) {
        const message = messages.find((one) => one.startsWith(`${id}: `))
        expect(message, id).toContain(`${told} since work began`)
        expect(message, id).toContain('It decides what the command does: put it back, or ask an operator')
      }
    },
  )

  it('[REQ-PIN-2] honest work beside them is free, and opens the gate', async () => {
    for (const [path, content] of Object.entries(HONEST)) await write(path, content)
    expect((await ask()).body.blockers ?? [], 'nothing is told').toEqual([])
  })
})
