import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { countColumns } from '../../src/cli/terminal/table.js'
import { type Running, start } from '../http/harness.js'
import { Desk, REVIEWED } from '../http/reviewing.js'
import { built, type Ended, Place, SCRIPT } from './program.js'

const place = new Place()
let server: Running

beforeAll(async () => {
  await built()
  server = await start({ contract: REVIEWED })
  await Desk.inReview(() => server, 'job')
})
afterAll(() => server?.stop())

function cli(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  return place.run(args, { env: { PHASELOCK_URL: server.url, PHASELOCK_OPERATOR_TOKEN: server.operator, ...env } })
}

function file(name: string, content: unknown): string {
  const path = join(place.home, name)
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

/** What the command prints, given this on its standard input. */
function piped(input: string, args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, [SCRIPT, ...args], { cwd: place.work, env: place.environment })
  let printed = ''
  child.stdout.on('data', (chunk) => {
    printed += chunk
  })
  child.stdin.end(input)
  return new Promise((resolve) => child.once('close', () => resolve(printed)))
}

const WRONG: readonly (readonly [
  name: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  code: number,
  said: RegExp,
])[] = [
  ['no report', ['review', 'job'], { PHASELOCK_TOKEN: 'x' }, 2, /--report/],
  ['no token', ['review', 'job', '--report', '-'], {}, 2, /--token-file FILE, or set PHASELOCK_TOKEN/],
  [
    'a token file that is not there',
    ['review', 'job', '--report', '-', '--token-file', 'gone'],
    {},
    2,
    /cannot be read/,
  ],
  ['a report that is not there', ['review', 'job', '--report', 'gone'], { PHASELOCK_TOKEN: 'x' }, 2, /cannot be read/],
  ['an empty report', ['review', 'job', '--report', '/dev/null'], { PHASELOCK_TOKEN: 'x' }, 2, /is not a JSON object/],
  ['a task that is not there', ['task', 'reviewer', 'nope', 'security'], {}, 1, /There is no task "nope"/],
  ['a review that nobody asks for', ['task', 'reviewer', 'job', 'vibes'], {}, 1, /security, quality/],
  ['the agent of the task', ['task', 'reviewer', 'job', 'agent-job'], {}, 1, /\[invalid_request\]|\[not_permitted\]/],
  ['a time that is none', ['task', 'reviewer', 'job', 'security', '--expires', '0'], {}, 2, /whole number/],
  ['a revocation without a reason', ['task', 'reviewer', 'job', 'security', '--revoke'], {}, 2, /--reason/],
  ['a reason without a revocation', ['task', 'reviewer', 'job', 'security', '--reason', 'x'], {}, 2, /--revoke/],
  ['nobody to revoke', ['task', 'reviewer', 'job', 'x', '--revoke', '--reason', 'x'], {}, 1, /\[not_found\]/],
]

test.each(WRONG)('[REQ-REVIEW-12] %s ends with its exit code and says why', async (_name, args, env, code, said) => {
  const ended = await cli(args, env)
  expect(ended.stderr).toMatch(said)
  expect(ended).toMatchObject({ code, stdout: '' })
})

test('[REQ-REVIEW-12] an operator’s token is never used for a review', async () => {
  const report = file('mine.json', { status: 'completed' })
  const ended = await cli(['review', 'job', '--report', report], { PHASELOCK_TOKEN: server.operator })
  expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining('This call is for reviewers') })
})

test('[REQ-REVIEW-12] a reviewer is let in, reports from a file and from standard input, and is listed with the task', async () => {
  const minted = await cli(['task', 'reviewer', 'job', 'security', '--expires', '600'])
  expect(minted).toMatchObject({ code: 0, stdout: expect.stringContaining('The token is shown only once') })
  const token = /eyJ\S+/.exec(minted.stdout)?.[0] ?? ''
  const report = file('report.json', {
    status: 'changes_requested',
    blocking_issues: [{ text: 'a hole', path: 'src/a.ts', line: 3 }],
    comments: [{ text: '\u001B]0;owned\u0007\u202Eodd', resolved: true }],
  })
  expect(await cli(['review', 'job', '--report', report], { PHASELOCK_TOKEN: token })).toMatchObject({
    code: 0,
    stdout: 'The review security of job is changes_requested. It can be sent again.\n',
  })
  const shown = (await cli(['task', 'show', 'job'])).stdout
  expect(shown).toMatch(/Reviews\n[\s\S]*security +changes_requested +open +1 +1\n[\s\S]*quality +- +not let in +0 +0/)
  expect(shown).toContain('security (blocking) src/a.ts:3: a hole')
  expect(shown).not.toMatch(/[^\P{Cc}\n\t]|[\u202E\u200B]/u)
  for (const line of shown.split('\n')) expect(countColumns(line), line).toBeLessThanOrEqual(80)

  const tokenFile = file('review.token', `${token}\n`)
  const words = ['review', 'job', '--report', '-', '--token-file', tokenFile, '--json', '--url', server.url]
  expect(JSON.parse(await piped('{"status": "completed"}', words))).toMatchObject({
    finished: true,
    status: 'completed',
  })
  expect(await cli(['review', 'job', '--report', report], { PHASELOCK_TOKEN: token })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('[token_stale]'),
  })
  expect(JSON.parse((await cli(['task', 'show', 'job', '--json'])).stdout)).toMatchObject({
    reviews: [{ reviewer: 'security', status: 'completed', token_status: 'finished' }],
  })
})

test('[REQ-REVIEW-12] a reviewer is revoked, and JSON is printed on demand', async () => {
  const minted = JSON.parse((await cli(['task', 'reviewer', 'job', 'quality', '--json'])).stdout)
  expect(minted).toMatchObject({ reviewer: 'quality', review_token: expect.stringMatching(/^eyJ/) })
  const revoked = await cli(['task', 'reviewer', 'job', 'quality', '--revoke', '--reason', 'lost'])
  expect(revoked).toMatchObject({ code: 0, stdout: expect.stringContaining('refused from now on') })
  const report = file('late.json', { status: 'completed' })
  expect(await cli(['review', 'job', '--report', report], { PHASELOCK_TOKEN: minted.review_token })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('[token_stale]'),
  })
})
