import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Command } from 'commander'
import { beforeAll, expect, test } from 'vitest'
import { getDefaultStateDir, getSamplePath } from '../../src/cli/places.js'
import { buildProgram } from '../../src/cli/program.js'
import { depth, isFullDepth } from '../depth.js'
import { built, Place } from './program.js'

beforeAll(built)
const place = new Place()

const BROKEN = 'name: x\nversion: "1"\nphases:\n  - id: A\n    allowed_toolz: []\n    gates: 3\n'

function folder(name: string, files: Readonly<Record<string, string>>): string {
  const dir = join(place.home, name)
  mkdirSync(dir)
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, file)), { recursive: true })
    writeFileSync(join(dir, file), text)
  }
  return dir
}

test('[REQ-CLI-14] a broken contract fails with every error at its place, in each format', async () => {
  const cwd = folder('broken', { 'agent_workflow.yaml': BROKEN })
  for (const command of ['validate', 'check']) {
    const text = await place.run([command], { cwd })
    expect(text.code, command).toBe(1)
    expect(text.stdout).toMatch(/agent_workflow.yaml:5:5: error contract.unknown_key: phases\[0\]\.\w+: .*\n {4}\S/)
    expect(text.stdout).toContain('agent_workflow.yaml:6:')
  }
  const json = await place.run(['validate', '--json'], { cwd })
  expect(json.code).toBe(1)
  expect(JSON.parse(json.stdout)).toMatchObject({ diagnostics: [{ line: 5, column: 5 }, { line: 6 }] })
  const sarif = await place.run(['validate', '--format', 'sarif'], { cwd })
  expect(JSON.parse(sarif.stdout)).toMatchObject({ version: '2.1.0', runs: [{ results: expect.any(Array) }] })
  const graph = await place.run(['graph'], { cwd })
  expect(graph).toMatchObject({ code: 1, stdout: '' })
})

test('[REQ-CLI-14] warnings are printed and pass', async () => {
  const text =
    'name: x\nversion: "1"\nphases:\n  - id: A\n    allowed_tools: [grep, bash]\n    forbidden_tools: [bash]\n'
  const cwd = folder('warned', { 'agent_workflow.yaml': text })
  const ended = await place.run(['validate'], { cwd })
  expect(ended.stdout).toContain('warning contract.tool_allowed_and_forbidden')
  expect(ended.code).toBe(0)
})

test('[REQ-CLI-14] several files are checked at once, one bad one fails them all', async () => {
  const cwd = folder('several', { 'bad.yaml': BROKEN })
  const ended = await place.run(['validate', 'tdd', 'bad.yaml', 'gone.yaml'], { cwd })
  expect(ended.code).toBe(1)
  expect(ended.stdout).toMatch(/bad.yaml:5:5[\s\S]*gone.yaml:1:1: error contract.unreadable[\s\S]*tdd.yaml: ok/)
})

test.runIf(isFullDepth())('[REQ-CLI-9] explain and graph print text, pictures and JSON', async () => {
  expect((await place.run(['explain', 'tdd'])).stdout).toMatch(
    /^tests: Phaselock runs `npm test`; new tests are run again with other expectations and must fail then$[\s\S]*Phase PLAN[\s\S]*blocking examples_hold[\s\S]*blocking tests_can_fail[\s\S]*Transitions/m,
  )
  expect(await place.json(['explain', 'tdd'])).toMatchObject({ name: 'tdd', start: 'PLAN' })
  expect((await place.run(['graph', 'tdd'])).stdout).toMatch(/^flowchart TD/)
  expect((await place.run(['graph', 'tdd', '--format', 'dot'])).stdout).toMatch(/^digraph/)
  expect((await place.run(['graph', 'tdd', '--format', 'svg'])).stdout).toMatch(/^<svg[\s\S]*<\/svg>\n$/)
  expect(await place.json(['graph', 'tdd'])).toMatchObject({ format: 'mermaid' })
  expect((await place.run(['graph', 'tdd', '--format', 'png'])).code).toBe(2)
})

