// The servers that are compared: Phaselock, a bare node:http server with the same body and answer size, and one that also fsyncs.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const READY_MS = 180_000

export function place() {
  const dir = mkdtempSync(join(tmpdir(), 'phaselock-bench-'))
  mkdirSync(join(dir, 'tree'))
  return { dir, remove: () => rmSync(dir, { recursive: true, force: true }) }
}

export async function phaselock(dir, contract = 'tdd', environment = {}) {
  const started = performance.now()
  const child = spawn(
    process.execPath,
    [
      join(ROOT, 'bin/phaselock'),
      'serve',
      '--port',
      '0',
      '--contract',
      contract,
      '--workspace',
      join(dir, 'tree'),
      '--state-dir',
      join(dir, 'state'),
    ],
    { stdio: 'ignore', env: { ...process.env, ...environment } },
  )
  const port = await portOf(child, join(dir, 'state/server.json'))
  await answers(`http://127.0.0.1:${port}/ready`)
  const readyMs = performance.now() - started
  const operator = readFileSync(join(dir, 'state/operator.token'), 'utf8').trim()
  return { port, pid: child.pid, readyMs, operator, call: client(port), stop: () => end(child) }
}

export async function bare(dir, options = {}) {
  const file = join(dir, `bare-${options.fsync ? 'fsync' : 'plain'}.mjs`)
  writeFileSync(file, bareSource(options, join(dir, 'bare.log')))
  const child = spawn(process.execPath, [file], { stdio: ['inherit', 'inherit', 'inherit', 'ipc'] })
  const [port] = await once(child, 'message')
  return { port, pid: child.pid, stop: () => end(child) }
}

function bareSource({ fsync, answer }, log) {
  return `import { createServer } from 'node:http'
import { fsyncSync, openSync, writeSync } from 'node:fs'
const fd = ${fsync ? `openSync(${JSON.stringify(log)}, 'w')` : 'null'}
const answer = ${JSON.stringify(answer ?? '{"allowed":true}')}
createServer((request, response) => {
  let text = ''
  request.on('data', (chunk) => { text += chunk })
  request.on('end', () => {
    const body = text === '' ? {} : JSON.parse(text)
    if (fd !== null) { writeSync(fd, JSON.stringify(body)); fsyncSync(fd) }
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(answer) })
    response.end(answer)
  })
}).listen(0, '127.0.0.1', function () { process.send(this.address().port) })
`
}

/** Tasks that agents hold, with their phase tokens: enough agents that nobody meets its rate limit. */
export async function claimed(server, count, name = 'bench') {
  const made = []
  for (let i = 0; i < count; i += 1) {
    const task = await server.call('POST', '/tasks', server.operator, { title: `Bench ${i}`, priority: 1000 })
    const agent = await server.call('POST', '/agents', server.operator, { agent_id: `${name}-${i}` })
    const claim = await server.call('POST', '/tasks/claim', agent.agent_token, {
      agent_id: `${name}-${i}`,
      task_id: task.id,
    })
    made.push({ taskId: task.id, token: claim.phase_token, agentToken: agent.agent_token, agentId: `${name}-${i}` })
  }
  return made
}

function client(port) {
  return async (method, path, token, body) => {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return response.json()
  }
}

async function answers(url) {
  const end = Date.now() + READY_MS
  for (;;) {
    try {
      await fetch(url)
      return
    } catch (error) {
      if (Date.now() > end) throw error
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }
}

function end(child) {
  return new Promise((resolve) => {
    child.on('exit', resolve)
    child.kill('SIGTERM')
  })
}

/** The port of this very process, once it has said so. */
async function portOf(child, note) {
  const end = Date.now() + READY_MS
  while (Date.now() < end && child.exitCode === null) {
    try {
      const { pid, url } = JSON.parse(readFileSync(note, 'utf8'))
      if (pid === child.pid) return Number(new URL(url).port)
    } catch {
      // It does not listen yet.
    }
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  throw new Error('The server did not start.')
}
