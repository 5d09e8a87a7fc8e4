import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { makePlace, type Served, serve } from '../e2e/process.js'

const CONTRACT = `
name: killed
version: "1"
phases:
  - {id: A, allowed_tools: [bash, write_files]}
  - {id: B, allowed_tools: []}
`
const FILES = 1500
const WAIT_MS = 180_000

async function claim(server: Served): Promise<string> {
  const { body } = await server.call('POST', '/agents', server.operator, { agent_id: 'a' })
  const claimed = await server.call('POST', '/tasks/claim', String(body.agent_token), { agent_id: 'a', task_id: 't' })
  return String(claimed.body.phase_token)
}

function bash(server: Served, token: string, command: string) {
  return server.call('POST', '/tools/execute', token, { task_id: 't', tool_name: 'bash', args: { command } })
}

async function isSaving(dir: string): Promise<boolean> {
  for (const end = Date.now() + WAIT_MS; Date.now() < end; await new Promise((resolve) => setImmediate(resolve)))
    if (existsSync(dir) && readdirSync(dir).some((name) => existsSync(join(dir, name, 'busy')))) return true
  return false
}

describe('a server that is killed while it saves what a command left at ignored paths', () => {
  it('[REQ-SCRATCH-6] the next command runs, and sees all of one command or nothing', async () => {
    const place = await makePlace()
    const contract = join(place.dir, 'contract.yaml')
    writeFileSync(contract, CONTRACT)
    mkdirSync(join(place.workspace, 'src'))
    writeFileSync(join(place.workspace, '.gitignore'), 'dist/\n')
    let server = await serve(place, contract)
    try {
      await server.call('POST', '/tasks', server.operator, { title: 't', id: 't' })
      let token = await claim(server)
      const write = (what: string) => `mkdir -p dist; for i in $(seq ${FILES}); do echo ${what} > dist/$i; done`
      expect((await bash(server, token, write('one'))).status).toBe(200)
      const cut = bash(server, token, write('two')).catch(() => null)
      expect(await isSaving(join(place.stateDir, 'scratch'))).toBe(true)
      await server.kill()
      await cut
      server = await serve(place, contract)
      token = await claim(server)
      const { status, body } = await bash(server, token, 'cat dist/* 2>/dev/null | sort | uniq -c | wc -l')
      expect(status).toBe(200)
      expect(Number((body.result as { stdout: string }).stdout)).toBeLessThanOrEqual(1)
      expect((await bash(server, token, write('three'))).status).toBe(200)
      expect((await bash(server, token, 'cat dist/* | sort -u')).body).toMatchObject({ result: { stdout: 'three\n' } })
      expect(existsSync(join(place.workspace, 'dist'))).toBe(false)
    } finally {
      await server.kill()
      place.remove()
    }
  })
})
