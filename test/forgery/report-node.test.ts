import { afterAll, beforeAll, describe, it } from 'vitest'
import type { Files } from '../e2e/projects.js'
import { expectRefused, type Forge, openForge, type Project } from './forge.js'

let forge: Forge
beforeAll(async () => {
  forge = await openForge()
})
afterAll(() => forge?.end())

const TEST = `import assert from 'node:assert/strict'
import { test } from 'node:test'
test('adds', async () => {
  const { add } = await import('../src/add.js')
  assert.equal(add(2, 3), 5)
})
`
const REPORTER: Files = {
  'src/report.js': `import { line } from './line.js'
export default async function* (source) {
  for await (const { type, data } of source) if (type === 'test:pass' || type === 'test:fail') yield line(type, data)
  yield '1..1\\n'
}
`,
  'src/line.js': `export const line = (type, { name }) => (type === 'test:pass' ? 'ok' : 'not ok') + ' 1 - ' + name + '\\n'\n`,
}
const FINDING_REPORTER: Files = {
  ...REPORTER,
  'src/report.js': `${REPORTER['src/report.js']?.replace("import { line } from './line.js'", "const { line } = await import(['./line', 'js'].join('.'))")}`,
}
const WITH_REPORTER = 'node --test --test-reporter=./src/report.js tests/'
const HONEST = 'export const add = (a, b) => a + b\n'
const WRONG = 'export const add = () => 4\n'
const FORGED = 'ok 1 - adds\n1..1\n# tests 1\n# pass 1\n# fail 0\n'
const FORGED_TEXT = JSON.stringify(FORGED)

function project(script: string, files: Files = {}): Project {
  return {
    files: { 'package.json': `${JSON.stringify({ type: 'module', scripts: { test: script } })}\n`, ...files },
    run: 'npm test',
    tests: { 'tests/add.test.js': TEST },
  }
}
const PLAIN = project('node --test --test-reporter=tap tests/')

// Starts the debugger of npm, and lets npm print a report and leave.
const DEBUG_NPM = `import { readFileSync, readdirSync } from 'node:fs'
import { get, request } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
const npm = readdirSync('/proc').filter((name) => /^\\d+$/.test(name))
  .find((pid) => { try { return /^npm test/.test(readFileSync('/proc/' + pid + '/cmdline', 'utf8')) } catch { return false } })
process.kill(Number(npm), 'SIGUSR1')
await wait(300)
const [{ webSocketDebuggerUrl }] = await new Promise((resolve) => get('http://127.0.0.1:9229/json', (answer) => {
  let text = ''
  answer.on('data', (part) => { text += part }).on('end', () => resolve(JSON.parse(text)))
}))
const expression = ${JSON.stringify(`process.stdout.write(${FORGED_TEXT}); setTimeout(() => process.reallyExit(0), 500)`)}
const body = Buffer.from(JSON.stringify({ id: 1, method: 'Runtime.evaluate', params: { expression } }))
const headers = { Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': '13', 'Sec-WebSocket-Key': 'AAAAAAAAAAAAAAAAAAAAAA==' }
request(webSocketDebuggerUrl.replace('ws:', 'http:'), { headers }).on('upgrade', (_, socket) => {
  const length = Buffer.alloc(2)
  length.writeUInt16BE(body.length)
  socket.write(Buffer.concat([Buffer.from([0x81, 0xfe]), length, Buffer.alloc(4), body]))
  setTimeout(() => socket.destroy(), 200)
}).end()
await wait(2000)
`

describe.concurrent('a report that code under test forges, with node:test', () => {
  it('[REQ-WITNESS-1] an honest implementation completes, with a reporter of the project too', async () => {
    const task = await forge.inImpl(project(WITH_REPORTER, REPORTER))
    await task.write({ 'src/add.js': HONEST })
    await task.completes()
  })

  // What the reporter imports is test setup. What it loads by a computed name is not known.
  it.each([
    ['imports', REPORTER, /src\/line\.js changed since the RED run/],
    [
      'finds',
      FINDING_REPORTER,
      /the run is void: the report says 1 passed and 0 failed, but node itself reported 0 passed and 1 failed/,
    ],
  ])(
    '[REQ-WITNESS-1] a reporter of the project that %s what says "ok" and resets the exit code is refused',
    async (_, reporter, pattern) => {
      const task = await forge.inImpl(project(WITH_REPORTER, reporter))
      const lying = `process.on('exit', () => { process.exitCode = 0 })\n${REPORTER['src/line.js']?.replace('not ok', 'ok')}`
      await task.write({ 'src/add.js': WRONG, 'src/line.js': lying })
      await expectRefused(task, pattern)
    },
  )

  it('[REQ-WITNESS-2] the debugger of npm cannot be started', async () => {
    const task = await forge.inImpl(PLAIN)
    await task.write({ 'src/add.js': `${DEBUG_NPM}${WRONG}` })
    await expectRefused(task, /1 failed/)
  })

  it('[REQ-WITNESS-1] results printed by the code, and an early end, fail', async () => {
    const task = await forge.inImpl(PLAIN)
    const forged = `import { writeSync } from 'node:fs'\nwriteSync(1, ${FORGED_TEXT})\nprocess.exit(0)\n`
    await task.write({ 'src/add.js': `${forged}${WRONG}` })
    await expectRefused(task, /failed|void/)
  })

  it('[REQ-WITNESS-1] an exit code that a hook sets back fails', async () => {
    const task = await forge.inImpl(PLAIN)
    await task.write({ 'src/add.js': `process.on('exit', () => { process.exitCode = 0 })\n${WRONG}` })
    await expectRefused(task, /1 failed/)
  })

  it('[REQ-WITNESS-1] standard output that is closed and opened again fails', async () => {
    const task = await forge.inImpl(PLAIN)
    const reopened = `import { closeSync, openSync } from 'node:fs'\ncloseSync(1)\nopenSync('/dev/null', 'w')\n`
    await task.write({ 'src/add.js': `${reopened}${WRONG}` })
    await expectRefused(task, /failed|void|did not/)
  })

  it('[REQ-WITNESS-1] a process that outlives the tests and prints later does not help', async () => {
    const task = await forge.inImpl(PLAIN)
    const later = `import { spawn } from 'node:child_process'
spawn('sh', ['-c', 'sleep 1; printf "%s" "$0"', ${FORGED_TEXT}], { detached: true, stdio: 'inherit' }).unref()
`
    await task.write({ 'src/add.js': `${later}${WRONG}` })
    await expectRefused(task, /failed|void/)
  })

  it('[REQ-WITNESS-3] honest code that starts a process, writes output and sends other signals completes', async () => {
    const task = await forge.inImpl(PLAIN)
    const busy = `import { spawnSync } from 'node:child_process'
process.once('SIGUSR2', () => undefined)
process.kill(process.pid, 'SIGUSR2')
console.log(spawnSync('sh', ['-c', 'echo started; kill -s TERM $$']).stdout.toString())
`
    await task.write({ 'src/add.js': `${busy}${HONEST}` })
    await task.completes()
  })
})
