import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { HttpServer, McpServer, StdioServer } from '../../../src/core/contract/contract.js'
import type { JsonObject } from '../../../src/core/json.js'
import { type ListedTool, type Pins, pinTools } from '../../../src/tools/upstream/pins.js'
import type { UpstreamPlace } from '../../../src/tools/upstream/run.js'
import { Upstream, type UpstreamLimits } from '../../../src/tools/upstream/upstream.js'
import type { UpstreamResult } from '../../../src/tools/upstream/upstream-call.js'
import { Unconfined } from './unconfined.js'

export const FIXTURE = new URL('./fixtures/server.mjs', import.meta.url).pathname
export const SECRET = 'ghp_verysecret/token+1'
export const ref = (name: string): string => `\${env:${name}}`

export function stdio(about: Partial<StdioServer> = {}, ...flags: string[]): StdioServer {
  return {
    kind: 'stdio',
    name: 'up',
    command: process.execPath,
    args: [FIXTURE, ...flags],
    env: new Map(),
    writable: [],
    network: false,
    timeoutSeconds: null,
    ...about,
  }
}

export function http(url: string): HttpServer {
  return { kind: 'http', name: 'up', url, timeoutSeconds: null }
}

/** An upstream with a work tree of its own and commands that run without a wall. */
export class Stage {
  readonly tree = realpathSync(mkdtempSync(join(tmpdir(), 'upstream-')))
  readonly unconfined = new Unconfined()
  readonly upstream: Upstream

  constructor(limits: Partial<UpstreamLimits> = {}, environment: Readonly<Record<string, string>> = { SECRET }) {
    this.upstream = new Upstream({
      start: this.unconfined.start,
      environment: (name) => environment[name],
      version: '0.0.0',
      limits,
    })
  }

  place(about: Partial<UpstreamPlace> = {}): UpstreamPlace {
    return { tree: this.tree, hidden: [], signal: new AbortController().signal, timeoutMs: 20_000, ...about }
  }

  async listed(server: McpServer): Promise<readonly ListedTool[]> {
    const listing = await this.upstream.listTools(server, this.place())
    if (!listing.ok) throw new Error(listing.detail)
    return listing.tools
  }

  async pins(server: McpServer): Promise<Pins> {
    return pinTools(await this.listed(server))
  }

  /** Calls a tool that was pinned just before. */
  async call(server: McpServer, tool: string, args: JsonObject = {}, about: Partial<UpstreamPlace> = {}) {
    return this.callPinned(server, { tool, args, pins: await this.pins(server) }, about)
  }

  async callPinned(
    server: McpServer,
    call: { readonly tool: string; readonly args: JsonObject; readonly pins: Pins },
    about: Partial<UpstreamPlace> = {},
  ): Promise<UpstreamResult> {
    const { tool, args, pins } = call
    return this.upstream.call(server, { tool: `up.${tool}`, args, pins }, this.place(about))
  }

  async close(): Promise<void> {
    await this.upstream.close()
    rmSync(this.tree, { recursive: true, force: true })
  }
}

/** The text that a call gave. */
export function textOf(result: UpstreamResult): string {
  if (!result.outcome.ok) throw new Error(result.outcome.detail)
  return String(result.outcome.result.content)
}

export function detailOf(result: UpstreamResult): string {
  if (result.outcome.ok) throw new Error(`it did not fail: ${JSON.stringify(result.outcome.result)}`)
  return result.outcome.detail
}
