import { readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { packagePath } from '../base/package-root.js'
import { isReadMethod } from './is-read-method.js'

/** Addresses of the dashboard. Each answers with the same document; the program in it shows the page. */
export const DASHBOARD_PATHS = [
  '/',
  '/login',
  '/board',
  '/tasks/:id',
  '/approvals/:id',
  '/agents',
  '/agents/:id',
  '/coordinations',
  '/coordinations/:id',
  '/contracts',
  '/contracts/:hash',
  '/audit',
  '/insights',
  '/settings',
] as const

const ASSETS_PATH = '/assets/:name'

/** What the sockets of agents do not serve. */
export const DASHBOARD_ROUTES: readonly string[] = [...DASHBOARD_PATHS, ASSETS_PATH]

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

// Nothing inline, nothing from elsewhere: what an agent wrote cannot run or load anything even if a page showed it wrongly.
const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
} as const

const NOT_BUILT = `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Phaselock</title><link rel="stylesheet" href="/style.css">
<main><h1>The dashboard is not built</h1><p>The server is running. Run <code>npm run build</code>, then restart it.</p></main></html>`

export interface Dashboard {
  /** Answers 404 with the dashboard, which shows its "page not found" view. */
  sendUnknownPage(reply: FastifyReply): FastifyReply
}

/** Serves the built dashboard. It needs no token: it holds no data, and asks the API for everything. */
export function addDashboard(server: FastifyInstance): Dashboard {
  // Read at once and kept, so that a new build under a running server does not mix two versions.
  let files: ReadonlyMap<string, Buffer> | null = null
  const loadFiles = (): ReadonlyMap<string, Buffer> => {
    files ??= readFiles(packagePath('dist/dashboard'))
    return files
  }
  const sendDocument = (reply: FastifyReply): FastifyReply =>
    sendFile(reply.header('cache-control', 'no-cache'), '.html', loadFiles().get('index.html') ?? NOT_BUILT)
  for (const path of DASHBOARD_PATHS) server.get(path, async (_request, reply) => sendDocument(reply))
  server.get(ASSETS_PATH, async (request, reply) => {
    const { name } = request.params as { readonly name: string }
    const file = loadFiles().get(`assets/${name}`)
    if (file === undefined) return reply.callNotFound()
    reply.header('cache-control', 'public, max-age=31536000, immutable')
    return sendFile(reply, extname(name), file)
  })
  return { sendUnknownPage: (reply) => sendDocument(reply.code(404)) }
}

// What programs call; a mistake there is answered as everywhere in the API.
const FOR_PROGRAMS = /^\/(api|mcp|assets)(\/|\?|$)/

/** Whether a person typed the address or followed a link to it: a browser asks for a document. */
export function asksForPage({ method, url, headers }: FastifyRequest): boolean {
  return isReadMethod(method) && /(^|,)\s*text\/html\b/i.test(headers.accept ?? '') && !FOR_PROGRAMS.test(url)
}

function sendFile(reply: FastifyReply, kind: string, content: Buffer | string): FastifyReply {
  return reply
    .headers(HEADERS)
    .type(CONTENT_TYPES[kind] ?? 'application/octet-stream')
    .send(content)
}

function readFiles(folder: string): ReadonlyMap<string, Buffer> {
  const read = (below: string): readonly (readonly [string, Buffer])[] =>
    readdirSync(join(folder, below), { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => [join(below, entry.name), readFileSync(join(folder, below, entry.name))] as const)
  try {
    return new Map([...read(''), ...read('assets')])
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Map()
    throw error
  }
}
