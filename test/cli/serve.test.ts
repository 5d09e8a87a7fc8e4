import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { createServer, connect as openSocket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { beforeAll, expect, test } from 'vitest'
import { isFullDepth, sample } from '../depth.js'
import { makePlace, serve } from '../e2e/process.js'
import { built, Place, ROOT, SCRIPT } from './program.js'

beforeAll(built)
const place = new Place()

const REFUSED: readonly (readonly [name: string, args: readonly string[], code: number, said: RegExp])[] = [
  ['an open address without TLS', ['--host', '0.0.0.0'], 2, /--tls-cert FILE and --tls-key FILE.*--insecure-http/s],
  ['a certificate without a key', ['--tls-cert', 'c.pem'], 2, /--tls-key/],
  ['a certificate that is none', ['--tls-cert', SCRIPT, '--tls-key', SCRIPT], 2, /PEM/],
  ['a store that is none', ['--store', 'mysql://x/y'], 2, /URL like postgres:.*embedded store/s],
  ['a PostgreSQL store without a secret', ['--store', 'postgres://x/y'], 2, /ORCHESTRATOR_JWT_SECRET must be set/],
  ['a port that is no number', ['--port', '80x'], 2, /whole number from 0 to 65535/],
  ['a state directory in the work tree', ['--state-dir', 'inside'], 1, /inside the work tree.*--state-dir/],
  ['a work tree that is not there', ['--workspace', '/nowhere/at/all'], 1, /does not exist/],
  ['an address of another machine', ['--host', '192.0.2.1', '--insecure-http', '--port', '0'], 1, /--host/],
]

test.concurrent.each(sample(REFUSED, 2))(
  '[REQ-CLI-2] %s is refused with the remedy',
  async (_name, args, code, said) => {
    const ended = await place.run(['serve', ...args])
    expect(ended.stderr).toMatch(said)
    expect(ended.stderr).not.toMatch(/\n\s+at /)
    expect(ended).toMatchObject({ code, stdout: '' })
  },
)

test.runIf(isFullDepth())('[REQ-CLI-2] the variable for another store is refused like the option', async () => {
  const ended = await place.run(['serve'], { env: { PHASELOCK_STORE: 'redis://x/y' } })
  expect(ended.code).toBe(2)
  expect(ended.stderr).toContain('PHASELOCK_STORE')
})

test('[REQ-CLI-2] a short secret is refused and not printed', async () => {
  const ended = await place.run(['serve', '--port', '0'], { env: { ORCHESTRATOR_JWT_SECRET: 'hunter2hunter2' } })
  expect(ended.code).toBe(1)
  expect(ended.stderr).toContain('32 bytes')
  expect(ended.stderr + ended.stdout).not.toContain('hunter2')
})

test('[REQ-CLI-2] a busy port is said plainly with another one to try', async () => {
  const busy = createServer()
  const port = await new Promise<number>((resolve) =>
    busy.listen(0, '127.0.0.1', () => resolve((busy.address() as { port: number }).port)),
  )
  const ended = await place.run(['serve', '--port', String(port), '--state-dir', join(place.home, 'busy')])
  busy.close()
  expect(ended.stderr.trim()).toBe(
    `Port ${port} is in use. Stop what uses it, or choose another with --port ${port + 1}`,
  )
  expect(ended.code).toBe(1)
})

test('[REQ-CLI-2] a broken contract stops the start with every error at its place', async () => {
  const file = join(place.home, 'broken.yaml')
  writeFileSync(file, 'name: x\nversion: "1"\nphases:\n  - id: A\n    allowed_toolz: []\n  - id: A\n')
  const ended = await place.run(['serve', '--contract', file, '--port', '0'])
  expect(ended.stderr).toContain(`${file}:5:5: error contract.unknown_key: phases[0].allowed_toolz: `)
  expect(ended.stderr).toMatch(/:6:\d+: error contract.duplicate_id: phases\[1\]\.id: /)
  expect(ended.code).toBe(1)
})

test('[REQ-CLI-8] a mistyped bundled contract is answered with the nearest one', async () => {
  const ended = await place.run(['serve', '--contract', 'tddd'])
  expect(ended.code).toBe(2)
  expect(ended.stderr).toContain('Did you mean tdd?')
})

test('[REQ-DEADEND-1] the first 200 of /ready means that commands find the server', async () => {
  const other = await makePlace()
  // Returns as soon as /ready answers with 200.
  const server = await serve(other, 'tdd')
  try {
    const note = join(other.stateDir, 'server.json')
    expect(existsSync(note)).toBe(true)
    expect(JSON.parse(readFileSync(note, 'utf8'))).toMatchObject({ pid: server.child.pid })
    const added = await place.run(['task', 'add', '--state-dir', other.stateDir, 'Add a health endpoint'])
    expect(added).toMatchObject({ code: 0, stderr: '' })
  } finally {
    await server.stop()
    other.remove()
  }
})

test.runIf(isFullDepth())('[REQ-CLI-1] a started server answers under every name of this machine', async () => {
  const server = await place.serve()
  const { port } = new URL(server.url)
  expect(port).not.toBe('0')
  for (const name of ['localhost', '127.0.0.1', '[::1]'])
    expect((await fetch(`http://${name}:${port}/api/v1/health`)).status, name).toBe(200)
  expect(await statusFor(port, 'evil.example')).toBe(403)
  const note = join(server.stateDir, 'server.json')
  expect(JSON.parse(readFileSync(note, 'utf8'))).toMatchObject({ pid: server.pid, url: server.url })
  expect(statSync(note).mode & 0o777).toBe(0o600)
  expect(server.stateDir).toMatch(/state\/phaselock\/work-[0-9a-f]{12}$/)

  const second = await place.run(['serve', '--port', '0'])
  expect(second.code, '[REQ-CLI-3] a second server on the directory is refused').toBe(1)
  expect(second.stderr).toMatch(new RegExp(`pid ${server.pid}.*--state-dir`))

  const resting = openSocket(Number(port), '127.0.0.1')
  const stream = await fetch(`${server.url}/api/v1/events`, {
    headers: { authorization: `Bearer ${readFileSync(join(server.stateDir, 'operator.token'), 'utf8').trim()}` },
  })
  expect(stream.status).toBe(200)
  const started = Date.now()
  server.kill('SIGTERM')
  expect(await server.ended, '[REQ-CLI-5] SIGTERM ends with 0').toBe(0)
  expect(Date.now() - started, '[REQ-CLI-5] idle connections and event streams do not hold it up').toBeLessThan(5000)
  expect(existsSync(note)).toBe(false)
  resting.destroy()
})

test.runIf(isFullDepth())('[REQ-CLI-3] after kill -9 the next server starts with the same token', async () => {
  const stateDir = join(place.home, 'killed')
  const first = await place.serve(['--state-dir', stateDir])
  const token = readFileSync(join(stateDir, 'operator.token'), 'utf8')
  first.kill('SIGKILL')
  await first.ended
  expect(await place.run(['status', '--state-dir', stateDir])).toMatchObject({ code: 3 })
  const next = await place.serve(['--state-dir', stateDir])
  expect(readFileSync(join(stateDir, 'operator.token'), 'utf8')).toBe(token)
  expect(await place.run(['status', '--state-dir', stateDir])).toMatchObject({ code: 0 })
  next.kill('SIGINT')
  expect(await next.ended).toBe(0)
})

test('[REQ-CLI-5] a request that runs when the signal comes is answered', async () => {
  const server = await place.serve(['--state-dir', join(place.home, 'slow')])
  const request = await halfRequest(server.url)
  server.kill('SIGTERM')
  await wait(400)
  request.socket.write('"a": 1}')
  expect(await request.answer).toMatch(/^HTTP\/1.1 401/)
  expect(await server.ended).toBe(0)
})

test.runIf(isFullDepth())('[REQ-CLI-5] a second signal does not wait for a running request', async () => {
  const server = await place.serve(['--state-dir', join(place.home, 'slow')])
  const { socket } = await halfRequest(server.url)
  server.kill('SIGINT')
  server.kill('SIGINT')
  await wait(700)
  expect(existsSync(join(server.stateDir, 'server.json')), 'one Ctrl-C that arrives twice is one').toBe(true)
  server.kill('SIGINT')
  expect(await server.ended).toBe(130)
  expect(existsSync(join(server.stateDir, 'server.json'))).toBe(false)
  socket.destroy()
})

/** A request that the server has begun to read. */
async function halfRequest(url: string) {
  const { port, host } = new URL(url)
  const socket = openSocket(Number(port), '127.0.0.1')
  const answer = new Promise<string>((resolve) => socket.once('data', (chunk) => resolve(String(chunk))))
  socket.on('error', () => undefined)
  const head = ['POST /api/v1/tasks HTTP/1.1', `Host: ${host}`, 'Content-Type: application/json', 'Content-Length: 8']
  socket.write(`${head.join('\r\n')}\r\n\r\n{`)
  await wait(200)
  return { socket, answer }
}

function statusFor(port: string, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    get({ port, path: '/health', headers: { host } }, (response) => {
      response.resume()
      resolve(response.statusCode)
    }).once('error', reject)
  })
}

