import { spawn } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type Server as HttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { computeServerProof } from '../../src/store/server-proof.js'
import { built, Place } from './program.js'

const TEST_MS_MAX = 300_000
const MADE_UP_ID = 64_321
beforeAll(built, TEST_MS_MAX)

/** What listens at an address that a server had, and what it was sent. */
interface Impostor {
  readonly heard: string[]
  readonly port: number
  /** What it answers to the question for a proof; null: as a server without that endpoint. */
  answer: ((nonce: string) => Promise<string>) | null
  readonly close: () => Promise<void>
}

function listenAt(port: number): Promise<Impostor> {
  const heard: string[] = []
  const impostor = { heard, answer: null as Impostor['answer'] }
  const server: HttpServer = createServer(async (request, response) => {
    heard.push(`${request.method} ${request.url?.split('?')[0]} ${request.headers.authorization ?? ''}`.trim())
    const nonce = /^\/health\/proof\?nonce=(.*)$/.exec(request.url ?? '')?.[1]
    response.setHeader('content-type', 'application/json')
    if (nonce !== undefined && impostor.answer === null) response.statusCode = 404
    response.end(nonce !== undefined && impostor.answer !== null ? await impostor.answer(nonce) : '{"tasks": []}')
  })
  const close = () => new Promise<void>((resolve) => server.close(() => resolve()))
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () =>
      resolve(Object.assign(impostor, { close, port: (server.address() as AddressInfo).port })),
    )
  })
}

describe('the server that a command sends its token to', () => {
  const place = new Place()
  // A process that is alive and is no server: it has the number that the note names.
  const other = spawn('sleep', ['600'], { stdio: 'ignore' })
  afterAll(() => void other.kill('SIGKILL'))

  it(
    '[REQ-STATEDIR-1] a program at the address of a dead server gets no token, whatever it answers',
    async () => {
      const dead = await place.serve()
      const token = readFileSync(join(dead.stateDir, 'operator.token'), 'utf8').trim()
      expect((await place.run(['status'])).code).toBe(0)
      const note = JSON.parse(readFileSync(join(dead.stateDir, 'server.json'), 'utf8')) as { url: string }
      dead.kill('SIGKILL')
      await dead.ended
      writeFileSync(join(dead.stateDir, 'server.json'), JSON.stringify({ ...note, pid: other.pid }))
      const impostor = await listenAt(Number(new URL(note.url).port))
      try {
        const WAYS = [['status'], ['status', '--state-dir', dead.stateDir], ['status', '--url', note.url]]
        const answers: readonly Impostor['answer'][] = [
          null,
          async () => '{"proof": "00"}',
          async () => '[]',
          // The answer of a server of this state directory that listens elsewhere, passed on.
          async (nonce) =>
            JSON.stringify({ proof: computeServerProof(dead.stateDir, { url: 'http://localhost:9', nonce }) }),
        ]
        for (const answer of answers) {
          impostor.answer = answer
          for (const words of answer === null ? WAYS : WAYS.slice(0, 1)) {
            const ended = await place.run(words)
            expect(ended.code, words.join(' ')).toBe(3)
            expect(ended.stderr).toContain('No token was sent')
          }
        }
        expect(impostor.heard.join('\n')).not.toContain(token)
        expect(impostor.heard.filter((line) => !line.startsWith('GET /health/proof'))).toEqual([])
        // Who names the address and the token by hand means them.
        const byHand = await place.run([
          'status',
          '--url',
          note.url,
          '--token-file',
          join(dead.stateDir, 'operator.token'),
        ])
        expect(byHand.stderr).not.toContain('No token was sent')
        expect(impostor.heard.join('\n')).toContain(token)
      } finally {
        await impostor.close()
      }
    },
    TEST_MS_MAX,
  )

  it(
    '[REQ-STATEDIR-1] a program that forwards the challenge from another address gets no token',
    async () => {
      const relayed = new Place(onTestFinished)
      const server = await relayed.serve()
      const impostor = await listenAt(0)
      impostor.answer = async (nonce) => (await fetch(`${server.url}/health/proof?nonce=${nonce}`)).text()
      try {
        const ask = (port: number | string) =>
          relayed.run(['status', '--state-dir', server.stateDir, '--url', `http://127.0.0.1:${port}`])
        const ended = await ask(impostor.port)
        expect(ended.code).toBe(3)
        expect(ended.stderr).toContain('No token was sent')
        expect(impostor.heard).toEqual(['GET /health/proof'])
        expect((await ask(new URL(server.url).port)).code, 'the server by another name of this machine').toBe(0)
      } finally {
        await impostor.close()
      }
    },
    TEST_MS_MAX,
  )

  it(
    '[REQ-STATEDIR-1] a server that is named localhost has all addresses of that name, or does not start',
    async () => {
      const open = new Place(onTestFinished)
      const wide = ['--host', '0.0.0.0', '--insecure-http', '--confinement', 'none']
      const server = await open.serve(wide)
      const { port } = new URL(server.url)
      expect((await fetch(`http://[::1]:${port}/health`, { headers: { host: `localhost:${port}` } })).status).toBe(200)
      expect((await open.run(['status', '--state-dir', server.stateDir])).code).toBe(0)
      server.kill('SIGTERM')
      await server.ended
      const six = createServer()
      await new Promise<void>((resolve) => six.listen({ host: '::1', port: Number(port), ipv6Only: true }, resolve))
      try {
        expect((await open.run(['serve', ...wide, '--port', port])).code).not.toBe(0)
      } finally {
        six.close()
      }
    },
    TEST_MS_MAX,
  )

  it(
    '[REQ-STATEDIR-1] a server of an earlier version is recognised, and the message says how to restart it',
    async () => {
      const old = new Place(onTestFinished)
      const server = await old.serve()
      const note = JSON.parse(readFileSync(join(server.stateDir, 'server.json'), 'utf8')) as { url: string }
      expect((await fetch(`${note.url}/health/proof?nonce=${'0'.repeat(64)}`)).status).toBe(200)
      for (const nonce of ['', 'x', '0'.repeat(63), '0'.repeat(65)])
        expect((await fetch(`${note.url}/health/proof?nonce=${nonce}`)).status).toBe(400)
      expect((await fetch(`${note.url}/health/proof`)).status).toBe(400)
      const impostor = await listenAt(0)
      try {
        const file = join(server.stateDir, 'server.json')
        writeFileSync(file, JSON.stringify({ ...note, url: `http://localhost:${impostor.port}` }))
        const ended = await old.run(['status'])
        expect(ended.code).toBe(3)
        expect(ended.stderr).toContain('was started by an earlier version')
        expect(ended.stderr).toMatch(/Restart it: `\S+ down`, then `\S+ up`/)
        expect(impostor.heard).toEqual(['GET /health/proof'])
        writeFileSync(file, JSON.stringify(note))
        expect((await old.run(['status'])).code).toBe(0)
      } finally {
        await impostor.close()
      }
    },
    TEST_MS_MAX,
  )
})

