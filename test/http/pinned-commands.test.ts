import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { depth } from '../depth.js'
import { type Answer, type Running, start } from './harness.js'

const gate = (id: string, more = '') => `
  - id: ${id}
    allowed_tools: [write_files, bash]
    ${more}
    gates:
      - id: ${id.toLowerCase()}_done
        type: validation
        blockers:
          - {check: command_succeeds, run: ./scripts/check.sh, message: Check}
          - {check: command_succeeds, command: lint, message: Lint}
          - {check: command_succeeds, run: npm run style --silent, message: Style}`
const contract = (reconcile: string) => `
name: pinned
version: "1"
phases:
  - {id: BEFORE, allowed_tools: [write_files, bash]}${gate('WORK')}${gate('NAMED', 'writable: ["**", "scripts/check.sh"]')}
  - {id: DONE, allowed_tools: []}
commands: {lint: {run: node tools/lint.mjs}}
enforcement: {denial_budget: 1000, reconcile: ${reconcile}}
`
const PACKAGE = {
  name: 'x',
  version: '1.0.0',
  scripts: { style: 'node scripts/style.mjs', start: 'node src/start.mjs', 'style:fix': 'true' },
}
const FILES: Readonly<Record<string, string>> = {
  'scripts/check.sh': '#!/bin/sh\n. "$(dirname "$0")/lib/common.sh"\ncheck\n',
  'scripts/lib/common.sh': 'check() { grep -q good src/a.txt; }\n',
  'scripts/release.sh': 'exit 1\n',
  'tools/lint.mjs': "import { lint } from './rules.mjs'\nprocess.exit(lint() ? 0 : 1)\n",
  'tools/rules.mjs':
    "import { readFileSync } from 'node:fs'\nimport { name } from '../src/name.mjs'\nexport const lint = () => readFileSync('src/a.txt', 'utf8').includes(name)\n",
  'scripts/style.mjs':
    "import { spawnSync } from 'node:child_process'\nprocess.exit(spawnSync('sh', ['scripts/style/run.sh']).status ?? 1)\n",
  'scripts/style/run.sh': 'grep -q good src/a.txt\n',
  'src/name.mjs': "export const name = 'bad name'\n",
  'src/a.txt': 'poor\n',
  'package.json': JSON.stringify(PACKAGE),
}
const HONEST: Readonly<Record<string, string>> = {
  'src/a.txt': 'good\n',
  'src/name.mjs': "export const name = 'good'\n",
  'scripts/release.sh': 'exit 0\n',
  'scripts/new.sh': 'exit 0\n',
  'package.json': JSON.stringify({
    ...PACKAGE,
    version: '1.1.0',
    dependencies: {},
    scripts: { ...PACKAGE.scripts, start: 'node src/other.mjs', build: 'true' },
  }),
  'vitest.config.ts': 'export default {}\n',
  'AGENT-NOTES.md': 'x\n',
}
const scripts = (about: object) => JSON.stringify({ ...PACKAGE, scripts: { ...PACKAGE.scripts, ...about } })
const FORGED: readonly (readonly [path: string, content: string, check: string, told: string])[] = [
  ['scripts/check.sh', 'exit 0\n', 'Check', 'scripts/check.sh changed'],
  ['scripts/lib/common.sh', 'check() { :; }\n', 'Check', 'scripts/lib/common.sh changed'],
  ['tools/lint.mjs', 'process.exit(0)\n', 'Lint', 'tools/lint.mjs changed'],
  ['tools/rules.mjs', 'export const lint = () => true\n', 'Lint', 'tools/rules.mjs changed'],
  ['scripts/style.mjs', 'process.exit(0)\n', 'Style', 'scripts/style.mjs changed'],
  ['scripts/style/run.sh', 'exit 0\n', 'Style', 'scripts/style/run.sh changed'],
  ['package.json', scripts({ style: 'true' }), 'Style', 'package.json (scripts.style) changed'],
  ['package.json', scripts({ prestyle: 'echo x > /dev/null' }), 'Style', 'package.json (scripts.prestyle) was added'],
  ['.npmrc', 'script-shell=/bin/true\n', 'Style', '.npmrc was added'],
  ['.nvmrc', '4\n', 'Lint', '.nvmrc was added'],
  ['.tool-versions', 'nodejs 4\n', 'Check', '.tool-versions was added'],
]

