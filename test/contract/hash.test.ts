import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { hashJson, toCanonicalJson } from '../../src/contract/fingerprint.js'
import { loadContractFile, loadContractText } from '../../src/contract/load/load-contract.js'
import { HEAD, mustLoad } from './load.js'

const CONTRACT = `${HEAD}phases:
  - id: A
    prompt: "Read {{guide:STYLE}}"
    required_artifacts: [{type: note, schema: schemas/note.json}]
  - id: B
`
let folder = ''

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'contract-'))
  await mkdir(join(folder, 'schemas'))
  await mkdir(join(folder, 'guides'))
  await writeFile(join(folder, 'schemas/note.json'), '{"type": "object"}')
  await writeFile(join(folder, 'guides/STYLE.md'), 'Short sentences.')
  await writeFile(join(folder, 'agent_workflow.yaml'), CONTRACT)
})

afterEach(async () => {
  await rm(folder, { recursive: true })
})

const load = async (text = CONTRACT) => mustLoad(text, folder)

describe('hash', () => {
  it('[REQ-CONTRACT-10] formatting, comments and the order of keys do not change it', async () => {
    const other = `# a comment
version: '1'

phases:
  - prompt: >-
      Read {{guide:STYLE}}
    required_artifacts:
      - schema: "schemas/note.json"
        type: note
    id: A
  - {id: B}
name: "t"
`
    expect((await load(other)).contract.hash).toBe((await load()).contract.hash)
  })

  it('[REQ-CONTRACT-10] writing a default out does not change it', async () => {
    const written = `${CONTRACT}enforcement: {mode: strict, max_attempts: 3}\ntransitions: [{from: A, to: B}]\n`
    expect((await load(written)).contract.hash).toBe((await load()).contract.hash)
  })

  it('[REQ-CONTRACT-10] another prompt changes it', async () => {
    expect((await load(CONTRACT.replace('Read', 'See'))).contract.hash).not.toBe((await load()).contract.hash)
  })

  it('[REQ-CONTRACT-10] another schema behind the same name changes it', async () => {
    const before = await load()
    await writeFile(join(folder, 'schemas/note.json'), '{"type": "object", "required": ["text"]}')
    expect((await load()).contract.hash).not.toBe(before.contract.hash)
  })

  it('[REQ-CONTRACT-10] [REQ-CONTRACT-15] another text of a guide changes it', async () => {
    const before = await load()
    expect(before.contract.guides.get('STYLE')).toBe('Short sentences.')
    await writeFile(join(folder, 'guides/STYLE.md'), 'Long ones.')
    expect((await load()).contract.hash).not.toBe(before.contract.hash)
  })

  it('[REQ-CONTRACT-10] canonical JSON sorts keys and leaves nothing between', () => {
    expect(toCanonicalJson({ b: [1, { d: null, c: 'é' }], a: true, __proto__x: 0 })).toBe(
      '{"__proto__x":0,"a":true,"b":[1,{"c":"é","d":null}]}',
    )
    expect(hashJson({})).toBe('44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a')
  })
})

describe('look-up of schemas', () => {
  const schemaOf = async (text: string) => (await load(text)).contract.schemas.get('schemas/note.json')
  const inline = `${CONTRACT}schemas: {note.json: {title: inline}}\nschemas_dir: other\n`

  it('[REQ-CONTRACT-12] a file beside the contract comes before an inline schema', async () => {
    expect(await schemaOf(inline)).toEqual({ type: 'object' })
    expect((await load(inline)).warnings.map((d) => d.code)).toEqual(['contract.effect_differs'])
  })

  it('[REQ-CONTRACT-12] an inline schema comes before schemas_dir', async () => {
    await mkdir(join(folder, 'other'))
    await writeFile(join(folder, 'other/note.json'), '{"title": "dir"}')
    await rm(join(folder, 'schemas/note.json'))
    expect(await schemaOf(inline)).toEqual({ title: 'inline' })
    expect(await schemaOf(`${CONTRACT}schemas_dir: other\n`)).toEqual({ title: 'dir' })
  })

  it('[REQ-CONTRACT-12] the built-in schemas come last, also for a contract without a folder', async () => {
    const text = `${HEAD}phases: [{id: A, required_artifacts: [{type: plan_document, schema: schemas/plan.json}]}]\n`
    expect((await mustLoad(text)).contract.schemas.get('schemas/plan.json')).toMatchObject({ title: 'plan_document' })
    await writeFile(join(folder, 'schemas/plan.json'), '{"title": "own"}')
    expect((await mustLoad(text, folder)).contract.schemas.get('schemas/plan.json')).toEqual({ title: 'own' })
  })

  it('[REQ-CONTRACT-12] a contract that came over the wire reads no file', async () => {
    const result = await loadContractText(CONTRACT, { file: 'posted', baseDir: null })
    if (result.ok) throw new Error('it loaded')
    expect(result.diagnostics.map((d) => d.code)).toEqual(['contract.missing_guide', 'contract.missing_schema'])
  })

  it.each([
    ['not JSON', '{"type":', 'contract.invalid_schema'],
    ['no schema', '[1]', 'contract.invalid_schema'],
    ['not valid', '{"type": 5}', 'contract.invalid_schema'],
    ['nested too deeply', `${'{"not":'.repeat(70)}{}${'}'.repeat(70)}`, 'contract.invalid_schema'],
    ['one with a look-ahead', '{"pattern": "(?=x)"}', 'contract.invalid_regex'],
    ['one that leads elsewhere', '{"$ref": "other.json#/x"}', 'contract.invalid_schema'],
  ])(
    '[REQ-CONTRACT-12] a schema file that is %s is refused where the artifact names it',
    async (_name, schema, code) => {
      await writeFile(join(folder, 'schemas/note.json'), schema)
      const result = await loadContractFile(join(folder, 'agent_workflow.yaml'))
      if (result.ok) throw new Error('it loaded')
      expect(result.diagnostics).toMatchObject([{ code, line: 6, column: 47 }])
    },
  )
})

describe('files', () => {
  it('[REQ-CONTRACT-3] a contract that is not there says so', async () => {
    const result = await loadContractFile(join(folder, 'nope.yaml'))
    expect(result).toMatchObject({ ok: false, diagnostics: [{ code: 'contract.unreadable', line: 1, column: 1 }] })
  })

  it('[REQ-CONTRACT-7] a folder in place of a contract says so', async () => {
    expect(await loadContractFile(folder)).toMatchObject({ ok: false, diagnostics: [{ code: 'contract.unreadable' }] })
  })

  it('[REQ-CONTRACT-7] a file that is not UTF-8 is refused', async () => {
    await writeFile(join(folder, 'bad.yaml'), Buffer.from([0x6e, 0x61, 0xff, 0xfe]))
    expect(await loadContractFile(join(folder, 'bad.yaml'))).toMatchObject({
      diagnostics: [{ code: 'contract.not_utf8' }],
    })
  })

  it('[REQ-CONTRACT-7] a file of more than a mebibyte is refused, from disk and as text', async () => {
    const large = `# ${'x'.repeat(1024 * 1024)}\n`
    await writeFile(join(folder, 'large.yaml'), large)
    expect(await loadContractFile(join(folder, 'large.yaml'))).toMatchObject({
      diagnostics: [{ code: 'contract.too_large' }],
    })
    const posted = await loadContractText(large, { file: 'posted', baseDir: null })
    expect(posted).toMatchObject({ diagnostics: [{ code: 'contract.too_large' }] })
  })
})
