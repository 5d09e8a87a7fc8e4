import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CommandAgent } from '../../src/participants/read-agents.js'

/** What a small agent does, step by step. */
export type AgentStep =
  | { readonly say: string }
  | { readonly complain: string }
  | { readonly tell: 'prompt' | 'environment' | 'files' | 'token' }
  | { readonly call: string; readonly with: unknown }
  /** All at once. */
  | { readonly calls: readonly { readonly call: string; readonly with: unknown }[] }
  /** Past the door: a request of its own with the token that it has. */
  | { readonly rest: string; readonly post?: unknown }
  | { readonly leave: number }
  | { readonly child: string }
  | { readonly flood: number }
  | { readonly lines: number }
  | { readonly wait: number }

const AGENT = `
import { spawn } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
const { url, headers } = JSON.parse(readFileSync(process.env.MCP_CONFIG, 'utf8')).mcpServers.phaselock
let prompt = ''
for await (const chunk of process.stdin) prompt += chunk
const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'agent', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}
async function call(name, args) {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      ...headers, 'content-type': 'application/json', accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': name,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args, _meta: meta } }),
  })
  const text = await response.text()
  const line = text.split('\\n').find((one) => one.startsWith('data: '))
  const { result, error } = JSON.parse(line === undefined ? text : line.slice(6))
  const said = error ? error.message : result.content.map((one) => one.text).join(' ')
  console.log((result?.isError || error ? 'refused: ' : 'answered: ') + said)
}
for (const step of JSON.parse(process.argv[2])) {
  if (step.say !== undefined) console.log(step.say)
  if (step.complain !== undefined) console.error(step.complain)
  if (step.tell === 'prompt') console.log(prompt)
  if (step.tell === 'token') console.log(headers.Authorization)
  if (step.tell === 'environment') console.log(JSON.stringify(process.env))
  if (step.tell === 'files') {
    writeFileSync('note.txt', 'mine')
    console.log(readdirSync('.') + ' ' + process.cwd())
  }
  if (step.call !== undefined) await call(step.call, step.with)
  if (step.calls !== undefined) await Promise.all(step.calls.map((one) => call(one.call, one.with)))
  if (step.rest !== undefined) {
    const [, claims] = headers.Authorization.split('.')
    const { run_id: run } = JSON.parse(Buffer.from(claims ?? 'e30', 'base64url').toString())
    const to = new URL(step.rest.replace('RUN', run), url)
    const init = step.post === undefined ? { headers } : {
      method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(step.post),
    }
    const response = await fetch(to, init)
    console.log(response.status + ' ' + (await response.json()).code)
  }
  if (step.leave !== undefined) process.exit(step.leave)
  if (step.child !== undefined) spawn('sleep', [step.child], { detached: true, stdio: 'ignore' }).unref()
  if (step.flood !== undefined) process.stdout.write('x'.repeat(step.flood))
  if (step.lines !== undefined) for (let n = 0; n < step.lines; n += 1) console.log('y'.repeat(99))
  if (step.wait !== undefined) await new Promise((resolve) => setTimeout(resolve, step.wait))
}
`

/** A program of a few lines that takes part like any agent: prompt from standard input, calls over MCP. */
export class AgentScript {
  readonly dir = mkdtempSync(join(tmpdir(), 'phaselock-script-'))

  constructor() {
    writeFileSync(join(this.dir, 'agent.mjs'), AGENT)
  }

  does(...steps: readonly AgentStep[]): CommandAgent {
    const args = [join(this.dir, 'agent.mjs'), JSON.stringify(steps)]
    return { id: 'c', kind: 'command', harness: 'command', command: process.execPath, args, model: null }
  }

  remove(): void {
    rmSync(this.dir, { recursive: true, force: true })
  }
}

/** The command lines of all processes of the machine that hold a text. */
export function processesWith(text: string): readonly string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && name !== String(process.pid))
    .flatMap((pid) => {
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
        return line.includes(text) ? [line] : []
      } catch {
        return []
      }
    })
}
