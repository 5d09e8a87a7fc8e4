import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { loadContractFile } from '../../src/contract/load/load-contract.js'

const dir = realpathSync(mkdtempSync(join(tmpdir(), 'phaselock-links-')))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const CONTRACT = `name: linked
version: "1"
phases:
  - {id: A, prompt: "{{guide:STYLE}}", required_artifacts: [{type: note, schema: schemas/note.json}]}
  - {id: B}
`
const SCHEMA = '{"type": "object"}'

function repository(name: string): string {
  const folder = join(dir, name)
  for (const part of ['guides', 'schemas', 'real']) mkdirSync(join(folder, part), { recursive: true })
  writeFileSync(join(folder, 'agent_workflow.yaml'), CONTRACT)
  writeFileSync(join(folder, 'guides', 'STYLE.md'), 'Our style')
  writeFileSync(join(folder, 'schemas', 'note.json'), SCHEMA)
  return folder
}

const outside = join(dir, 'outside')
mkdirSync(outside)
writeFileSync(join(outside, 'STYLE.md'), 'the private key of somebody')
writeFileSync(join(outside, 'note.json'), SCHEMA)

describe('files of a contract', () => {
  it.each([
    ['a guide', (folder: string) => swap(join(folder, 'guides', 'STYLE.md'), join(outside, 'STYLE.md'))],
    ['the folder of the guides', (folder: string) => swap(join(folder, 'guides'), outside)],
    ['a schema', (folder: string) => swap(join(folder, 'schemas', 'note.json'), join(outside, 'note.json'))],
    ['the folder of the schemas', (folder: string) => swap(join(folder, 'schemas'), outside)],
  ])('[REQ-TRUST-5] %s that links out of the folder is refused, and its text is not shown', async (name, link) => {
    const folder = repository(name.replaceAll(' ', '-'))
    link(folder)
    const loaded = await loadContractFile(join(folder, 'agent_workflow.yaml'))
    expect(loaded.ok).toBe(false)
    expect(JSON.stringify(loaded)).not.toContain('private key')
  })

  it('[REQ-TRUST-5] are read through links that stay inside, and through a link to the folder itself', async () => {
    const folder = repository('inside')
    writeFileSync(join(folder, 'real', 'STYLE.md'), 'Our real style')
    swap(join(folder, 'guides', 'STYLE.md'), join(folder, 'real', 'STYLE.md'))
    symlinkSync(folder, join(dir, 'linked-folder'))
    const loaded = await loadContractFile(join(dir, 'linked-folder', 'agent_workflow.yaml'))
    expect(loaded).toMatchObject({ ok: true, parts: expect.arrayContaining(['guides/STYLE.md', 'schemas/note.json']) })
    expect(loaded.ok && loaded.contract.guides.get('STYLE')).toBe('Our real style')
  })
})

function swap(path: string, target: string): void {
  rmSync(path, { recursive: true })
  symlinkSync(target, path)
}
