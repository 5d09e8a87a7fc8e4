import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, it, type TestContext } from 'vitest'
import { built, SCRIPT } from '../cli/program.js'
import { type Running, start } from '../http/harness.js'
import { installed, node22 } from './packages.js'
import { SMALL, STEPS } from './small-workflow.js'

const INSPECTOR = '@modelcontextprotocol/inspector@2.12.0'
const MS_MAX = 240_000

beforeAll(built)

interface Target {
  readonly server: Running
  readonly token: string
}

/** A server of its own for a test, that ends with it and must not have faults. */
async function target(context: TestContext): Promise<Target> {
  const server = await start({ contract: SMALL })
  context.onTestFinished(async () => {
    context.expect(server.faults).toEqual([])
    await server.stop()
  })
  return { server, token: await server.addAgent('ada') }
}

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
async function inspect({ node, inspector }: Programs, { server }: Target, args: readonly string[]): Promise<Inspected> {
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

const overHttp =
  (era: string) =>
  ({ server, token }: Target): readonly string[] => [
    ...[`${server.url}/mcp`, '--transport', 'http', '--protocol-era', era],
    ...['--header', `Authorization: Bearer ${token}`],
  ]
const overStdio =
  (era: string) =>
  ({ server, token }: Target): readonly string[] => [
    ...[SCRIPT, 'mcp', '--transport', 'stdio', '--protocol-era', era],
    ...['-e', `PHASELOCK_URL=${server.url}`, '-e', `PHASELOCK_TOKEN=${token}`],
  ]

// At once: an inspector that has been answered waits a good while before it ends.
describe.concurrent('the inspector of the protocol', () => {
  it.for([
    { name: 'over HTTP, with a handshake', connecting: overHttp('legacy') },
    { name: 'over HTTP, without one', connecting: overHttp('modern') },
    { name: 'over standard input and output', connecting: overStdio('legacy') },
  ])('[REQ-MCP-16] completes a workflow $name', { timeout: MS_MAX }, async ({ connecting }, context) => {
    const { expect } = context
    const found = programs()
    if (typeof found === 'string') return context.skip(found)
    const to = await target(context)
    for (const { tool, args, refused } of STEPS) {
      const call = ['--method', 'tools/call', '--tool-name', tool, '--tool-args-json', JSON.stringify(args)]
      const { stdout, stderr } = await inspect(found, to, [...connecting(to), ...call])
      const said = `${tool}: ${stdout}${stderr}`
      if (refused !== undefined) expect(said).toContain(`[${refused}]`)
      else expect(said).not.toContain('"isError"')
      if (refused === undefined) expect(said).toContain('structuredContent')
    }
    expect(readFileSync(join(to.server.workspace, 'note.txt'), 'utf8')).toBe('two words\n')
    const { body } = await to.server.call('GET', '/tasks', to.server.operator)
    expect(body.tasks).toMatchObject([{ status: 'completed' }])
  })

  it('[REQ-MCP-16] finds no schema of a tool that other clients could not take', async (context) => {
    const found = programs()
    if (typeof found === 'string') return context.skip(found)
    const to = await target(context)
    const asked = [...overHttp('modern')(to), '--method', 'tools/list', '--strict']
    const { code, stderr } = await inspect(found, to, asked)
    context.expect(code, stderr).toBe(0)
  })
})
