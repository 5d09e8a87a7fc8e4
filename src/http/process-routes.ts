import { readFile } from 'node:fs/promises'
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Orchestrator } from '../app/orchestrator.js'
import { ReadinessCheck } from '../app/readiness.js'
import { refuse } from '../app/result.js'
import { PACKAGE_ROOT } from '../base/package-root.js'
import type { JsonObject } from '../core/json.js'
import { answerProblem, type Gatekeeper } from './gatekeeper.js'
import type { Metrics } from './metrics.js'
import { openApi } from './openapi.js'
import { renderDocsPage, renderErrorsPage, STYLE } from './pages.js'
import { DESCRIBED } from './routes/all.js'

const SCHEMAS = new Map([['agent_workflow.schema.json', new URL('schemas/agent_workflow.schema.json', PACKAGE_ROOT)]])

/** Routes without a token: health, metrics, the API description and the pages. None of them contains task texts. */
export function addProcessRoutes(
  server: FastifyInstance,
  parts: {
    readonly app: Orchestrator
    readonly gate: Gatekeeper
    readonly metrics: Metrics
    readonly prove: ((nonce: string) => string | null) | undefined
  },
): void {
  const { app, gate, metrics, prove } = parts
  let document: JsonObject | null = null
  const readiness = new ReadinessCheck(app)
  const health = async () => ({
    status: app.integrity() === 'broken' ? 'degraded' : 'ok',
    workflow_loaded: true,
    enforcement_mode: app.contractOf.enforcement.mode,
  })
  for (const prefix of ['', '/api/v1']) server.get(`${prefix}/health`, health)
  if (prove !== undefined) addProof(server, prove)
  server.get('/ready', async (_request, reply) => {
    if (gate.isStopping) return reply.code(503).send({ status: 'stopping' })
    if (app.integrity() === 'broken') return reply.code(503).send({ status: 'ledger_broken' })
    const found = await readiness.check()
    if (!found.isReady) return reply.code(503).send({ status: found.status })
    return reply.send({ status: 'ready' })
  })
  server.get('/metrics', async (_request, reply) =>
    reply.type('text/plain; version=0.0.4').send(await metrics.renderText()),
  )
  // Made when it is first asked for: few servers are.
  server.get('/api/v1/openapi.json', async () => {
    document ??= openApi(DESCRIBED)
    return document
  })
  server.get('/docs', async (_request, reply) => sendPage(reply, renderDocsPage(DESCRIBED)))
  server.get('/docs/errors', async (_request, reply) => sendPage(reply, renderErrorsPage()))
  server.get('/style.css', async (_request, reply) => reply.type('text/css; charset=utf-8').send(STYLE))
  server.get('/schemas/:name', async (request, reply) => {
    const file = SCHEMAS.get((request.params as { name: string }).name)
    if (file === undefined) return reply.callNotFound()
    return reply.type('application/schema+json').send(await readFile(file, 'utf8'))
  })
}

// Without a token: a client calls this before it sends its own.
function addProof(server: FastifyInstance, prove: (nonce: string) => string | null): void {
  server.get('/health/proof', async (request, reply) => {
    const { nonce } = request.query as { nonce?: unknown }
    const proof = typeof nonce === 'string' ? prove(nonce) : null
    if (proof !== null) return reply.send({ proof })
    return answerProblem(reply, refuse('invalid_request', 'query.nonce: must be 64 hexadecimal digits.').problem)
  })
}

const PAGE_HEADERS = {
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'content-security-policy':
    "default-src 'none'; style-src 'self'; img-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
} as const

function sendPage(reply: FastifyReply, html: string): FastifyReply {
  return reply.headers(PAGE_HEADERS).type('text/html; charset=utf-8').send(html)
}
