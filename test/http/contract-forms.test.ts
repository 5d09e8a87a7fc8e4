import { existsSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadContractFile } from '../../src/contract/load/load-contract.js'
import { type Running, start } from './harness.js'

const CONTRACT = `name: planting
version: "1"
guides: notes
phases:
  - {id: BUILD, prompt: "{{guide:STYLE}}", allowed_tools: [read_files, write_files, bash], writable: ["**"]}
  - {id: DONE}
`

let own: Running
let elsewhere: Running
const tokens = new Map<Running, string>()

beforeAll(async () => {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'phaselock-forms-')))
  mkdirSync(join(dir, 'tree', 'notes'), { recursive: true })
  writeFileSync(join(dir, 'tree', 'agent_workflow.yaml'), CONTRACT)
  writeFileSync(join(dir, 'tree', 'notes', 'STYLE.md'), 'Our style')
  const contractFile = join(dir, 'tree', 'agent_workflow.yaml')
  const loaded = await loadContractFile(contractFile)
  own = await start({ dir, contractFile, contractParts: loaded.ok ? loaded.parts : [] })
  elsewhere = await start({ contract: CONTRACT.replace('guides: notes', 'guides: {STYLE: Our style}') })
  for (const run of [own, elsewhere]) {
    await run.addTask({ id: 't' })
    tokens.set(run, await run.claim('a', await run.addAgent('a'), 't'))
  }
})
afterAll(async () => {
  await own.stop()
  await elsewhere.stop()
})

const use = (run: Running, tool_name: string, args: object) =>
  run.call('POST', '/tools/execute', tokens.get(run) ?? '', { task_id: 't', tool_name, args })

const PLANTED = [
  'agent_workflow.yml',
  'agent_workflow.json',
  'agent_workflow.md',
  'agent_workflow/metadata.yaml',
  'agent_workflow/phases/1/phase.md',
  'Agent_Workflow.yaml',
]

describe('an agent that plants the next contract', () => {
  it.each(PLANTED)('[REQ-TRUST-1] is refused %s, even if the contract is elsewhere', async (path) => {
    for (const run of [own, elsewhere]) {
      const written = await use(run, 'write_files', { path, content: 'x' })
      expect(JSON.stringify(written.body), path).toContain('is part of the contract')
      expect(existsSync(join(run.workspace, path))).toBe(false)
    }
  })

  it('[REQ-TRUST-1] is refused them by a command too, and everything else of that command goes', async () => {
    const command = 'mkdir -p agent_workflow/phases && echo x > agent_workflow/metadata.yaml && echo y > kept.txt'
    const ran = await use(elsewhere, 'bash', { command })
    expect(JSON.stringify(ran.body)).toContain('is part of the contract')
    for (const path of ['agent_workflow/metadata.yaml', 'kept.txt'])
      expect(existsSync(join(elsewhere.workspace, path)), path).toBe(false)
  })

  it('[REQ-TRUST-1] is refused the guides that the contract reads, and not what is beside them', async () => {
    const guide = await use(own, 'write_files', { path: 'notes/STYLE.md', content: 'No rules' })
    expect(JSON.stringify(guide.body)).toContain('is part of the contract')
    const beside = await use(own, 'write_files', { path: 'notes/OTHER.md', content: 'x' })
    expect(beside.status, JSON.stringify(beside.body)).toBe(200)
    expect(existsSync(join(own.workspace, 'notes/OTHER.md'))).toBe(true)
  })
})
