import { chmodSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { until } from '../mcp/clients.js'
import { contractWith, openStage } from './stage.js'

const dir = realpathSync(mkdtempSync(join(tmpdir(), 'phaselock-model-key-')))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

/** An agent CLI that asks its model once. */
const PROGRAM = `#!/usr/bin/env node
fetch(process.env.OPENAI_BASE_URL + '/chat', { method: 'POST', body: '{}' }).then((answer) => answer.text())
`

describe('the key of the server', () => {
  it.each(['required', 'off'])(
    '[REQ-TRUST-7] goes to another address only where the same entry names it (confinement %s)',
    async (confinement) => {
      const seen: string[] = []
      const model = createServer((request, response) => {
        seen.push(`${request.url} ${request.headers.authorization ?? 'no key'} ${request.headers['x-env'] ?? ''}`)
        response.end('{}')
      })
      await new Promise<void>((resolve) => model.listen(0, '127.0.0.1', resolve))
      const { port } = model.address() as { port: number }
      const program = join(dir, `codex-${confinement}`)
      // Without the sandbox the program has the key in its own environment, and sends it as the real one would.
      const bare = PROGRAM.replace(
        "method: 'POST',",
        "method: 'POST', headers: { authorization: 'Bearer ' + process.env.OPENAI_API_KEY },",
      )
      writeFileSync(program, confinement === 'off' ? bare : PROGRAM)
      chmodSync(program, 0o755)
      const entry = (path: string, key: string) =>
        `{harness: codex, command: ${program}, env: {OPENAI_BASE_URL: "http://127.0.0.1:${port}/${path}"${key}}}`
      const more = `agents:\n  other: ${entry('other', '')}\n  named: ${entry('named', ', OPENAI_API_KEY: "REF(OPENAI_API_KEY)"')}\n`
      const stage = await openStage(contractWith({ confinement, crash: null, more }), {
        environment: { OPENAI_API_KEY: 'sk-key-of-the-operator' },
      })
      try {
        await stage.spawn([], { agent: 'other' })
        await until(() => seen.some((line) => line.startsWith('/other')), 60_000)
        await stage.spawn([], { agent: 'named' })
        await until(() => seen.some((line) => line.startsWith('/named')), 60_000)
      } finally {
        await stage.stop()
        model.close()
      }
      expect(seen.filter((line) => line.startsWith('/other')).join()).not.toContain('sk-key')
      expect(seen.find((line) => line.startsWith('/named'))).toContain('/named/chat Bearer sk-key-of-the-operator')
    },
  )
})