const REPOSITORIES: readonly (readonly [name: string, files: Readonly<Record<string, string>>, found: string])[] = [
  ['rust', { 'Cargo.toml': '' }, 'cargo test --no-fail-fast'],
  ['go', { 'go.mod': '' }, 'go test -json ./...'],
  ['java', { 'pom.xml': '' }, 'mvn -B -o test'],
  ['python', { 'pyproject.toml': '' }, 'python3 -m unittest -v'],
  [
    'venv',
    { 'pyproject.toml': 'pytest', '.venv/bin/python': '', '.venv/pyvenv.cfg': '' },
    '.venv/bin/python -m pytest',
  ],
  ['node', { 'package.json': '{"scripts":{"test":"vitest"}}', 'pnpm-lock.yaml': '' }, 'pnpm test'],
  ['pytest', { 'pyproject.toml': '', 'requirements-dev.txt': 'pytest>=8\n' }, 'python3 -m pytest'],
]

test.concurrent.each(depth(REPOSITORIES.slice(-2), REPOSITORIES))(
  '[REQ-CLI-15] init fits a %s repository',
  async (name, files, found) => {
    const cwd = folder(name, files)
    const ended = await place.run(['init', '--yes', '--no-trial'], { cwd })
    expect(ended.code).toBe(0)
    expect(ended.stdout.includes('Whether tests can fail, in Java')).toBe(name === 'java')
    const text = readFileSync(join(cwd, 'agent_workflow.yaml'), 'utf8')
    expect(text).toContain(`The tests are run with: ${found}`)
    expect(text).toContain(`tests: { run: ${found}, `)
    expect(text.includes('java-')).toBe(name === 'java')
    const checked = await place.run(['validate'], { cwd })
    expect(checked).toMatchObject({ code: 0, stdout: expect.stringMatching(/^agent_workflow.yaml: ok/) })
  },
)

test.runIf(isFullDepth())(
  '[REQ-CLI-24] init says once what the gates will not judge, and nothing where they judge everything',
  async () => {
    const java = await place.run(['init', '--yes', '--no-trial'], { cwd: folder('in-java', { 'pom.xml': '' }) })
    expect(java.stdout.replace(/\s+/g, ' ')).toMatch(
      /Not judged here: - Whether tests can fail, in Java: they are not_judged, .* Next:/,
    )
    expect(java.stdout).not.toContain('The results of')
    const karma = { 'package.json': '{"scripts":{"test":"npm run unit","unit":"karma start"}}' }
    const unknown = await place.run(['init', '--json', '--yes', '--no-trial'], { cwd: folder('with-karma', karma) })
    expect(JSON.parse(unknown.stdout).not_judged).toEqual([expect.stringContaining('The results of `npm test`')])
    const mocha = { 'package.json': '{"scripts":{"test":"npm run lint && npm run unit","unit":"c8 mocha"}}' }
    const known = await place.run(['init', '--json', '--yes', '--no-trial'], { cwd: folder('with-mocha', mocha) })
    expect(JSON.parse(known.stdout).not_judged).toEqual([])
  },
)

test.runIf(isFullDepth())('[REQ-CLI-15] init leaves a contract that is there, unless it is forced', async () => {
  const cwd = folder('owned', { 'agent_workflow.yaml': 'mine' })
  for (const args of [['init'], ['init', '--yes']]) {
    const ended = await place.run(args, { cwd })
    expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining('--force') })
    expect(readFileSync(join(cwd, 'agent_workflow.yaml'), 'utf8')).toBe('mine')
  }
  const forced = await place.run(['init', '--force', '--template', 'plan-review', '--json'], { cwd })
  expect(JSON.parse(forced.stdout)).toMatchObject({ template: 'plan-review', git: false })
  const later = await place.run(['init', '--template', 'novel'], { cwd })
  expect(later).toMatchObject({ code: 2, stderr: expect.stringContaining('guardrails, plan-review, ') })
})