test('[REQ-CLI-4] the start message says where token and secret are stored and prints neither', async () => {
  const stateDir = join(place.home, 'silent')
  const program = [
    `import { main } from ${JSON.stringify(join(ROOT, 'dist/program/main.js'))}`,
    'const write = process.stdout.write.bind(process.stdout)',
    'process.stdout.write = (text, ...more) => {',
    "  if (String(text).includes('Ctrl-C stops.')) setTimeout(() => process.kill(process.pid, 'SIGTERM'))",
    '  return write(text, ...more)',
    '}',
    `await main(['serve', '--port', '0', '--state-dir', ${JSON.stringify(stateDir)}])`,
  ].join('\n')
  const ended = await place.node(['--input-type=module', '-e', program])
  const text = ended.stdout + ended.stderr
  for (const file of ['operator.token', 'signing.secret'])
    expect(text).not.toContain(readFileSync(join(stateDir, file), 'utf8').trim())
  expect(text).toContain(join(stateDir, 'operator.token'))
  expect(text).toContain('signing.secret')
  expect(text).toMatch(/Confined +(overlay\+bubblewrap|bubblewrap|unshare): no writes outside the tree/)
  expect(text).toMatch(/(start|run) [\s\S]*approve[\s\S]*status[\s\S]*agent add/)
  expect(ended.code).toBe(0)
})

