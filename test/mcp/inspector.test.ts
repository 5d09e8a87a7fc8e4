import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { built, SCRIPT } from '../cli/program.js'
import { type Running, start } from '../http/harness.js'
import { installed, node22 } from './packages.js'
import { SMALL, STEPS } from './small-workflow.js'

const INSPECTOR = '@modelcontextprotocol/inspector@2.12.0'
const MS_MAX = 240_000

let server: Running
let token: string

beforeAll(built)
beforeEach(async () => {
  server = await start({ contract: SMALL })
  token = await server.addAgent('ada')
})
afterEach(async () => {
  expect(server.faults).toEqual([])
  await server.stop()
})

interface Programs {
  readonly node: string
  readonly inspector: string
}

function programs(): Programs | string {
  const node = node22()
  if (!node.ok) return node.reason
  const inspector = installed('inspector', [INSPECTOR])
  return inspector.ok
    ? {
        node: node.dir,
        inspector: join(inspector.dir, 'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js'),
      }
    : inspector.reason
}

interface Inspected {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** One run of the inspector: it connects, makes one request and ends. */
async function inspect({ node, inspector }: Programs, args: readonly string[]): Promise<Inspected> {
  const child = spawn(node, [inspector, '--cli', ...args, '--format', 'json', '-q'], {
    cwd: server.stateDir,
    env: { PATH: process.env.PATH, HOME: server.stateDir },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 60_000,
  })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString()
  })
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, stdout, stderr }
}

const overHttp = (era: string) => [
  ...[`${server.url}/mcp`, '--transport', 'http', '--protocol-era', era],
  ...['--header', `Authorization: Bearer ${token}`],
]
const overStdio = (era: string) => [
  ...[SCRIPT, 'mcp', '--transport', 'stdio', '--protocol-era', era],
  ...['-e', `PHASELOCK_URL=${server.url}`, '-e', `PHASELOCK_TOKEN=${token}`],
]

describe('the inspector of the protocol', () => {
  it.for([
    { name: 'over HTTP, with a handshake', target: () => overHttp('legacy') },
    { name: 'over HTTP, without one', target: () => overHttp('modern') },
    { name: 'over standard input and output', target: () => overStdio('legacy') },
  ])('[REQ-MCP-16] completes a workflow $name', { timeout: MS_MAX }, async ({ target }, { skip }) => {
    const found = programs()
    if (typeof found === 'string') return skip(found)
    for (const { tool, args, refused } of STEPS) {
      const call = ['--method', 'tools/call', '--tool-name', tool, '--tool-args-json', JSON.stringify(args)]
      const { stdout, stderr } = await inspect(found, [...target(), ...call])
      const said = `${tool}: ${stdout}${stderr}`
      if (refused !== undefined) expect(said).toContain(`[${refused}]`)
      else expect(said).not.toContain('"isError"')
      if (refused === undefined) expect(said).toContain('structuredContent')
    }
    expect(readFileSync(join(server.workspace, 'note.txt'), 'utf8')).toBe('two words\n')
    const { body } = await server.call('GET', '/tasks', server.operator)
    expect(body.tasks).toMatchObject([{ status: 'completed' }])
  })

  it('[REQ-MCP-16] finds no schema of a tool that other clients could not take', async ({ skip }) => {
    const found = programs()
    if (typeof found === 'string') return skip(found)
    const { code, stderr } = await inspect(found, [...overHttp('modern'), '--method', 'tools/list', '--strict'])
    expect(code, stderr).toBe(0)
  })
})