test.runIf(isFullDepth())('[REQ-CLI-16] a changed ledger and a changed export are found without a server', async () => {
  const server = await place.serve()
  await place.json(['task', 'add', 'one', '--id', 'one'])
  const file = join(place.home, 'ledger.jsonl')
  const exported = await place.run(['audit', 'export', '-o', file, '--json'])
  expect(JSON.parse(exported.stdout), 'while the server runs').toMatchObject({ events: 4 })
  server.kill('SIGTERM')
  await server.ended
  const key = join(server.stateDir, 'ledger.ed25519.pub')
  expect(await place.json(['audit', 'verify', file, '--public-key', key])).toMatchObject({ ok: true, key: 'given' })
  const lines = (await place.run(['audit', 'export'])).stdout.trim().split('\n')
  expect(lines.map((line) => typeof JSON.parse(line))).toEqual(lines.map(() => 'object'))
  expect(await place.json(['audit', 'verify'])).toMatchObject({ ok: true, where: server.stateDir })
  const note = join(server.stateDir, 'server.json')
  writeFileSync(note, JSON.stringify({ pid: process.pid, url: server.url, started_at: '' }))
  expect(await place.json(['audit', 'verify']), 'with the note of a server that is dead').toMatchObject({
    ok: true,
    where: server.stateDir,
  })
  rmSync(note)

  writeFileSync(file, readFileSync(file, 'utf8').replace('task:one', 'task:two'))
  const changed = await place.run(['audit', 'verify', file])
  expect(changed.code).toBe(1)
  expect(changed.stdout).toMatch(/ledger.jsonl:5: changed_line[\s\S]*NOT intact/)
  const foreign = await place.run(['audit', 'verify', file, '--public-key', file])
  expect(foreign.code).toBe(2)

  const head = join(server.stateDir, 'ledger.key')
  writeFileSync(head, Buffer.alloc(32, 7))
  const verified = await place.run(['audit', 'verify'])
  expect(verified.code).toBe(1)
  expect(verified.stdout).toMatch(/changed_event|head_invalid/)
  const refused = await place.run(['serve', '--port', '0'])
  expect(refused.code, '[REQ-CLI-2]').toBe(1)
  expect(refused.stderr).toMatch(/audit verify/)
  const doctor = await place.run(['doctor', '--json'])
  expect(doctor.code, '[REQ-CLI-21]').toBe(1)
})

test('[REQ-CLI-16] where there is no ledger the commands say so', async () => {
  const empty = folder('empty', {})
  const ended = await place.run(['audit', 'export', '--state-dir', empty])
  expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining('There is no ledger') })
})

test.runIf(isFullDepth())('[REQ-CLI-21] doctor names what is missing with its remedy', async () => {
  const cwd = folder('sick', { 'agent_workflow.yaml': BROKEN })
  const ended = await place.run(['doctor', '--port', '0'], { cwd, env: { ORCHESTRATOR_JWT_SECRET: 'short' } })
  expect(ended.code).toBe(1)
  expect(ended.stdout).toMatch(/missing +contract [\s\S]*phaselock validate/)
  expect(ended.stdout).toMatch(/missing +secret [\s\S]*openssl rand/)
  expect(ended.stdout).toMatch(/(ok|missing) +confinement +/)
  const well = folder('well', {})
  const healthy = await place.run(['doctor', '--port', '0', '--json'], { cwd: well })
  expect(healthy.code).toBe(0)
  expect(JSON.parse(healthy.stdout)).toMatchObject({ ok: true })
})

test.runIf(isFullDepth())('[REQ-WALL-17] doctor names programs on the PATH that commands do not see', async () => {
  const hidden = folder('hidden-tools', { 'a-tool-of-mine': '#!/bin/sh\n' })
  const env = { PATH: `${hidden}:${process.env.PATH ?? ''}` }
  const cwd = folder('with-tools', { 'package.json': '{"devDependencies": {"vitest": "4"}}' })
  const ended = await place.run(['doctor', '--port', '0', '--json'], { cwd, env })
  const { findings } = JSON.parse(ended.stdout) as {
    findings: { name: string; status: string; detail: string; remedy: string }[]
  }
  const named = findings.find((one) => one.name === 'hidden tools' && one.detail.includes(hidden))
  expect(named).toMatchObject({ status: 'warning', detail: expect.stringContaining('a-tool-of-mine') })
  expect(findings.map((one) => one.name)).toContain('tools in sandbox')
  const find = (name: string) => findings.find((one) => one.name === name)
  expect(find('runner memory'), '[REQ-CLI-25]').toMatchObject({
    detail: expect.stringMatching(/^out of reach of code under test|^parents' memory stays writable/),
  })
  expect(find('caches for tests'), '[REQ-CLI-25]').toMatchObject({ status: 'warning', remedy: 'Run: npm ci' })
})

/** Every command with the words that lead to it. */
function commandPaths(command: Command = buildProgram(), path: readonly string[] = []): readonly (readonly string[])[] {
  return [path, ...command.commands.flatMap((one) => commandPaths(one, [...path, one.name()]))]
}

test('[REQ-CLI-18] every command has a help with an example, within 80 columns', () => {
  for (const path of commandPaths()) {
    const command = path.reduce<Command>(
      (at, word) => at.commands.find((one) => one.name() === word) ?? at,
      buildProgram(),
    )
    let text = ''
    command.configureOutput({ writeOut: (part) => (text += part) }).outputHelp()
    expect(text, path.join(' ')).toMatch(/Examples:\n {2}\S/)
    for (const line of text.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80)
  }
})

test('[REQ-CLI-27] the first help lists common commands, and --all lists every command', async () => {
  const [first, all] = await Promise.all([place.run(['--help']), place.run(['--help', '--all'])])
  for (const name of ['init', 'claude', 'approve', 'status'])
    expect(first.stdout).toMatch(new RegExp(`^  ${name} `, 'm'))
  for (const name of ['mcp', 'untrust']) expect(first.stdout).not.toMatch(new RegExp(`^  ${name} `, 'm'))
  expect(first.stdout).toContain('phaselock --help --all')
  for (const [name, ...rest] of commandPaths().slice(1))
    if (rest.length === 0) expect(all.stdout).toMatch(new RegExp(`^  ${name}[ |]`, 'm'))
  const unknown = await place.run(['aprove'])
  expect(unknown).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('Did you mean approve?') })
})

