import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Block, blocksOf, placeOf, readDoc } from './blocks.js'
import { type DocsServer, startServer } from './server.js'
import { differencesOf, isAnswer, runBlocks } from './session.js'

const FILE = 'docs/workflow.md'
let server: DocsServer

beforeAll(async () => {
  server = await startServer()
})
afterAll(async () => {
  await server?.stop()
})

// A reader's server is on the port that commands look at first.
function atOurPort(): Block {
  const text = `export PHASELOCK_STATE_DIR='${server.stateDir}'\n`
  return { file: FILE, line: 0, language: 'bash', marks: ['run'], text }
}

test('[REQ-RUN-16] every command of the page runs and prints what is shown', async () => {
  const blocks = blocksOf(FILE)
  const commands = blocks.filter((block) => block.language === 'bash')
  const ran = await runBlocks([atOurPort(), ...commands], server)
  expect(ran.length).toBeGreaterThan(8)
  expect(differencesOf(blocks, ran)).toEqual([])
})

test('[REQ-RUN-16] every block of the page is a command that is run or what it prints', () => {
  const blocks = blocksOf(FILE)
  const odd = blocks.filter((block, index) =>
    isAnswer(block) ? blocks[index - 1]?.language !== 'bash' : !block.marks.includes('run'),
  )
  expect(odd.map(placeOf)).toEqual([])
})

test('[REQ-RUN-16] what the page shows fits 80 columns', () => {
  const wide = blocksOf(FILE).flatMap((block) => (isAnswer(block) ? block.text.split('\n') : []))
  expect(wide.filter((line) => line.length > 80)).toEqual([])
  expect(readDoc(FILE)).toContain('| 4 |')
})