let run: Running
let token = ''
let task = ''
let count = 0
let tree = ''
const putByHand = (path: string, content: string) => {
  mkdirSync(join(tree, path, '..'), { recursive: true })
  writeFileSync(join(tree, path), content)
  if (path.endsWith('.sh')) chmodSync(join(tree, path), 0o755)
}
const tool = async (tool_name: string, args: object) => {
  const answer = await run.call('POST', '/tools/execute', token, { task_id: task, tool_name, args })
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
}
// As an agent does it, which may run what it wrote.
const put = async (path: string, content: string | null) => {
  if (content === null) return tool('bash', { command: `rm ${path}` })
  await write(path, content)
  if (path.endsWith('.sh')) await tool('bash', { command: `chmod +x ${path}` })
}
const write = (path: string, content: string) => tool('write_files', { path, content })
const move = async (target_phase: string): Promise<Answer> => {
  const answer = await run.call('POST', '/tasks/transition', token, { task_id: task, target_phase })
  if (typeof answer.body.phase_token === 'string') token = answer.body.phase_token
  return answer
}
const told = async (target: string): Promise<readonly string[]> => {
  const { body } = await move(target)
  return body.allowed === true ? [] : (body.blockers as { message: string }[]).map((one) => one.message)
}
const begin = async () => {
  count += 1
  task = `t${count}`
  tree = join(run.workspace, '..', `tree-${count}`)
  for (const [path, content] of Object.entries(FILES)) putByHand(path, content)
  putByHand('.gitignore', 'built/\n')
  await run.addTask({ id: task, workspace: tree })
  token = await run.claim('a', await run.addAgent('a'), task)
}
const end = () => run.call('POST', `/tasks/${task}/cancel`, run.operator, { reason: 'over' })

describe('scripts that gates run count as they were when work began', () => {
  beforeAll(async () => {
    run = await start({ contract: contract('block') })
  })
  afterAll(() => run.stop())
  beforeEach(begin)
  afterEach(end)

  it('[REQ-PIN-1] a forged script, what it loads, a package script or a tool version opens nothing', async () => {
    await move('WORK')
    for (const [path, content] of Object.entries(HONEST)) await write(path, content)
    const together = [FORGED.slice(0, 7), FORGED.slice(7)]
    for (const forged of depth(
      together,
      FORGED.map((one) => [one]),
    )) {
      for (const [path, content] of forged) await put(path, content)
      const messages = await told('NAMED')
      for (const [, , check, text] of forged)
        expect(messages.find((one) => one.startsWith(`${check}: `))).toContain(`${text} since work began`)
      for (const [path] of forged) await put(path, HONEST[path] ?? FILES[path] ?? null)
    }
    expect(await told('NAMED'), 'honest work beside them').toEqual([])
  })

  it('[REQ-PIN-1] the message says what helps, and a command that fails is told as before', async () => {
    await move('WORK')
    expect(await told('NAMED')).toContainEqual(
      expect.stringMatching(/^Check: \.\/scripts\/check\.sh ended with exit code 1/),
    )
    await write('scripts/lib/common.sh', 'check() { :; }\n')
    const [message] = await told('NAMED')
    expect(message).toBe(
      'Check: scripts/lib/common.sh changed since work began. It decides what the command does: put it back, or ask an operator to change it or to name it in `writable` of WORK in the contract',
    )
  })

  it('[REQ-PIN-1] what an earlier phase forged, or was changed beside the tools, opens nothing either', async () => {
    await write('tools/rules.mjs', 'export const lint = () => true\n')
    await move('WORK')
    putByHand('scripts/style/run.sh', 'exit 0\n')
    const messages = (await told('NAMED')).join(' / ')
    expect(messages).toContain('Lint: tools/rules.mjs changed since work began')
    expect(messages).toContain('Style: scripts/style/run.sh changed since work began')
  })

  it('[REQ-PIN-2] a phase that names the script may change it, and no other phase', async () => {
    await move('WORK')
    for (const [path, content] of Object.entries(HONEST)) await write(path, content)
    expect(await told('NAMED')).toEqual([])
    await write('scripts/check.sh', '#!/bin/sh\nexit 0\n')
    await write('tools/lint.mjs', 'process.exit(0)\n')
    expect((await told('DONE')).join(' / ')).toMatch(/^Lint: tools\/lint\.mjs changed since work began\./)
    await write('tools/lint.mjs', String(FILES['tools/lint.mjs']))
    expect(await told('DONE')).toEqual([])
  })

  it('[REQ-PIN-2] an operator can accept a script as it is', async () => {
    await move('WORK')
    for (const [path, content] of Object.entries(HONEST)) await write(path, content)
    putByHand('tools/rules.mjs', 'export const lint = () => true\n')
    expect((await told('NAMED')).join()).toContain('tools/rules.mjs changed since work began')
    const accepted = await run.call('POST', `/tasks/${task}/tree/accept`, run.operator, {
      paths: ['tools/rules.mjs'],
      reason: 'I wrote it',
    })
    expect(accepted.status, JSON.stringify(accepted.body)).toBe(200)
    expect(await told('NAMED')).toEqual([])
  })
})

describe('without a comparison of the tree', () => {
  beforeAll(async () => {
    run = await start({ contract: contract('off') })
  })
  afterAll(() => run.stop())

  it('[REQ-PIN-1] what the ledger saw agents write is held all the same', async () => {
    await begin()
    await move('WORK')
    for (const [path, content] of Object.entries(HONEST)) await write(path, content)
    await write('tools/rules.mjs', 'export const lint = () => true\n')
    expect((await told('NAMED')).join()).toContain('Lint: tools/rules.mjs was added since work began')
    await end()
    await begin()
    await move('WORK')
    for (const path of ['src/a.txt', 'src/name.mjs']) await write(path, String(HONEST[path]))
    expect(await told('NAMED')).toEqual([])
  })
})