describe('the state directory of a server', () => {
  const start = async (place: Place, dir: string) => {
    const server = await place.serve(['--state-dir', dir])
    server.kill('SIGTERM')
    await server.ended
    return server.output()
  }
  const refused = async (place: Place, dir: string): Promise<string> => {
    const ended = await place.run(['serve', '--port', '0', '--state-dir', dir])
    expect(ended.code).toBe(1)
    return ended.stderr
  }
  const modeOf = (path: string): number => statSync(path).mode & 0o777

  it(
    '[REQ-STATEDIR-2] rights of others on a directory or a key of ours are taken away, and the server says so',
    async () => {
      const place = new Place(onTestFinished)
      const dir = join(place.home, 'mine')
      expect(await start(place, dir)).not.toContain('its mode was')
      expect(modeOf(dir)).toBe(0o700)
      chmodSync(dir, 0o777)
      for (const name of ['ledger.key', 'operator.token', 'signing.secret']) chmodSync(join(dir, name), 0o666)
      const said = await start(place, dir)
      expect(said).toContain(`Other accounts could use ${dir}: its mode was 0777 and is 0700 now.`)
      expect(said).toContain('operator.token: its mode was 0666 and is 0600 now.')
      expect(modeOf(dir)).toBe(0o700)
      for (const name of ['ledger.key', 'operator.token', 'signing.secret']) expect(modeOf(join(dir, name))).toBe(0o600)
    },
    TEST_MS_MAX,
  )

  it(
    '[REQ-STATEDIR-2] a link in the place of the directory or of a key is refused',
    async () => {
      const place = new Place(onTestFinished)
      const [real, link] = [join(place.home, 'real'), join(place.home, 'link')]
      await start(place, real)
      symlinkSync(real, link)
      expect(await refused(place, link)).toContain(`--state-dir ${real}`)
      const key = join(real, 'signing.secret')
      renameSync(key, `${real}.secret`)
      symlinkSync(`${real}.secret`, key)
      expect(await refused(place, real)).toContain(`${key} is not a plain file`)
      rmSync(key)
      renameSync(`${real}.secret`, key)
      await start(place, real)
    },
    TEST_MS_MAX,
  )

  it.runIf(process.getuid?.() === 0)(
    '[REQ-STATEDIR-2] a directory and a key of another account are refused, with what to do',
    async () => {
      const place = new Place(onTestFinished)
      const dir = join(place.home, 'theirs')
      mkdirSync(dir, { mode: 0o700 })
      chownSync(dir, MADE_UP_ID, MADE_UP_ID)
      const said = await refused(place, dir)
      expect(said).toContain(`belongs to another account (uid ${MADE_UP_ID})`)
      expect(said).toContain(`chown -R 0 ${dir}`)
      expect(existsSync(join(dir, 'ledger.key'))).toBe(false)
      chownSync(dir, 0, 0)
      await start(place, dir)
      chownSync(join(dir, 'ledger.key'), MADE_UP_ID, MADE_UP_ID)
      expect(await refused(place, dir)).toContain(`${join(dir, 'ledger.key')} belongs to another account`)
    },
    TEST_MS_MAX,
  )
})
