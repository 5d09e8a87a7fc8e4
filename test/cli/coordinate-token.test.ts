import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { built, Place, type Server } from './program.js'

const RUN_MS_MAX = 300_000
const place = new Place()
let server: Server
let run: string

beforeAll(async () => {
  await built()
  server = await place.serve()
  const agents = [
    { id: 'guest', kind: 'remote' },
    { id: 'robot', kind: 'scripted', script: [{ delay_ms: 60_000 }] },
  ]
  run = String((await ask('/coordinations', operatorToken(), { question: 'Which?', agents })).id)
}, RUN_MS_MAX)

const operatorToken = (): string => readFileSync(join(server.stateDir, 'operator.token'), 'utf8').trim()

async function ask(path: string, token: string, body?: unknown): Promise<Record<string, unknown>> {
  const answer = await fetch(`${server.url}/api/v1${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return (await answer.json()) as Record<string, unknown>
}

describe('phaselock coordinate token', () => {
  it(
    '[REQ-COUNCILTOKEN-1] refuses unknown agents and callers that are not operators, and prints nothing',
    async () => {
      const guest = (await place.run(['coordinate', 'token', run, 'guest'])).stdout.trim()
      const refused: readonly (readonly [readonly string[], number, string, NodeJS.ProcessEnv?])[] = [
        [[run], 2, "missing required argument 'agent'"],
        [['no-such-run', 'guest'], 1, '[not_found]'],
        [[run, 'nobody'], 1, 'has no agent "nobody"'],
        [[run, 'robot'], 1, 'needs no token'],
        [[run, '../guest'], 1, '[not_found]'],
        [[run, 'guest'], 1, '[', { PHASELOCK_OPERATOR_TOKEN: guest }],
      ]
      for (const [args, code, said, env = {}] of refused) {
        const ended = await place.run(['coordinate', 'token', ...args], { env })
        expect({ args, code: ended.code, stdout: ended.stdout }).toEqual({ args, code, stdout: '' })
        expect(ended.stderr).toContain(said)
        expect(ended.stderr).not.toContain(guest)
      }
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-COUNCILTOKEN-2] prints only the token, which opens this run for this agent and is shown nowhere else',
    async () => {
      const { code, stdout, stderr } = await place.run(['coordinate', 'token', run, 'guest'])
      expect([code, stderr]).toEqual([0, ''])
      expect(stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/)
      const view = await ask(`/coordinations/${run}`, stdout.trim())
      expect(view).toMatchObject({ question: 'Which?', must: 'new_answer' })
      expect(await ask('/tasks', stdout.trim())).toMatchObject({ code: 'not_permitted' })
      const asJson = await place.json(['coordinate', 'token', run, 'guest'])
      expect(Object.keys(asJson).sort()).toEqual(['anonymous_id', 'id', 'token'])
      expect(await ask(`/coordinations/${run}`, String(asJson.token))).toMatchObject({ question: 'Which?' })
      const events = (await place.run(['events', '--limit', '100', '--json'])).stdout
      for (const token of [stdout.trim(), String(asJson.token)])
        expect([events, server.output()].join('\n')).not.toContain(token)
      await place.run(['coordinate', 'token', run, 'guest', '--url', server.url])
      await ask(`/coordinations/${run}/cancel`, operatorToken(), { reason: 'enough' })
      const over = await place.run(['coordinate', 'token', run, 'guest'])
      expect([over.code, over.stdout, over.stderr.includes('is over')]).toEqual([1, '', true])
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-COUNCILTOKEN-1] prints nothing if the server does not answer with a token',
    async () => {
      for (const token of ['', 'two words', 'a\u001b[2Jb', 'a\nb', 7]) {
        const lying = createServer((request, response) => {
          request.resume()
          request.on('end', () => response.setHeader('content-type', 'application/json').end(JSON.stringify({ token })))
        })
        await new Promise<void>((resolve) => lying.listen(0, '127.0.0.1', resolve))
        const url = `http://127.0.0.1:${(lying.address() as AddressInfo).port}`
        const env = { PHASELOCK_OPERATOR_TOKEN: 'x' }
        for (const more of [[], ['--json']]) {
          const ended = await place.run(['coordinate', 'token', 'a', 'b', '--url', url, ...more], { env })
          expect([ended.code, ended.stdout]).toEqual([1, ''])
          expect(ended.stderr).toContain('did not answer with a token')
        }
        lying.close()
      }
    },
    RUN_MS_MAX,
  )

  it('[REQ-COUNCILTOKEN-3] is in the help and in the completions, and asks for no council', async () => {
    expect((await place.run(['coordinate', '--help'])).stdout).toContain('token [options] <run> <agent>')
    const help = await place.run(['coordinate', 'token', '--help'])
    expect([help.code, help.stdout]).toEqual([0, expect.stringContaining('--token-file')])
    expect(help.stdout).not.toContain('--config')
    expect((await place.run(['completion', 'bash'])).stdout).toContain('" coordinate token")')
    const asked = await place.run(['coordinate', 'Why?'])
    expect([asked.code, asked.stdout]).toEqual([2, ''])
    expect(asked.stderr).toContain("required option '-c, --config <file>' not specified")
  })
})
