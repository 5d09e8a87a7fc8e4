import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { loadContractText } from '../../src/contract/load/load-contract.js'
import { sample } from '../depth.js'
import { type Block, blocksOf, placeOf } from './blocks.js'
import { type DocsServer, startServer } from './server.js'
import { differencesOf, runBlocks } from './session.js'

const FILES = [
  'README.md',
  'docs/agents.md',
  'docs/api.md',
  'docs/cookbook.md',
  'docs/migration.md',
  'docs/operate.md',
  'docs/rules.md',
  'docs/status.md',
  'docs/tools.md',
]
// What a block marked `part` leaves out of a contract.
const WHOLE = 'name: part\nversion: "1"\nphases: [{id: A, allowed_tools: all}]\n'

describe.each(sample(FILES, 3))('%s', (file) => {
  const blocks = blocksOf(file)
  const commands = blocks.filter((block) => block.language === 'bash')
  const contracts = blocks.filter((block) => block.language === 'yaml')
  let server: DocsServer | undefined

  beforeAll(async () => {
    if (commands.length > 0) server = await startServer()
  })
  afterAll(async () => {
    await server?.stop()
  })

  test('every block in bash or yaml is marked as one that is run', () => {
    const marked = (block: Block) => block.marks.includes('run') || block.marks.includes('part')
    expect([...commands, ...contracts].filter((block) => !marked(block)).map(placeOf)).toEqual([])
  })

  const hasCommands = commands.length > 0
  if (hasCommands)
    test('every command runs and gives the answer that is shown', async () => {
      if (server === undefined) throw new Error('there is no server')
      expect(differencesOf(blocks, await runBlocks(commands, server))).toEqual([])
    })

  test('every contract loads without errors', async () => {
    for (const block of contracts) expect(await problemsOf(block)).toEqual([])
  })
})

async function problemsOf(block: Block): Promise<readonly string[]> {
  const text = block.marks.includes('part') ? WHOLE + block.text : block.text
  const loaded = await loadContractText(text, { file: placeOf(block), baseDir: null })
  return loaded.ok ? [] : loaded.diagnostics.map((one) => one.message)
}
