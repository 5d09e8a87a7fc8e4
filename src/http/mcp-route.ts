import { Readable } from 'node:stream'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { noteMcpAgent } from '../app/agents/agent-entrances.js'
import { formatActor, type Principal, toCallerKind } from '../app/identity/identity.js'
import type { Orchestrator } from '../app/orchestrator.js'
import { refuse } from '../app/result.js'
import { mayCall } from '../core/identity/permissions.js'
import type { RecordRefusal } from '../mcp/call-tool.js'
import type { McpBearer } from '../mcp/caller.js'
import type { McpEntrance } from '../mcp/entrance.js'
import type { ServerParts } from '../mcp/server.js'
import type { Gatekeeper } from './gatekeeper.js'
import { isReadMethod } from './is-read-method.js'
import { buildProblemDocument, getStatus } from './problem.js'
import { isFault, toErrorProblem } from './problem-of-error.js'

const PATH = '/mcp'
const FINISH_MS_MAX = 9_000

/** MCP at `/mcp`, behind the same Host and Origin checks, tokens, rate limits and body limits as everything else. */
export function addMcp(
  server: FastifyInstance,
  parts: { readonly app: Orchestrator; readonly gate: Gatekeeper } & Pick<ServerParts, 'onFault' | 'extend'>,
): void {
  const { app, gate, onFault, extend } = parts
  // Loaded by the first request: it would double the start time, and many servers never need it.
  let loaded: Promise<McpEntrance> | null = null
  const load = async (): Promise<McpEntrance> => {
    const { McpEntrance: Entrance } = await import('../mcp/entrance.js')
    const record: RecordRefusal = (problem, what, bearer) =>
      gate.record(problem, { method: 'MCP', path: `${PATH}#${what}` }, formatActor(toPrincipal(bearer)))
    return new Entrance({ app, onFault, record, ...(extend === undefined ? {} : { extend }) })
  }
  server.addHook('preClose', (done) => {
    // Not awaited here, so that everything else that must end with the server can begin to.
    loaded?.then((mcp) => mcp.finish(FINISH_MS_MAX)).catch(onFault)
    done()
  })
  server.route({
    method: ['GET', 'POST', 'DELETE'],
    url: PATH,
    errorHandler: (error, request, reply) => answerError(error, request, { app, reply, onFault }),
    handler: async (request, reply) => {
      const principal = gate.identify(request)
      if ('code' in principal) {
        if (principal.code === 'token_missing') reply.header('www-authenticate', 'Bearer')
        return gate.refuse(request, reply, principal)
      }
      if (principal.kind === 'operator' || !mayCall('mcp', toCallerKind(principal)))
        return gate.refuse(request, reply, ONLY_AGENTS, principal)
      if (await gate.forward(request, reply, principal)) return reply
      if (principal.kind === 'agent') noteMcpAgent(app, principal.bearer.agentId)
      loaded ??= load()
      const answer = await (await loaded).answer({
        request: toWebRequest(request, reply),
        body: request.method === 'POST' ? (request.body ?? undefined) : undefined,
        bearer: principal.bearer,
      })
      if ('code' in answer) return gate.refuse(request, reply, answer, principal)
      return request.method === 'HEAD' ? sendHead(reply, answer) : reply.send(addOpeningLine(answer))
    },
  })
}

async function sendHead(reply: FastifyReply, answer: Response): Promise<FastifyReply> {
  await answer.body?.cancel()
  return reply.code(answer.status).headers(Object.fromEntries(answer.headers)).send(Readable.from([]))
}

// Headers are sent with the first bytes: without a first line, a listening client would wait for them until the first
// heartbeat, a quarter of a minute later.
function addOpeningLine(answer: Response): Response {
  if (answer.body === null || answer.headers.get('content-type') !== 'text/event-stream') return answer
  const withFirstLine = new TransformStream<Uint8Array, Uint8Array>({
    start: (stream) => stream.enqueue(new TextEncoder().encode(': open\n\n')),
  })
  return new Response(answer.body.pipeThrough(withFirstLine), answer)
}

const ONLY_AGENTS = refuse('not_permitted', 'MCP is for agents; use an agent, phase or review token.').problem

function toPrincipal(bearer: McpBearer): Principal {
  if (bearer.kind === 'participant') return { kind: 'participant', bearer }
  return bearer.kind === 'review' ? { kind: 'reviewer', bearer } : { kind: 'agent', bearer }
}

const PASSED_ON = /^(accept|content-type|last-event-id|mcp-[a-z0-9-]+)$/

// The body and the token have been checked already: neither is passed on. Notices when the client disconnects.
function toWebRequest(request: FastifyRequest, reply: FastifyReply): Request {
  const gone = new AbortController()
  const headers = Object.entries(request.headers).flatMap(([name, value]): [string, string][] =>
    value === undefined || !PASSED_ON.test(name) ? [] : [[name, String(value)]],
  )
  const method = isReadMethod(request.method) ? 'GET' : request.method
  const passedOn = new Request(`http://localhost${PATH}`, { method, headers, signal: gone.signal })
  // A Request's own signal follows ours only while the Request lives, so keep it until the client has disconnected.
  reply.raw.once('close', () => endOf(passedOn, gone))
  return passedOn
}

function endOf(passedOn: Request, gone: AbortController): void {
  gone.abort(new Error(`the client of ${passedOn.method} ${passedOn.url} has gone`))
}

const PARSE_ERROR = -32700
const INTERNAL_ERROR = -32603

// Unreadable requests are answered in the format of the protocol, with the status of the problem.
function answerError(
  error: FastifyError,
  request: FastifyRequest,
  to: { readonly app: Orchestrator; readonly reply: FastifyReply; readonly onFault: (error: unknown) => void },
): void {
  const problem = toErrorProblem(error, request, to.app)
  if (isFault(problem)) to.onFault(error)
  const status = getStatus(problem.code)
  const code = status < 500 ? PARSE_ERROR : INTERNAL_ERROR
  to.reply
    .code(status)
    .type('application/json')
    .send(
      JSON.stringify({
        jsonrpc: '2.0',
        id: null,
        error: { code, message: problem.detail, data: buildProblemDocument(problem) },
      }),
    )
}
