import { once } from 'node:events'
import { PassThrough, Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { exportEvents } from '../app/ledger/export-events.js'
import type { Orchestrator } from '../app/orchestrator.js'
import { refuse } from '../app/result.js'
import { findAccessProblem } from './access.js'
import type { Gatekeeper } from './gatekeeper.js'
import { AUDIT_EXPORT, readAuditFilter } from './routes/audit.js'
import { requestValidator } from './validate-request.js'

/** Exports read the whole ledger. */
const EXPORTS_MAX = 2

/** The export of the ledger as a file. */
export function addExport(
  server: FastifyInstance,
  { app, gate, prefix }: { readonly app: Orchestrator; readonly gate: Gatekeeper; readonly prefix: string },
): void {
  const validate = requestValidator(AUDIT_EXPORT)
  let running = 0
  server.get(`${prefix}${AUDIT_EXPORT.path}`, async (request, reply) => {
    const principal = gate.identify(request, { allowsCookie: true })
    if ('code' in principal) return gate.refuse(request, reply, principal)
    const problem = findAccessProblem(AUDIT_EXPORT.id, principal) ?? validate(request)
    if (problem !== null) return gate.refuse(request, reply, problem, principal)
    if (running >= EXPORTS_MAX)
      return gate.refuse(
        request,
        reply,
        refuse('rate_limited', 'Other exports are running; try again.').problem,
        principal,
      )
    reply.type('application/x-ndjson').header('content-disposition', 'attachment; filename="phaselock-ledger.jsonl"')
    if (request.method === 'HEAD') return reply.send(Readable.from([]))
    running += 1
    const out = new PassThrough()
    const filter = readAuditFilter(request.query as Record<string, string>)
    // A ledger that fails verification ends the answer without its last line, which has the signature.
    exportEvents(app, filter, (line) => writeLine(out, line))
      .then(
        () => out.end(),
        (error: unknown) => out.destroy(error instanceof Error ? error : new Error(String(error))),
      )
      .finally(() => {
        running -= 1
      })
    return reply.send(out)
  })
}

async function writeLine(out: PassThrough, line: string): Promise<void> {
  if (out.destroyed) throw new Error('the client has gone')
  if (out.write(`${line}\n`)) return
  // Both end the wait: room, or a client that has gone.
  await Promise.race([once(out, 'drain'), once(out, 'close')])
}
