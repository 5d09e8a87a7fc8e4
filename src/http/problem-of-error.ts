import type { FastifyRequest } from 'fastify'
import { type App, StoreUnavailable, TreeUnreadable } from '../app/app.js'
import { findFileProblem } from '../app/file-problem.js'
import { WrongNode } from '../app/ledger/ledger-errors.js'
import { refuseWrongNode } from '../app/nodes/find-node.js'
import { type Problem, refuse, refuseUnreadable } from '../app/result.js'
import { BadBody } from './json-body.js'

type Folders = Pick<App, 'stateDir' | 'keptDir'>

const NEVER_SHOWN = 'Internal error; the server log has the details.'

/**
 * The problem document for anything thrown while a request was read or answered. Nothing a client sends causes a 500.
 */
export function toErrorProblem(error: unknown, request: FastifyRequest, app: Folders): Problem {
  if (error instanceof BadBody) return refuse('invalid_request', error.message).problem
  if (error instanceof StoreUnavailable)
    return refuse('store_unavailable', 'The ledger cannot be written now; the request was not acknowledged.').problem
  if (error instanceof WrongNode) return refuseWrongNode(error.stream, error.home).problem
  if (error instanceof TreeUnreadable) return refuseUnreadable(error).problem
  if (error instanceof RangeError && error.message.includes('cursor'))
    return refuse('invalid_request', `query.cursor: ${error.message}`).problem
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return refuse('payload_too_large', 'The body is too large.').problem
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE')
    return refuse(
      'unsupported_media_type',
      `The body must be application/json, not ${JSON.stringify((request.headers['content-type'] ?? 'nothing').slice(0, 100))}.`,
    ).problem
  if (status >= 400 && status < 500)
    return refuse(
      'invalid_request',
      error instanceof Error ? error.message.slice(0, 300) : 'The request cannot be read.',
    ).problem
  return findFileProblem(app, error) ?? refuse('internal_error', NEVER_SHOWN).problem
}

/** Whether the server log should have the details. */
export function isFault({ code }: Problem): boolean {
  return code === 'internal_error' || code === 'state_unreadable'
}
