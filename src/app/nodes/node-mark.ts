import { createHmac, timingSafeEqual } from 'node:crypto'
import { sha256Hex } from '../../base/sha256.js'

/** Header of a request that one node forwards to another. */
export const NODE_MARK = 'x-phaselock-node'
/** The session cookie of a forwarded request: its name has the port of the node that got it first. */
export const NODE_SESSION = 'x-phaselock-session'

const MARK = /^(node-[0-9a-f]{12}) (\d{13}) ([0-9a-f]{64})$/
const AGE_MS_MAX = 60_000

/** What a mark is valid for. The request carries the caller's own token, which the other node verifies again. */
export interface MarkedRequest {
  readonly method: string
  readonly url: string
  readonly host: string
  readonly authorization: string
  readonly session: string
  /** The node that is asked. */
  readonly to: string
}

/** Marks a request as forwarded by this node, so that it is not forwarded again and its Host is believed. */
export function makeNodeMark(
  request: MarkedRequest,
  by: { readonly secret: string; readonly from: string; readonly now: number },
): string {
  const { secret, from, now } = by
  return `${from} ${now} ${computeMac(secret, request, `${from} ${now}`)}`
}

/** Whether a node with one of the secrets made the mark for this request within the last minute. */
export function isNodeMark(
  mark: string,
  request: MarkedRequest,
  known: { readonly secrets: readonly string[]; readonly now: number },
): boolean {
  const match = MARK.exec(mark)
  if (match === null) return false
  const [, from = '', at = '', mac = ''] = match
  if (Math.abs(known.now - Number(at)) > AGE_MS_MAX) return false
  const given = Buffer.from(mac, 'hex')
  return known.secrets.some((secret) =>
    timingSafeEqual(given, Buffer.from(computeMac(secret, request, `${from} ${at}`), 'hex')),
  )
}

function computeMac(secret: string, request: MarkedRequest, made: string): string {
  const key = createHmac('sha256', secret).update('phaselock node to node').digest()
  const { method, url, host, authorization, session, to } = request
  const said = [made, to, method, url, host, sha256Hex(authorization), sha256Hex(session)]
  return createHmac('sha256', key).update(JSON.stringify(said)).digest('hex')
}
