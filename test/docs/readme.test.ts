import { writeFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CHECK_NAMES, CHECKS_NOT_ENFORCED } from '../../src/core/contract/contract.js'
import { blocksOf, ROOT, readDoc, sectionsOf } from './blocks.js'
import { textDifference } from './expected.js'
import { type DocsServer, startServer } from './server.js'
import { runBlocks } from './session.js'

const FILE = 'README.md'
const EXAMPLE = /<!-- example -->\n\n```bash run\n([\s\S]+?)```\n\n```json\n([\s\S]*?)```\n\n<!-- \/example -->/
const ANSWER = /(<!-- example -->[\s\S]+?```json\n)[\s\S]*?(```\n\n<!-- \/example -->)/
let server: DocsServer

beforeAll(async () => {
  server = await startServer()
})
afterAll(async () => {
  await server?.stop()
})

// To write the real answer into the file: UPDATE_DOCS=1 npx vitest run test/docs/readme.test.ts
test("the example's answer is the one that the server gives", async () => {
  const [example] = blocksOf(FILE).filter((block) => block.marks.includes('run'))
  if (example === undefined) throw new Error('README.md has no example')
  const [ran] = await runBlocks([example], server)
  expect(ran).toMatchObject({ status: 0, errors: '' })
  const real = `${JSON.stringify(JSON.parse(ran?.output ?? ''), null, 2)}\n`
  if (process.env.UPDATE_DOCS === '1')
    writeFileSync(
      `${ROOT}${FILE}`,
      readDoc(FILE).replace(ANSWER, (_, before, after) => `${before}${real}${after}`),
    )
  expect(EXAMPLE.exec(readDoc(FILE))?.[2]).toBe(real)
})

test('what the server shows when it starts is what the first screen shows', () => {
  const [shown] = blocksOf(FILE).filter((block) => block.language === 'text')
  const said = server.said().replaceAll(`localhost:${server.port}`, 'localhost:8000')
  expect(textDifference(shown?.text ?? '', said)).toBeNull()
})

test('the refusal of a command that the README shows is the one of the tour, which is run', () => {
  const [, shown] = blocksOf(FILE).filter((block) => block.language === 'text')
  expect(readDoc('docs/tour.md')).toContain(JSON.stringify(shown?.text.trim()))
})

test('the checks that are said not to be enforced are those that are not', () => {
  const said = sectionsOf('docs/contract-reference.md').get('What is not enforced yet') ?? ''
  expect(CHECK_NAMES.filter((name) => said.includes(`\`${name}\``))).toEqual([...CHECKS_NOT_ENFORCED])
})
