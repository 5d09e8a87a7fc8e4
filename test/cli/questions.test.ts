import { afterAll, beforeAll, expect, test } from 'vitest'
import { countColumns } from '../../src/cli/terminal/table.js'
import { asked } from '../http/asking.js'
import { type Running, start } from '../http/harness.js'
import { built, type Ended, Place } from './program.js'

const CONTRACT = `
name: asking
version: "1"
phases:
  - {id: A, allowed_tools: [ask_user_question]}
  - {id: B, allowed_tools: [], required_artifacts: [{type: note, description: a note}]}
`

const place = new Place()
let server: Running

beforeAll(async () => {
  await built()
  server = await start({ contract: CONTRACT })
})
afterAll(() => server?.stop())

function cli(...args: readonly string[]): Promise<Ended> {
  return place.run(args, { env: { PHASELOCK_URL: server.url, PHASELOCK_OPERATOR_TOKEN: server.operator } })
}

/** A task with an agent that asks. */
async function asking(id: string): Promise<(question: string, options?: readonly string[]) => Promise<string>> {
  await server.addTask({ id, title: `Task ${id}` })
  const token = await server.claim(`agent-${id}`, await server.addAgent(`agent-${id}`), id)
  return (question, options) => asked(server, token, question, options)
}

const WRONG: readonly (readonly [name: string, args: readonly string[], code: number, said: RegExp])[] = [
  ['no text', ['answer', 'qst-1-x'], 2, /Give the answer/],
  ['a blank text', ['answer', 'qst-1-x', ' '], 2, /Give the answer/],
  ['a text and an option', ['answer', 'qst-1-x', 'yes', '--option', '1'], 2, /either --option/],
  ['an option of one’s own', ['answer', 'qst-1-x', '--option', '1', '--other'], 2, /either --option/],
  ['an option that is no number', ['answer', 'qst-1-x', '--option', 'one'], 2, /whole number/],
  [
    'a question that is not there',
    ['answer', 'qst-1-x', 'yes'],
    1,
    /There is no question "qst-1-x"[\s\S]*\[not_found\]/,
  ],
  ['a question to show that is not there', ['questions', 'qst-1-x'], 1, /\[not_found\]/],
  ['a task that is not there', ['answer', 'nope', 'yes'], 1, /There is no task "nope"/],
  ['nobody at the address', ['questions', '--url', 'http://localhost:1'], 3, /Cannot reach/],
]

test.each(WRONG)('[REQ-QUESTION-13] %s ends with its exit code and says why', async (_name, args, code, said) => {
  const ended = await cli(...args)
  expect(ended.stderr).toMatch(said)
  expect(ended).toMatchObject({ code, stdout: '' })
})

test('[REQ-QUESTION-13] questions are listed, shown and answered', async () => {
  expect(await cli('questions')).toMatchObject({ code: 0, stdout: 'No question is open.\n' })
  const ask = await asking('one')
  const id = await ask('Which database?', ['postgres', 'sqlite'])
  expect((await cli('questions')).stdout).toMatch(new RegExp(`${id} +open +Task one +Which database\\?`))
  expect((await cli('answer')).stdout).toContain(id)
  expect((await cli('status')).stdout).toMatch(/Waiting for you\n[\s\S]*Which database\?[\s\S]*phaselock answer/)
  expect((await cli('task', 'show', 'one')).stdout).toMatch(/Questions +1 open/)
  const shown = await cli('questions', id)
  expect(shown.stdout).toMatch(/agent agent-one, phase A[\s\S]*Which database\?\n +1 {2}postgres\n +2 {2}sqlite/)
  expect(await cli('answer', id, 'mysql')).toMatchObject({ code: 1, stderr: expect.stringContaining('1  postgres') })
  expect(await cli('answer', id, '--option', '3')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('2  sqlite'),
  })
  expect(await cli('answer', id, '3')).toMatchObject({ code: 2, stderr: expect.stringContaining('no option 3') })
  expect(await cli('answer', id, '2')).toMatchObject({ code: 0, stdout: `${id} is answered: sqlite\n` })
  expect(await cli('answer', id, '--option', '1')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('[conflict]'),
  })
  expect((await cli('questions', id)).stdout).toMatch(/Answer by admin, .*\n {2}sqlite/)
  expect((await cli('questions')).stdout).not.toContain(id)
  expect((await cli('questions', '--all')).stdout).toContain(id)
  expect((await cli('questions', '--all', '--task', 'two')).stdout).toBe('Nobody asked anything.\n')
})

test('[REQ-QUESTION-13] a text of several words, a custom answer, and a task instead of its only question', async () => {
  const ask = await asking('two')
  const first = await ask('Which port?')
  expect((await cli('answer', 'two', 'Use', 'port', '8080')).stdout).toBe(`${first} is answered: Use port 8080\n`)
  expect(await cli('answer', 'two', 'again')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('no open question'),
  })
  expect(await cli('answer', first, '--option', '1')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('no options'),
  })
  const second = await ask('Left or right?', ['left', 'right'])
  const third = await ask('Now or later?', ['now', 'later'])
  const several = await cli('answer', 'two', 'left')
  expect(several).toMatchObject({ code: 1, stdout: '' })
  expect(several.stderr).toContain(second)
  expect(several.stderr).toContain(third)
  expect((await cli('answer', second, '--other', 'straight', 'on')).stdout).toContain('straight on')
})

test('[REQ-QUESTION-13] the commands print JSON with --json', async () => {
  const ask = await asking('json')
  const id = await ask('For programs?', ['yes', 'no'])
  const json = async (...args: readonly string[]) => JSON.parse((await cli(...args, '--json')).stdout)
  expect(await json('questions', '--task', 'json')).toMatchObject({
    questions: [{ id, status: 'open' }],
    next_cursor: null,
  })
  expect(await json('questions', id)).toMatchObject({ id, options: ['yes', 'no'] })
  expect(await json('status')).toMatchObject({ questions: expect.arrayContaining([expect.objectContaining({ id })]) })
  expect(await json('answer', id, 'yes')).toMatchObject({ id, status: 'answered', answer: 'yes', answered_by: 'admin' })
  const refused = await cli('answer', id, 'no', '--json')
  expect(JSON.parse(refused.stderr)).toMatchObject({ exit: 1, problem: { code: 'conflict' } })
})

test('[REQ-QUESTION-13] text of agents reaches the terminal without anything that it would obey, in 80 columns', async () => {
  const ask = await asking('hostile')
  const id = await ask(`\u001B]0;owned\u0007\u202E\u200Breally?\n${'長い '.repeat(100)}`, ['\u001B[31mred', 'b\u202E'])
  for (const args of [['questions'], ['questions', id], ['answer'], ['status'], ['answer', id, '--option', '3']]) {
    const { stdout, stderr } = await cli(...args)
    expect(stdout + stderr).not.toMatch(/[^\P{Cc}\n\t]|[\u202E\u200B]/u)
    if (args.length === 1)
      for (const line of stdout.split('\n')) expect(countColumns(line), line).toBeLessThanOrEqual(80)
  }
  expect((await cli('questions', id)).stdout).toContain('characters were taken out')
})
