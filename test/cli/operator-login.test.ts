import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { built, Place, type Server } from './program.js'

const MS = 120_000
const LINK = /http:\/\/localhost:\d+\/login#code=[\w-]+/

beforeAll(built, MS)

const takeCode = (text: string): string => (LINK.exec(text)?.[0] ?? '').split('code=')[1] ?? ''

/** Logs in as a browser does, and gives the cookie. */
async function logIn({ url }: Server, body: object): Promise<{ readonly status: number; readonly cookie: string }> {
  const answer = await fetch(`${url}/api/v1/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: answer.status, cookie: answer.headers.get('set-cookie')?.split(';')[0] ?? '' }
}

describe('phaselock login and operator sessions', () => {
  const place = new Place()
  let server: Server
  beforeAll(async () => {
    server = await place.serve(['--contract', 'tdd', '--confinement', 'none'])
  }, MS)

  it(
    '[REQ-LOGIN-9] the printed link works once; a wrong token gets none',
    async () => {
      const wrong = await place.run(['login'], { env: { PHASELOCK_OPERATOR_TOKEN: 'plop_wrong' } })
      expect(wrong).toMatchObject({ code: 1, stdout: '' })
      const printed = await place.run(['login', '--no-browser'])
      expect(printed).toMatchObject({ code: 0, stdout: expect.stringContaining('Open this link in your browser') })
      const code = takeCode(printed.stdout)
      expect((await logIn(server, { code })).status).toBe(200)
      expect((await logIn(server, { code })).status).toBe(403)
      expect(await place.json(['login'])).toMatchObject({ url: expect.stringMatching(LINK), code: expect.any(String) })
    },
    MS,
  )

  it(
    '[REQ-LOGIN-9] where there is a display, the browser gets the link; without one it is only printed',
    async () => {
      const opened = join(place.home, 'opened')
      const program = join(place.home, 'xdg-open')
      writeFileSync(program, `#!/bin/sh\nprintf %s "$1" > '${opened}.part' && mv '${opened}.part' '${opened}'\n`)
      chmodSync(program, 0o755)
      const PATH = `${place.home}:${process.env.PATH}`
      expect((await place.run(['login'], { env: { PATH } })).stdout).toContain('Open this link')
      const DISPLAY = ':99'
      expect((await place.run(['login', '--no-browser'], { env: { PATH, DISPLAY } })).stdout).toContain(
        'Open this link',
      )
      expect(existsSync(opened)).toBe(false)
      const { stdout } = await place.run(['login'], { env: { PATH, DISPLAY } })
      expect(stdout).toContain('The browser opens this link')
      await vi.waitUntil(() => existsSync(opened), { timeout: 60_000 })
      expect(readFileSync(opened, 'utf8')).toBe(LINK.exec(stdout)?.[0])
    },
    MS,
  )

  it(
    '[REQ-LOGIN-9] sessions are listed and ended; an unknown one is refused',
    async () => {
      const { cookie } = await logIn(server, { code: (await place.json(['login'])).code })
      const { sessions } = (await place.json(['operator', 'sessions'])) as { sessions: { id: string }[] }
      expect(sessions.length).toBeGreaterThan(0)
      const listed = await place.run(['operator', 'sessions'])
      expect(listed.stdout).toMatch(/SESSION +OPERATOR +BEGAN WITH/)
      expect(listed.stdout).toContain('admin')
      const unknown = await place.run(['operator', 'sessions', '--revoke', 'ses-none'])
      expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining('not_found') })
      for (const { id } of sessions) {
        const ended = await place.run(['operator', 'sessions', '--revoke', id])
        expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining(`Session ${id} is ended`) })
      }
      expect((await fetch(`${server.url}/api/v1/session`, { headers: { cookie } })).status).toBe(403)
      expect((await place.run(['operator', 'sessions'])).stdout).toContain('No sessions.')
    },
    MS,
  )
})

describe('phaselock operator passphrase', () => {
  const place = new Place()
  let server: Server
  const write = (name: string, text: string): string => {
    const file = join(place.home, name)
    writeFileSync(file, `${text}\n`)
    return file
  }
  const set = (...args: readonly string[]) => place.run(['operator', 'passphrase', ...args])
  beforeAll(async () => {
    server = await place.serve(['--contract', 'tdd', '--confinement', 'none', '--confirm', 'always'])
  }, MS)

  it(
    '[REQ-CONFIRM-9] the token alone sets no first one under always; the code of the first start does, once',
    async () => {
      const first = write('first', 'the first long passphrase')
      expect(await set()).toMatchObject({ code: 2, stderr: expect.stringContaining('--new-file') })
      expect(await set('--new-file', first)).toMatchObject({ code: 1, stderr: expect.stringContaining('--first-code') })
      expect(await set('--new-file', first, '--code', 'guessed')).toMatchObject({ code: 1 })
      await vi.waitUntil(() => LINK.test(server.output()), { timeout: 60_000 })
      const code = takeCode(server.output())
      expect(await set('--new-file', first, '--code', code)).toMatchObject({
        ...{ code: 0, stdout: expect.stringContaining('Your passphrase is set.') },
      })
      expect(await set('--new-file', first, '--code', code)).toMatchObject({ code: 1 })
    },
    MS,
  )

  it(
    '[REQ-CONFIRM-9] replacing it needs the old one, a short one is refused, and only the newest confirms',
    async () => {
      const [first, second] = [join(place.home, 'first'), write('second', 'the second long passphrase')]
      const short = await set('--new-file', write('short', 'too short'), '--passphrase-file', first)
      expect(short).toMatchObject({ code: 1, stderr: expect.stringContaining('12') })
      expect(await set('--new-file', second)).toMatchObject({ code: 1 })
      expect(await set('--new-file', second, '--passphrase-file', second)).toMatchObject({
        ...{ code: 1, stderr: expect.stringContaining('confirmation_invalid') },
      })
      expect(await set('--new-file', second, '--passphrase-file', first)).toMatchObject({ code: 0 })
      const add = (name: string, file: string) => place.run(['operator', 'add', name, '--passphrase-file', file])
      expect(await add('ada', first)).toMatchObject({ code: 1 })
      expect(await add('ada', second)).toMatchObject({ code: 0, stdout: expect.stringContaining('plop_') })
    },
    MS,
  )
})
