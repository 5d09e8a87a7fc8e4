import { afterAll, beforeAll, expect, test } from 'vitest'
import { isFullDepth } from '../depth.js'
import { blocksOf, placeOf } from './blocks.js'
import { type DocsServer, startServer } from './server.js'
import { differencesOf, isAnswer, runBlocks } from './session.js'

const FILE = 'docs/tour.md'
let server: DocsServer

beforeAll(async () => {
  server = await startServer()
})
afterAll(async () => {
  await server?.stop()
})

test('every command of the tour runs and gives the answer that is shown', async () => {
  const blocks = blocksOf(FILE)
  const ran = await runBlocks(
    blocks.filter((block) => block.language === 'bash'),
    server,
  )
  expect(ran.length).toBeGreaterThan(25)
  expect(differencesOf(blocks, ran)).toEqual([])
})

test.runIf(isFullDepth())('the tour can be walked again on the same server', async () => {
  const blocks = blocksOf(FILE)
  const again = await runBlocks(
    blocks.filter((block) => block.language === 'bash'),
    server,
  )
  expect(differencesOf(blocks, again)).toEqual([])
})

test('every block of the tour is a command that is run or the answer to one', () => {
  const blocks = blocksOf(FILE)
  const odd = blocks.filter((block, index) => {
    if (block.language === 'bash') return false
    if (isAnswer(block)) return blocks[index - 1]?.language !== 'bash'
    return block.text.trim() !== 'npm start'
  })
  expect(odd.map(placeOf)).toEqual([])
})

test('an answer that differs from the one shown is found', async () => {
  const shown = blocksOf(FILE)
  const ask = {
    ...shown[1],
    language: 'bash',
    text: 'curl -s http://localhost:8000/health\n',
  } as (typeof shown)[number]
  const answer = (mode: string) =>
    ({
      ...shown[2],
      language: 'json',
      text: `{"status": "ok", "workflow_loaded": true, "enforcement_mode": "${mode}"}`,
    }) as (typeof shown)[number]
  const ran = await runBlocks([ask], server)
  expect(differencesOf([ask, answer('strict')], ran)).toEqual([])
  expect(differencesOf([ask, answer('advisory')], ran)).toHaveLength(1)
})