test.runIf(isFullDepth())(
  '[REQ-CLI-6] up returns when the server answers, says when one runs, and down ends it',
  async () => {
    const at = ['--state-dir', join(place.home, 'background')]
    const refused = await place.run(['up', '--contract', 'no such.yaml', ...at])
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain('contract.unreadable')
    const up = JSON.parse((await place.run(['up', '--port', '0', '--json', ...at])).stdout)
    expect((await fetch(`${up.url}/health`)).status).toBe(200)
    const again = await place.run(['up', '--port', '0', ...at])
    expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining(`already runs at ${up.url}`) })
    expect(again.stdout).toContain(`Stop it with: ${SCRIPT} down --state-dir ${join(place.home, 'background')}\n`)
    const down = await place.run(['down', ...at])
    expect(down.stdout).toContain(`Stopped the server at ${up.url}`)
    await expect(fetch(`${up.url}/health`)).rejects.toThrow()
    expect(await place.run(['down', ...at])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('No server runs'),
    })
  },
)

test('[REQ-CLI-6] down signals no process that is not the server of its note', async () => {
  const stateDir = join(place.home, 'stale')
  mkdirSync(stateDir)
  const note = { pid: process.pid, url: 'http://localhost:1', started_at: '' }
  writeFileSync(join(stateDir, 'server.json'), JSON.stringify(note))
  const down = await place.run(['down', '--state-dir', stateDir])
  expect(down.stdout).toContain('No server runs')
})

test('[REQ-CLI-7] without a build the program says what to run', async () => {
  const copy = join(place.home, 'checkout')
  mkdirSync(join(copy, 'bin'), { recursive: true })
  writeFileSync(join(copy, 'package.json'), '{"type":"module"}')
  writeFileSync(join(copy, 'bin', 'phaselock'), readFileSync(SCRIPT))
  const ended = await place.node([join(copy, 'bin', 'phaselock'), 'status'])
  expect(ended.code).toBe(2)
  expect(ended.stderr).toMatch(/npm install && npm run build[\s\S]*npm start/)
})

test('[REQ-CLI-7] the program runs through a link from any folder', async () => {
  const link = join(place.home, 'linked')
  symlinkSync(SCRIPT, link)
  expect(await place.node([link, '--version'], { cwd: '/' })).toMatchObject({ code: 0, stdout: '0.2.0\n' })
})

test('[REQ-CLI-19] npm start makes a sample project once and becomes the server', async () => {
  const start = [join(ROOT, 'scripts', 'start.mjs')]
  const { isInstalled } = (await import(join(ROOT, 'scripts', 'prepare.mjs'))) as { isInstalled: () => boolean }
  // Otherwise npm would replace the packages that this very test runs with.
  expect(isInstalled(), 'node_modules is not what package-lock.json says: run `npm ci` first').toBe(true)
  const server = await place.serve([], start)
  const sample = join(place.home, 'data', 'phaselock', 'sample')
  const ready = await fetch(`${server.url}/api/v1/health`)
  expect(ready.status).toBe(200)
  expect(existsSync(join(sample, 'tests', 'greet.test.js'))).toBe(true)
  expect(await place.run(['status'])).toMatchObject({ code: 0, stdout: expect.stringContaining(server.url) })
  writeFileSync(join(sample, 'README.md'), 'mine')
  server.kill('SIGTERM')
  expect(await server.ended).toBe(0)
  const again = await place.serve([], start)
  expect(readFileSync(join(sample, 'README.md'), 'utf8')).toBe('mine')
  again.kill('SIGKILL')
  await again.ended
  await expect(fetch(`${again.url}/health`)).rejects.toThrow()
})
