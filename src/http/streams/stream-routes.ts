import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { refuseUnknownRun } from '../../app/councils/operate-councils.js'
import { formatCaller, type Principal } from '../../app/identity/identity.js'
import type { Orchestrator } from '../../app/orchestrator.js'
import { type Problem, refuse } from '../../app/result.js'
import { findAccessProblem } from '../access.js'
import type { Gatekeeper } from '../gatekeeper.js'
import { COORDINATION_STREAM, EVENTS } from '../routes/all.js'
import { streamRun } from './coordination-stream.js'
import { type EventStreams, streamEvents, streamScope } from './event-streams.js'

interface Parts {
  readonly app: Orchestrator
  readonly gate: Gatekeeper
  readonly streams: EventStreams
  readonly prefix: string
  readonly scheme: string
}

/** The endpoints that answer with a stream, and values known only once the server listens. */
export function addStreams(server: FastifyInstance, parts: Parts): void {
  const { app, gate, streams, prefix } = parts
  server.get(`${prefix}${EVENTS.path}`, async (request, reply) => {
    const principal = gate.identify(request, { allowsCookie: true })
    if ('code' in principal) return gate.refuse(request, reply, principal)
    const forbidden = findAccessProblem(EVENTS.id, principal)
    if (forbidden !== null) return gate.refuse(request, reply, forbidden, principal)
    if (await gate.forward(request, reply, principal)) return reply
    const seen = await streamScope(app, principal)
    if (!seen.ok) return gate.refuse(request, reply, seen.problem, principal)
    const caller = formatStreamOwner(principal)
    if (!streams.hasRoom(caller)) return gate.refuse(request, reply, refuseTooManyStreams(), principal)
    if (request.method === 'HEAD') return sendStreamHead(reply)
    endWithSession(app, principal, reply)
    return streamEvents({ app, streams, scope: seen.value, caller }, request, reply)
  })
  server.get(`${prefix}${COORDINATION_STREAM.path}`, (request, reply) => followRun(parts, request, reply))
  // A participant that waits for its turn would delay the shutdown.
  server.addHook('preClose', (done) => {
    app.coordinations.endWaits()
    done()
  })
  server.addHook('onListen', (done) => {
    const address = server.server.address()
    if (typeof address === 'object' && address !== null)
      app.coordinations.setServerUrl(`${parts.scheme}://${formatHost(address)}:${address.port}`)
    done()
  })
}

async function followRun(
  { app, gate, streams }: Parts,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const principal = gate.identify(request, { allowsCookie: true })
  if ('code' in principal) return gate.refuse(request, reply, principal)
  const forbidden = findAccessProblem(COORDINATION_STREAM.id, principal)
  if (forbidden !== null) return gate.refuse(request, reply, forbidden, principal)
  if (await gate.forward(request, reply, principal)) return reply
  const { id } = request.params as { readonly id: string }
  if ((await app.coordinations.read(id)) === null)
    return gate.refuse(request, reply, refuseUnknownRun(id).problem, principal)
  const seen = await streamScope(app, principal)
  if (!seen.ok) return gate.refuse(request, reply, seen.problem, principal)
  const caller = formatStreamOwner(principal)
  if (!streams.hasRoom(caller)) return gate.refuse(request, reply, refuseTooManyStreams(), principal)
  if (request.method === 'HEAD') return sendStreamHead(reply)
  endWithSession(app, principal, reply)
  return streamRun({ app, streams, caller, id, endsWith: seen.value.endsWith }, request, reply)
}

// The headers of a stream; its events would have no end.
function sendStreamHead(reply: FastifyReply): FastifyReply {
  return reply.type('text/event-stream').send(Readable.from([]))
}

// Each session of an operator may have its own streams.
function formatStreamOwner(principal: Principal): string {
  const session = principal.kind === 'operator' ? principal.session : undefined
  return session === undefined ? formatCaller(principal) : `session:${session.id}`
}

function endWithSession(app: Orchestrator, principal: Principal, { raw }: FastifyReply): void {
  const session = principal.kind === 'operator' ? principal.session : undefined
  if (session === undefined) return
  const timer = setTimeout(() => raw.end(), session.expiresAt - app.now())
  raw.once('close', () => clearTimeout(timer))
}

// Programs that Phaselock starts run on the same machine.
function formatHost({ address, family }: AddressInfo): string {
  if (address === '0.0.0.0' || address === '::') return '127.0.0.1'
  return family === 'IPv6' ? `[${address}]` : address
}

function refuseTooManyStreams(): Problem {
  return refuse('rate_limited', 'Too many open event streams; close one first.', { retry_after: 5 }).problem
}
