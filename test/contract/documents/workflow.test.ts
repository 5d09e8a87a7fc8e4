import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { loadContractFile, loadContractText } from '../../../src/contract/load/load-contract.js'
import { mustLoad } from '../load.js'

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

function folderOf(files: Readonly<Record<string, string | Buffer>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'phaselock-documents-'))
  folders.push(folder)
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(folder, dirname(name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  return folder
}

const METADATA = '{"workflow_type": "demo", "version": "1.0", "name": "A demo"}'
const PHASE = '# Phase 1: Look\n\n## Checkpoint\n\n- `count` (integer, at least 1)\n'
const SECOND = '# Phase 2: Write\n\n## Checkpoint\n\n- [ ] Done {#done}\n'
const TWO = { 'metadata.json': METADATA, 'phases/1/phase.md': PHASE, 'phases/2/phase.md': SECOND }

async function problemsOf(path: string): Promise<string[]> {
  const loaded = await loadContractFile(path)
  const found = loaded.ok ? loaded.warnings : loaded.diagnostics
  return found.map((one) => `${one.file.slice(path.length + 1)}:${one.line}:${one.column} ${one.code}`)
}

async function load(path: string) {
  const loaded = await loadContractFile(path)
  if (!loaded.ok) expect.fail(JSON.stringify(loaded.diagnostics, null, 1))
  return loaded
}

describe('a folder that is not a workflow', () => {
  it.each([
    ['without metadata', { 'phases/1/phase.md': PHASE }, ['metadata.yaml:1:1 contract.missing_field']],
    [
      'with two files of metadata',
      { ...TWO, 'metadata.yaml': 'version: "1"' },
      ['metadata.yaml:1:1 contract.duplicate_key'],
    ],
    ['without phases', { 'metadata.json': METADATA }, ['phases:1:1 contract.no_phases']],
    [
      'with a phase that has no document',
      { ...TWO, 'phases/3/notes.md': 'x' },
      ['phases/3/phase.md:1:1 contract.unreadable'],
    ],
    [
      'with a phase that is missing',
      { ...TWO, 'phases/4/phase.md': SECOND.replace('2', '4') },
      ['phases/4/phase.md:1:1 contract.invalid_value'],
    ],
    [
      'that begins at 2',
      { 'metadata.json': METADATA, 'phases/2/phase.md': SECOND },
      ['phases/2/phase.md:1:1 contract.invalid_value'],
    ],
    ['with one number twice', { ...TWO, 'phases/01/phase.md': PHASE }, ['phases/1/phase.md:1:1 contract.duplicate_id']],
    [
      'with a document whose title has another number',
      { ...TWO, 'phases/2/phase.md': SECOND.replace('Phase 2', 'Phase 3') },
      ['phases/2/phase.md:1:1 contract.invalid_value'],
    ],
    [
      'with a document whose front matter has another number',
      { ...TWO, 'phases/2/phase.md': `---\nphase: 1\n---\n${SECOND}` },
      ['phases/2/phase.md:2:1 contract.invalid_value'],
    ],
    [
      'with a phase whose folder has a name',
      { ...TWO, 'phases/3-ship/phase.md': SECOND.replace('2', '3') },
      ['phases/3-ship:1:1 contract.invalid_value'],
    ],
    [
      'with a gate file of another name',
      { ...TWO, 'phases/1/gate-definition.yml': 'count: {type: integer, min: 3}\n' },
      ['phases/1/gate-definition.yml:1:1 contract.invalid_value'],
    ],
    [
      'with an empty gate file',
      { ...TWO, 'phases/1/gate-definition.yaml': '# count: {type: integer, min: 3}\n' },
      ['phases/1/gate-definition.yaml:1:1 bad_yaml'],
    ],
    [
      'with a task of another name',
      { ...TWO, 'phases/1/task_2.md': 'x\n' },
      ['phases/1/task_2.md:1:1 contract.invalid_value'],
    ],
    [
      'whose total is another',
      { ...TWO, 'metadata.json': '{"workflow_type": "d", "version": "1", "total_phases": 3}' },
      ['metadata.json:1:40 contract.invalid_value'],
    ],
    [
      'whose metadata has a misspelled key',
      { ...TWO, 'metadata.json': '{"workflow_type": "d", "version": "1", "forbiden_tools": ["bash"]}' },
      ['metadata.json:1:40 contract.unknown_key'],
    ],
    ['with broken metadata', { ...TWO, 'metadata.json': '{' }, ['metadata.json:1:2 bad_yaml']],
    [
      'with a gate file that disagrees',
      { ...TWO, 'phases/1/gate-definition.yaml': 'count: {type: integer, min: 3}\n' },
      ['phases/1/phase.md:5:4 gate_drift'],
    ],
    [
      'with a gate file that runs code',
      { ...TWO, 'phases/1/gate-definition.yaml': 'count: {type: integer, validator: "lambda x: exit(x)"}\n' },
      ['phases/1/gate-definition.yaml:1:1 unknown_validator'],
    ],
    [
      'with a gate file that is no YAML',
      { ...TWO, 'phases/1/gate-definition.yaml': 'count: [' },
      ['phases/1/gate-definition.yaml:1:9 bad_yaml'],
    ],
    [
      'with an alias bomb',
      {
        ...TWO,
        'phases/1/gate-definition.yaml': `a: &a [x, x]\n${Array.from({ length: 120 }, (_, n) => `b${n}: *a`).join('\n')}`,
      },
      ['phases/1/gate-definition.yaml:102:7 bad_yaml'],
    ],
    ['with a NUL', { ...TWO, 'phases/1/phase.md': `${PHASE}\n\0` }, ['phases/1/phase.md:7:1 contract.nul_byte']],
    [
      'with bytes that are not text',
      { ...TWO, 'phases/1/phase.md': Buffer.from([0xff, 0xfe, 0x41]) },
      ['phases/1/phase.md:1:1 contract.not_utf8'],
    ],
    [
      'with a list that is nested too deeply',
      {
        ...TWO,
        'phases/1/phase.md': `${PHASE}${Array.from({ length: 80 }, (_, n) => `${'  '.repeat(n)}- x`).join('\n')}`,
      },
      ['phases/1/phase.md:34:1 contract.too_deep'],
    ],
    [
      'with a document without requirements',
      { ...TWO, 'phases/2/phase.md': '# Phase 2: Write\n\nWrite.\n' },
      ['phases/2/phase.md:1:1 no_gate_section'],
    ],
  ] as const)('[REQ-DOC-3] %s is refused', async (_name, files, problems) => {
    expect((await loadContractFile(folderOf(files))).ok).toBe(false)
    expect(await problemsOf(folderOf(files))).toEqual(problems)
  })

  it('[REQ-DOC-3] a phase without requirements is named with its document', async () => {
    const folder = folderOf({ ...TWO, 'phases/2/phase.md': '# Two\n' })
    const loaded = await loadContractFile(folder)
    expect(loaded.ok ? [] : loaded.diagnostics.map((one) => one.message)).toEqual([
      `Phase 2 (${folder}/phases/2/phase.md) defines no checkpoint evidence.`,
    ])
  })

  it('[REQ-DOC-4] a link is not followed, whether it is the document, its folder or all phases', async () => {
    const outside = folderOf({ 'phase.md': PHASE, '1/phase.md': PHASE })
    const document = folderOf({ 'metadata.json': METADATA, 'phases/1/x': '' })
    symlinkSync(join(outside, 'phase.md'), join(document, 'phases/1/phase.md'))
    const phase = folderOf({ 'metadata.json': METADATA, 'phases/x': '' })
    symlinkSync(outside, join(phase, 'phases/1'))
    const all = folderOf({ 'metadata.json': METADATA })
    symlinkSync(outside, join(all, 'phases'))
    for (const folder of [document, phase, all]) expect((await loadContractFile(folder)).ok, folder).toBe(false)
  })

  it('[REQ-DOC-4] a document larger than 1 MiB is refused', async () => {
    const folder = folderOf({ ...TWO, 'phases/1/phase.md': `${PHASE}${'x '.repeat(600_000)}` })
    expect(await problemsOf(folder)).toEqual(['phases/1/phase.md:1:1 contract.too_large'])
  })

  it('[REQ-DOC-4] a text made to be slow is read in time', async () => {
    const slow = [...'a!漢'].map((char) => char.repeat(100_000)).join('\n\n')
    const started = Date.now()
    await load(folderOf({ ...TWO, 'phases/1/phase.md': `${PHASE}\n${slow}\n\n${'['.repeat(50_000)}` }))
    expect(Date.now() - started).toBeLessThan(20_000)
  })
})

describe('a folder with a workflow', () => {
  it('[REQ-DOC-5] becomes a contract whose phases are the numbers of its documents', async () => {
    const { contract } = await load(folderOf(TWO))
    expect([contract.name, contract.version, contract.description]).toEqual(['demo', '1.0', 'A demo'])
    expect([...contract.phases].map(([id, phase]) => [id, phase.name, phase.document?.number])).toEqual([
      ['1', 'Look', 1],
      ['2', 'Write', 2],
    ])
    expect(contract.transitions.map(({ from, to }) => `${from}-${to}`)).toEqual(['1-2'])
  })

  it('[REQ-DOC-5] may begin at 0, and phase 0 is a phase', async () => {
    const files = {
      'metadata.yaml': 'workflow_type: z\nversion: "1"\n',
      'phases/0/phase.md': PHASE.replace('1', '0'),
      'phases/1/phase.md': SECOND.replace('2', '1'),
    }
    const { contract } = await load(folderOf(files))
    expect(contract.start).toBe('0')
    expect(contract.phases.get('0')?.document?.number).toBe(0)
  })

  it('[REQ-DOC-6] a phase carries its own document, its tasks in order, its examples and its size', async () => {
    const body = `---\ntags: [x]\nallowed_tools: [grep]\n---\n${PHASE}\n## Example\n\n\`\`\`json\n{"count": 3}\n\`\`\`\n`
    const { contract } = await load(
      folderOf({
        ...TWO,
        'phases/1/phase.md': body,
        'phases/1/task-10-last.md': '# Last\n',
        'phases/1/task-2-first.md': '# First\n\nDo it.\n',
        'phases/1/README.md': 'not a task',
      }),
    )
    const phase = contract.phases.get('1')
    expect(phase?.allowedTools).toEqual(['grep'])
    expect(phase?.document).toEqual({
      number: 1,
      content: body.slice(body.indexOf('# Phase')).trimEnd(),
      sources: [{ file: 'phases/1/phase.md', line: 5 }],
      totalTokens: expect.any(Number),
      examples: { count: 3 },
      tasks: [
        { id: 'task-2', title: 'First', content: '# First\n\nDo it.' },
        { id: 'task-10', title: 'Last', content: '# Last' },
      ],
    })
    expect(phase?.document?.totalTokens).toBeGreaterThan(20)
    expect(phase?.evidence.get('count')).toMatchObject({
      min: 1,
      rules: ['at least 1'],
      source: { file: 'phases/1/phase.md', line: 9 },
    })
  })

  it('[REQ-DOC-7] the hash is the same wherever the folder lies, and another when a document changes', async () => {
    const hash = async (files: Record<string, string>) => (await load(folderOf(files))).contract.hash
    const first = await hash(TWO)
    expect(await hash(TWO)).toBe(first)
    expect(await hash({ ...TWO, 'phases/2/phase.md': `${SECOND}\nOne more word.\n` })).not.toBe(first)
    expect(await hash({ ...TWO, 'phases/1/task-1-x.md': 'New.\n' })).not.toBe(first)
  })

  it('[REQ-DOC-7] the canonical document is a contract with the same hash', async () => {
    const body = '# Phase 1\n\n## Checkpoint\n\n- `ratio` (number, greater than 0)\n- `is_ok` (boolean, may be false)\n'
    const { contract, document } = await load(folderOf({ ...TWO, 'phases/1/phase.md': body }))
    const again = await mustLoad(JSON.stringify(document))
    expect(again.contract.hash).toBe(contract.hash)
    expect(again.contract).toEqual(contract)
  })

  it('[REQ-DOC-8] a rule over several fields becomes a gate', async () => {
    const rules = 'count: {type: integer, min: 1}\nrules: [{when: "evidence.count < 10", message: Too many}]\n'
    const { contract } = await load(folderOf({ ...TWO, 'phases/1/gate-definition.yaml': rules }))
    expect(contract.phases.get('1')?.gates.map(({ id, blockers }) => [id, blockers])).toEqual([
      [
        'evidence_rules',
        [{ check: 'expression', severity: 'blocking', message: 'Too many', params: { when: 'evidence.count < 10' } }],
      ],
    ])
  })

  it('[REQ-DOC-8] settings of metadata hold for every phase that does not say otherwise', async () => {
    const metadata =
      'workflow_type: d\nversion: "1"\nallowed_tools: [read_files]\nphases: [{phase_number: 2, allowed_tools: [write_files], writable: ["a/**"]}]\n'
    const { 'metadata.json': _, ...files } = TWO
    const { contract } = await load(folderOf({ ...files, 'metadata.yaml': metadata }))
    expect([...contract.phases.values()].map((phase) => [phase.allowedTools, phase.writable])).toEqual([
      [['read_files'], null],
      [['write_files'], ['a/**']],
    ])
  })
})

describe('a workflow in one file', () => {
  const TEXT = `# Demo\n\n## Phase 1: Look\n\n### Checkpoint\n\n- \`count\` (integer)\n\n## Phase 2: Write\n\n### Checkpoint\n\n- [ ] Done {#done}\n`

  it.each([
    [
      'phases out of order',
      TEXT.replace('## Phase 1', '## Phase 3'),
      ['contract.invalid_value', 'contract.invalid_value'],
    ],
    ['one number twice', TEXT.replace('## Phase 2', '## Phase 1'), ['contract.duplicate_id']],
    ['no phases', '# Demo\n\nText.\n', ['contract.no_phases']],
    ['a phase whose heading is too deep', TEXT.replace('## Phase 2', '### Phase 2'), ['contract.invalid_value']],
    ['a phase whose heading is too high', TEXT.replace('## Phase 2', '# Phase 2'), ['contract.invalid_value']],
    ['a phase without a colon', TEXT.replace('Phase 2:', 'Phase 2'), ['contract.invalid_value']],
    ['a phase whose number is a word', TEXT.replace('Phase 2', 'Phase Two'), ['contract.invalid_value']],
    ['a phase whose number is wide', TEXT.replace('Phase 2', 'Phase \uff12'), ['contract.invalid_value']],
    ['a numbered heading', TEXT.replace('## Phase 2', '## 2. Phase 2'), ['contract.invalid_value']],
    ['a phase in HTML', TEXT.replace('## Phase 2: Write', '<h2>Phase 2: Write</h2>'), ['contract.invalid_value']],
    ['a phase in code that never ends', TEXT.replace('## Phase 2', '```\n\n## Phase 2'), ['contract.invalid_value']],
    ['phases in fenced code', '# Demo\n\n```\n## Phase 1: Look\n```\n', ['contract.no_phases']],
  ])('[REQ-DOC-9] with %s is refused', async (_name, text, codes) => {
    const loaded = await loadContractText(text, { file: 'flow.md', baseDir: null })
    const found = loaded.ok ? [] : loaded.diagnostics.map((one) => one.code)
    expect(found.filter((code) => code !== 'multiple_gate_sections')).toEqual(codes)
  })

  it('[REQ-DOC-9] headings may speak of a phase that has begun', async () => {
    const text = TEXT.replace('### Checkpoint\n\n- [', '### Phase 1 recap\n\nx\n\n### Phase 2 checkpoint\n\n- [')
    expect((await mustLoadMarkdown(`# Phase 2 of the migration\n\n${text}`)).contract.phases.size).toBe(2)
  })

  it('[REQ-DOC-9] is read like a folder, each phase with its own part of the file', async () => {
    const { contract } = await mustLoadMarkdown(TEXT)
    expect(contract.name).toBe('Demo')
    expect([...contract.phases.values()].map((phase) => phase.document?.content)).toEqual([
      '## Phase 1: Look\n\n### Checkpoint\n\n- `count` (integer)',
      '## Phase 2: Write\n\n### Checkpoint\n\n- [ ] Done {#done}',
    ])
  })

  it('[REQ-DOC-9] is known by its headings where it has no name, and a YAML contract with such comments is YAML', async () => {
    const asText = await loadContractText(TEXT, { file: 'contract', baseDir: null })
    expect(asText.ok && [...asText.contract.phases.keys()]).toEqual(['1', '2'])
    const yaml = '## Phase 1: not a heading\nname: y\nversion: "1"\nphases:\n  - id: A\n'
    const loaded = await loadContractText(yaml, { file: 'contract', baseDir: null })
    expect(loaded.ok && [...loaded.contract.phases.keys()]).toEqual(['A'])
  })
})

async function mustLoadMarkdown(text: string) {
  const loaded = await loadContractText(text, { file: 'flow.md', baseDir: null })
  if (!loaded.ok) expect.fail(JSON.stringify(loaded.diagnostics))
  return loaded
}

describe('checkpoint.source', () => {
  const contract = (source: string, more = ''): string =>
    `name: y\nversion: "1"\nphases:\n  - id: PLAN\n    checkpoint: {source: "${source}"${more}}\n  - id: DONE\n`
  const DOCS = '# Phases\n\n## Plan it\n\n- `count` (integer, at least 2)\n\n## Other\n\n- `x` (integer)\n'

  it.each([
    ['a path that leaves', '../secret.md', 'contract.unreadable'],
    ['an absolute path', '/etc/passwd', 'contract.unreadable'],
    ['a document that is not there', 'docs/none.md', 'contract.unreadable'],
    ['a file that is no Markdown', 'agent_workflow.yaml', 'contract.unreadable'],
    ['a link', 'docs/link.md', 'contract.unreadable'],
    ['a heading that is not there', 'docs/a.md#nowhere', 'no_gate_section'],
    ['a document without a gate section', 'docs/a.md', 'no_gate_section'],
  ])('[REQ-DOC-10] %s is refused', async (_name, source, code) => {
    const folder = folderOf({ 'agent_workflow.yaml': contract(source), 'docs/a.md': DOCS, 'docs/real.md': DOCS })
    symlinkSync(join(folder, 'docs/real.md'), join(folder, 'docs/link.md'))
    const loaded = await loadContractFile(join(folder, 'agent_workflow.yaml'))
    expect(
      loaded.ok ? [] : loaded.diagnostics.filter((one) => one.severity === 'error').map((one) => one.code),
    ).toEqual([code])
  })

  it('[REQ-DOC-10] reads the named section, and keeps the position of each field', async () => {
    const folder = folderOf({ 'agent_workflow.yaml': contract('docs/a.md#plan-it'), 'docs/a.md': DOCS })
    const loaded = await load(join(folder, 'agent_workflow.yaml'))
    const phase = loaded.contract.phases.get('PLAN')
    expect([...(phase?.evidence.keys() ?? [])]).toEqual(['count'])
    expect(phase?.evidence.get('count')?.source).toEqual({ file: 'docs/a.md', line: 5 })
    expect(phase?.document).toMatchObject({ number: null, content: '## Plan it\n\n- `count` (integer, at least 2)' })
    expect((await mustLoad(JSON.stringify(loaded.document))).contract.hash).toBe(loaded.contract.hash)
  })

  it('[REQ-DOC-10] the section is handed out to its end, whatever it ends with', async () => {
    const docs = DOCS.replace('## Other', '    npm test\n\n<p>last words</p>\n\n## Other')
    const folder = folderOf({ 'agent_workflow.yaml': contract('docs/a.md#plan-it'), 'docs/a.md': docs })
    const phase = (await load(join(folder, 'agent_workflow.yaml'))).contract.phases.get('PLAN')
    expect(phase?.document?.content).toMatch(/npm test\n\n<p>last words<\/p>$/)
  })

  it('[REQ-DOC-10] evidence beside it must say the same', async () => {
    const files = {
      'agent_workflow.yaml': contract('docs/a.md#plan-it', ', evidence: {count: {type: integer, min: 3}}'),
      'docs/a.md': DOCS,
    }
    const loaded = await loadContractFile(join(folderOf(files), 'agent_workflow.yaml'))
    expect(loaded.ok ? [] : loaded.diagnostics.map((one) => one.code)).toEqual(['gate_drift'])
  })
})
