import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { BUNDLED_BASES } from '../../src/contract/bundled-contracts.js'
import { explainContract, explainJson } from '../../src/contract/explain.js'
import { TOOL_GROUPS } from '../../src/contract/extend/tool-groups.js'
import { formatText } from '../../src/contract/format-diagnostics.js'
import { type LoadedContract, loadContractFile, loadContractText } from '../../src/contract/load/load-contract.js'
import { BUILT_IN_TOOLS } from '../../src/core/tool-calls/built-in-tools.js'
import { marked } from './broken-contracts.js'
import { formatErrors } from './format-schema.js'
import { mustLoad } from './load.js'

interface Case {
  readonly name: string
  readonly files: Readonly<Record<string, string>>
  readonly links?: Readonly<Record<string, string>>
  readonly large?: string
  readonly gives?: Readonly<Record<string, unknown>>
  readonly code: string
  readonly says?: string
}

const CASES = parse(readFileSync(new URL('../cases/extended-contracts.yaml', import.meta.url), 'utf8')) as {
  readonly loads: readonly Case[]
  readonly refused: readonly Case[]
}
const CONTRACT = 'agent_workflow.yaml'
const root = mkdtempSync(join(tmpdir(), 'phaselock-extends-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))
let count = 0

/** Puts the files into a folder; gives the contract, and the place that is marked. */
function put({ files, links = {}, large }: Pick<Case, 'files' | 'links' | 'large'>) {
  count += 1
  const folder = join(root, String(count))
  let at: string | null = null
  mkdirSync(folder)
  for (const [name, source] of Object.entries(files)) {
    const found = marked(source)
    const path = join(folder, name)
    if (found.at !== null) at = `${path}:${found.at}`
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, found.text)
  }
  for (const [name, target] of Object.entries(links)) symlinkSync(target, join(folder, name))
  if (large !== undefined) writeFileSync(join(folder, large), `# ${'x'.repeat(1024 * 1024)}\n`)
  return { file: join(folder, CONTRACT), at, folder }
}

async function load(files: Readonly<Record<string, string>>): Promise<LoadedContract> {
  const result = await loadContractFile(put({ files }).file)
  if (!result.ok) expect.fail(formatText(result.diagnostics))
  return result
}

function find(value: unknown, path: string): unknown {
  return path.split('.').reduce((inner, key) => (inner as Record<string, unknown> | undefined)?.[key], value)
}

describe('a contract that extends others', () => {
  it('has at least 20 cases of each kind', () => {
    expect(CASES.loads.length).toBeGreaterThanOrEqual(20)
    expect(CASES.refused.length).toBeGreaterThanOrEqual(20)
  })

  it.each(CASES.refused)('[REQ-EXTENDS-2] does not load with $name', async (broken) => {
    const { file, at } = put(broken)
    const result = await loadContractFile(file)
    if (result.ok) expect.fail('it loaded')
    const found = result.diagnostics.map((d) => `${d.code} ${d.file}:${d.line}:${d.column}`)
    expect(found).toContain(`${broken.code} ${at}`)
    const hit = result.diagnostics.find((d) => d.code === broken.code)
    expect(hit?.remedy).not.toBe('')
    if (broken.says !== undefined) expect(`${hit?.message} ${hit?.remedy}`).toContain(broken.says)
  })

  it.each(CASES.loads)('[REQ-EXTENDS-1] loads with $name', async ({ files, links, gives = {} }) => {
    const result = await loadContractFile(put({ files, ...(links === undefined ? {} : { links }) }).file)
    if (!result.ok) expect.fail(formatText(result.diagnostics))
    expect(result.warnings).toEqual([])
    const given = Object.fromEntries(Object.keys(gives).map((path) => [path, find(result.document, path)]))
    expect(given).toEqual(gives)
    // Editors do not complain, and the canonical document stands for itself.
    expect(formatErrors(parse(files[CONTRACT] ?? ''))).toEqual([])
    const again = await mustLoad(JSON.stringify(result.document))
    expect(again.contract.hash).toBe(result.contract.hash)
  })

  it('[REQ-EXTENDS-2] is refused over the wire where it names a file, and not where it names a preset', async () => {
    const alone = { file: 'contract', baseDir: null }
    const refused = await loadContractText('extends: base.yaml\n', alone)
    expect(refused).toMatchObject({ ok: false, diagnostics: [{ code: 'contract.unknown_base', line: 1, column: 10 }] })
    expect(await loadContractText('extends: phaselock/tdd\n', alone)).toMatchObject({ ok: true })
  })

  it('[REQ-EXTENDS-3] has another hash when a base changes, and the same when only a comment does', async () => {
    const hashOf = async (base: string) =>
      (await load({ [CONTRACT]: 'extends: base.yaml\n', 'base.yaml': base })).contract.hash
    const base = 'name: t\nversion: "1"\nphases: [{id: A, prompt: one}, {id: B}]\n'
    const first = await hashOf(base)
    expect(await hashOf(`# words\n${base}`)).toBe(first)
    expect(await hashOf(base.replace('one', 'two'))).not.toBe(first)
  })

  it('[REQ-EXTENDS-4] is explained with the place of each value, as text and as JSON', async () => {
    const result = await load({
      [CONTRACT]: 'name: mine\nextends: [phaselock/tdd, base.yaml]\nphases:\n  PLAN:\n    prompt: Plan it.\n',
      'base.yaml': '# one\ncommands:\n  tests:\n    run: make check\n',
    })
    const own = result.file
    const base = own.replace(CONTRACT, 'base.yaml')
    const { extends: bases, origins } = explainJson(result) as { extends: unknown; origins: Record<string, string> }
    expect(bases).toEqual(['phaselock/tdd', base])
    expect(origins).toMatchObject({
      name: `${own}:1`,
      'phases.PLAN.prompt': `${own}:5`,
      'commands.tests.run': `${base}:4`,
    })
    const line = findLine('contracts/tdd.yaml', 'id: plan_approval')
    expect(origins['phases.PLAN.gates.plan_approval.id']).toBe(`phaselock/tdd:${line}`)
    expect(origins['commands.tests.timeout_seconds']).toMatch(/^phaselock\/tdd:\d+$/)
    expect(explainContract(result)).not.toContain('Where each value comes from')
    expect(explainContract(result)).toContain('--sources lists where each value comes from')
    const text = explainContract(result, { sources: true })
    expect(text).toContain(`Extends phaselock/tdd, ${base}\n`)
    expect(text).toContain(`  phases.PLAN.prompt  (${own}:5)\n`)
    expect(text).toContain(`  commands.tests.run  (${base}:4)\n`)
    expect(text).toContain(`  phases.IMPL  (phaselock/tdd:${findLine('contracts/tdd.yaml', '- id: IMPL')})\n`)
    expect(text).toContain(
      `  gate plan_approval: approval by 1 of human within 1d, after that the task is parked  (phaselock/tdd:${line})`,
    )
  })

  it('[REQ-EXTENDS-4] names its files, and those that links lead to', async () => {
    const files = { [CONTRACT]: 'extends: link.yaml\n', 'a/b.yaml': 'extends: phaselock/tdd\n' }
    const { file, folder } = put({ files, links: { 'link.yaml': 'a/b.yaml' } })
    const result = await loadContractFile(file)
    expect(result).toMatchObject({
      ok: true,
      bases: [
        { name: 'phaselock/tdd', paths: [] },
        { name: join(folder, 'link.yaml'), paths: [join(folder, 'link.yaml'), join(folder, 'a/b.yaml')] },
      ],
    })
  })
})

describe('docs/extends.md', () => {
  const text = readFileSync(new URL('../../docs/extends.md', import.meta.url), 'utf8')
  const contracts = [...text.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, contract = '']) => contract)

  it.each(contracts)('[REQ-EXTENDS-1] a contract in it loads without a warning\n%s', async (contract) => {
    expect((await mustLoad(contract)).warnings).toEqual([])
    expect(formatErrors(parse(contract))).toEqual([])
  })

  it('[REQ-EXTENDS-5] it names every preset and every group of tools with its tools', () => {
    const named = [...BUNDLED_BASES].flatMap(([name, path]) =>
      path.includes('/presets/') ? [`\`${name.replace('phaselock/', '')}\``] : [],
    )
    const groups = [...TOOL_GROUPS].map(
      ([group, tools]) => `| \`${group}\` | ${tools.map((tool) => `\`${tool}\``).join(', ')} |`,
    )
    expect([...named, ...groups].filter((words) => !text.includes(words))).toEqual([])
  })
})

describe('what ships with Phaselock', () => {
  const presets = [...BUNDLED_BASES.keys()]

  it('[REQ-EXTENDS-5] holds the presets of the languages', () => {
    const languages = ['go', 'rust', 'java-maven', 'java-gradle', 'ruby-rspec', 'php-phpunit', 'dotnet']
    const scripts = ['javascript', 'typescript'].flatMap((language) =>
      ['node-test', 'jest', 'mocha', 'vitest'].map((runner) => `${language}-${runner}`),
    )
    const names = [...languages, ...scripts, 'python-pytest', 'python-unittest', 'tdd', 'plan-review']
    expect(names.filter((name) => !presets.includes(`phaselock/${name}`))).toEqual([])
  })

  it.each([...BUNDLED_BASES])('[REQ-EXTENDS-5] %s can be extended without a warning', async (name, path) => {
    const isPreset = path.includes('/presets/')
    const { contract, warnings } = await mustLoad(`extends: ${isPreset ? `[phaselock/tdd, ${name}]` : name}\n`)
    expect(warnings).toEqual([])
    if (!isPreset) return
    expect(contract.commands.get('tests')).toMatchObject({ run: expect.stringMatching(/\w/), timeoutSeconds: 600 })
    const { allowedPatterns } = contract.phases.get('TDD')?.constraints.get('write_files') ?? {}
    expect(allowedPatterns).toEqual(contract.tests.patterns)
  })

  it('[REQ-EXTENDS-6] groups only tools that are built in', () => {
    expect([...TOOL_GROUPS.values()].flat().filter((tool) => !BUILT_IN_TOOLS.has(tool))).toEqual([])
  })
})

function findLine(file: string, text: string): number {
  const lines = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8').split('\n')
  return lines.findIndex((line) => line.includes(text)) + 1
}
