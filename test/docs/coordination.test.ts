import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { parseOption } from '../../src/cli/councils/council-option.js'
import { DEFAULT_OPTIONS } from '../../src/core/councils/options.js'
import { REASONS } from '../../src/core/councils/reason.js'
import { readAgents } from '../../src/participants/read-agents.js'
import { type Block, blocksOf, readDoc } from './blocks.js'
import { type DocsServer, startServer } from './server.js'
import { differencesOf, runBlocks } from './session.js'

const FILE = 'docs/coordination.md'
let server: DocsServer

beforeAll(async () => {
  server = await startServer()
})
afterAll(async () => {
  await server?.stop()
})

// A reader's server is on the port that commands look at first.
function atOurServer(): Block {
  const text = `export PHASELOCK_STATE_DIR='${server.stateDir}'\n`
  return { file: FILE, line: 0, language: 'bash', marks: ['run'], text }
}

test('[REQ-COUNCIL-13] every command of the page runs and prints what is shown', async () => {
  const blocks = blocksOf(FILE)
  const commands = blocks.filter((block) => block.language === 'bash')
  expect(commands.length).toBe(3)
  const ran = await runBlocks([atOurServer(), ...commands], server)
  expect(differencesOf(blocks, ran)).toEqual([])
})

test('[REQ-COUNCIL-13] the council file of the page is accepted, and every option and reason is explained', () => {
  const page = readDoc(FILE)
  const councils = blocksOf(FILE).filter((block) => block.language === 'yaml')
  expect(councils).toHaveLength(1)
  expect(readAgents(parse(councils[0]?.text ?? '').agents)).toMatchObject({ ok: true })
  for (const key of Object.keys(DEFAULT_OPTIONS)) {
    const name = key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    const told = new RegExp(`^\\| \`${name}\` \\| \`?([^|\`]+)\`? \\|`, 'm').exec(page)?.[1]?.trim()
    const value = DEFAULT_OPTIONS[key as keyof typeof DEFAULT_OPTIONS]
    expect({ name, told: parseOption(`${name}=${told === 'none' ? 'null' : told}`) }).toEqual({
      name,
      told: { [name]: value },
    })
  }
  for (const reason of REASONS) expect(page).toContain(`\`${reason}\``)
})