test('[REQ-CLI-27] phaselock alone says what to do next in this folder', async () => {
  const say = async (cwd: string): Promise<string> => {
    const ended = await place.run([], { cwd })
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    return ended.stdout
  }
  const cwd = folder('nothing-yet', {})
  expect(await say(cwd)).toMatch(/not in a git repository[\s\S]* demo\n[\s\S]*cd YOUR-REPOSITORY && \S+ init\n/)
  mkdirSync(join(cwd, '.git'))
  mkdirSync(join(cwd, 'part'))
  expect(await say(join(cwd, 'part'))).toMatch(/has no contract yet[\s\S]*1\. [^:]+: +\S+ init\n/)
  writeFileSync(join(cwd, 'agent_workflow.yaml'), 'name: x\n')
  expect(await say(cwd)).toMatch(
    /has a contract, agent_workflow\.yaml, and no server runs[\s\S]*\d\. Only start the server: +\S+ up\n/,
  )
})

test('[REQ-CLI-28] in a repository with a contract no command acts on the sample project', async () => {
  const sample = getSamplePath(place.environment)
  mkdirSync(sample, { recursive: true })
  const stateDir = getDefaultStateDir(sample, place.environment)
  mkdirSync(stateDir, { recursive: true })
  // A live process, as far as the note of a server says.
  const note = { pid: process.pid, url: 'http://localhost:9', started_at: '' }
  writeFileSync(join(stateDir, 'server.json'), JSON.stringify(note))
  const [own, other] = [folder('own', { 'agent_workflow.yaml': 'name: x\n' }), folder('elsewhere', {})]
  try {
    for (const args of [['status'], ['task', 'list'], ['abort']]) {
      const refused = await place.run(args, { cwd: own })
      expect(refused, args.join(' ')).toMatchObject({ code: 3, stdout: '' })
      expect(refused.stderr).not.toContain('localhost:9')
    }
    expect((await place.run(['down'], { cwd: own })).stdout).toContain('No server runs for this work tree')
    // Elsewhere the sample is what a newcomer means.
    expect((await place.run(['status'], { cwd: other })).stderr).toContain('localhost:9')
  } finally {
    rmSync(stateDir, { recursive: true })
  }
})

test('[REQ-CLI-17] completion scripts are valid and name every command', async () => {
  const shells = ['bash', 'zsh', 'fish'] as const
  for (const shell of shells) {
    const { stdout } = await place.run(['completion', shell])
    for (const path of commandPaths()) for (const word of path) expect(stdout, shell).toContain(word)
    const check = spawnSync(shell, ['-n'], { input: stdout, encoding: 'utf8' })
    if (check.error === undefined) expect(check.stderr, shell).toBe('')
  }
  const typed = `COMP_WORDS=(phaselock task re); COMP_CWORD=2; _phaselock; echo "\${COMPREPLY[*]}"`
  const { stdout: script } = await place.run(['completion', 'bash'])
  const completed = spawnSync('bash', ['-c', `${script}\n${typed}`], { encoding: 'utf8' })
  expect(completed.stdout.trim()).toBe('resume rewind reassign reviewer')
  expect((await place.run(['completion', 'tcsh'])).code).toBe(2)
})

test.runIf(isFullDepth())('[REQ-CLI-10] colours are left out where there is no terminal', async () => {
  for (const args of [['doctor'], ['explain', 'tdd'], ['--help'], ['status']]) {
    const ended = await place.run(args, { env: { TERM: 'xterm-256color' } })
    expect(ended.stdout + ended.stderr).not.toContain('\u001B')
  }
})
