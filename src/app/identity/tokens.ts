import { randomBytes } from 'node:crypto'
import { sha256Hex } from '../../base/sha256.js'
import type { Bearer, ParticipantBearer, ReviewBearer } from '../../core/identity/admit.js'
import { type Claims, isUnexpired, readClaimedType, type SigningKey, signToken, verifyToken } from './jwt.js'

const ISSUER = 'phaselock'
const AUDIENCE = 'phaselock:agent'
const PHASE_TYPE = 'phase+jwt'
const AGENT_TYPE = 'agent+jwt'
const REVIEW_TYPE = 'review+jwt'
const PARTICIPANT_TYPE = 'participant+jwt'
const TYPES: readonly (string | null)[] = [PHASE_TYPE, AGENT_TYPE, REVIEW_TYPE, PARTICIPANT_TYPE]
const SECRET_BYTES_MIN = 32
const TOOL_LIST_CHARS_MAX = 3000
const VERIFIED_MAX = 5000

interface PhaseGrant {
  readonly agentId: string
  readonly taskId: string
  readonly phase: string
  readonly allowedTools: readonly string[]
  readonly epoch: number
  readonly contract: string
  readonly expirySeconds: number
}

export interface MintedToken {
  readonly token: string
  readonly expiresAt: number
}

interface VerifiedToken {
  readonly token: string
  readonly claims: Claims
  readonly bearer: AnyBearer
}

/** The bearer of one of our tokens. */
type AnyBearer = Bearer | ParticipantBearer

/** A secret that is too short is refused at start. */
export class WeakSecret extends Error {
  override readonly name = 'WeakSecret'
}

/** Issues and verifies phase, agent, review and participant tokens. The first key signs; the others still verify, so that a secret can be rotated. */
export class Tokens {
  #keys: readonly SigningKey[]
  /** Keyed by signature, which is short; the whole token is compared. */
  readonly #verified = new Map<string, VerifiedToken>()

  constructor(secrets: readonly string[]) {
    this.#keys = makeKeys(secrets)
  }

  get kid(): string {
    return this.#keys[0]?.kid ?? ''
  }

  rotate(secrets: readonly string[]): void {
    this.#keys = makeKeys(secrets)
    this.#verified.clear()
  }

  mintPhaseToken(grant: PhaseGrant, now: number): MintedToken {
    const exp = Math.floor(now / 1000) + grant.expirySeconds
    const token = this.#sign(PHASE_TYPE, now, {
      sub: grant.agentId,
      task_id: grant.taskId,
      phase: grant.phase,
      allowed_tools: boundToolList(grant.allowedTools),
      epoch: grant.epoch,
      contract: grant.contract,
      exp,
    })
    return { token, expiresAt: exp * 1000 }
  }

  mintAgentToken(
    agent: { readonly id: string; readonly instance: string; readonly expiresAt: number },
    now: number,
  ): MintedToken {
    const exp = Math.floor(agent.expiresAt / 1000)
    return {
      token: this.#sign(AGENT_TYPE, now, { sub: agent.id, instance: agent.instance, exp }),
      expiresAt: exp * 1000,
    }
  }

  reviewToken(grant: Omit<ReviewBearer, 'kind'> & { readonly expiresAt: number }, now: number): MintedToken {
    const exp = Math.floor(grant.expiresAt / 1000)
    const token = this.#sign(REVIEW_TYPE, now, {
      sub: grant.reviewer,
      task_id: grant.taskId,
      phase: grant.phase,
      visit: grant.visit,
      contract: grant.contract,
      grant: grant.grant,
      exp,
    })
    return { token, expiresAt: exp * 1000 }
  }

  mintParticipantToken(
    seat: Omit<ParticipantBearer, 'kind'> & { readonly expiresAt: number },
    now: number,
  ): MintedToken {
    const exp = Math.floor(seat.expiresAt / 1000)
    const token = this.#sign(PARTICIPANT_TYPE, now, { sub: seat.agentId, run_id: seat.runId, exp })
    return { token, expiresAt: exp * 1000 }
  }

  /** The bearer of the token; null when it is not ours, altered, expired or signed with a removed key. */
  bearer(token: string, now: number): AnyBearer | null {
    const signature = token.slice(token.lastIndexOf('.') + 1)
    const cached = this.#verified.get(signature)
    if (cached?.token === token) return isUnexpired(cached.claims, now) ? cached.bearer : null
    const typ = readClaimedType(token)
    if (typ === null || !TYPES.includes(typ)) return null
    const result = verifyToken(token, this.#keys, { typ, issuer: ISSUER, audience: AUDIENCE, now })
    if (!result.ok) return null
    const bearer = parseBearer(typ, result.claims)
    if (bearer === null) return null
    if (this.#verified.size >= VERIFIED_MAX) this.#verified.delete(this.#verified.keys().next().value ?? '')
    this.#verified.set(signature, { token, claims: result.claims, bearer })
    return bearer
  }

  #sign(typ: string, now: number, claims: Claims): string {
    const key = this.#keys[0]
    if (key === undefined) throw new Error('there is no signing key')
    const iat = Math.floor(now / 1000)
    return signToken(key, typ, {
      iss: ISSUER,
      aud: AUDIENCE,
      ...claims,
      jti: randomBytes(12).toString('base64url'),
      iat,
    })
  }
}

// The list is informational and decides nothing; a long one must not make the token too long to accept.
function boundToolList(tools: readonly string[]): readonly string[] {
  let chars = 0
  return tools.filter((tool) => {
    chars += tool.length + 3
    return chars <= TOOL_LIST_CHARS_MAX
  })
}

function parseBearer(typ: string, claims: Claims): AnyBearer | null {
  const { sub, instance, task_id: taskId, phase, epoch, contract } = claims
  if (typeof sub !== 'string' || sub === '') return null
  if (typ === AGENT_TYPE)
    return typeof instance === 'string' && instance !== '' ? { kind: 'agent', agentId: sub, instance } : null
  if (typ === REVIEW_TYPE) return reviewBearerOf(sub, claims)
  if (typ === PARTICIPANT_TYPE) {
    const { run_id: runId } = claims
    return typeof runId === 'string' && runId !== '' ? { kind: 'participant', runId, agentId: sub } : null
  }
  const isPhase =
    typeof taskId === 'string' &&
    typeof phase === 'string' &&
    typeof epoch === 'number' &&
    Number.isSafeInteger(epoch) &&
    typeof contract === 'string'
  return isPhase && Array.isArray(claims.allowed_tools)
    ? { kind: 'phase', agentId: sub, taskId, phase, epoch, contract }
    : null
}

function reviewBearerOf(reviewer: string, claims: Claims): ReviewBearer | null {
  const { task_id: taskId, phase, visit, contract, grant } = claims
  if (typeof visit !== 'number' || !Number.isSafeInteger(visit)) return null
  if (typeof taskId !== 'string' || typeof phase !== 'string' || typeof contract !== 'string') return null
  return typeof grant === 'string' && grant !== ''
    ? { kind: 'review', reviewer, taskId, phase, visit, contract, grant }
    : null
}

function makeKeys(secrets: readonly string[]): readonly SigningKey[] {
  return secrets.map((secret) => {
    const bytes = Buffer.from(secret, 'utf8')
    if (bytes.length < SECRET_BYTES_MIN)
      throw new WeakSecret(`a signing secret must have at least ${SECRET_BYTES_MIN} bytes, one has ${bytes.length}`)
    return { kid: sha256Hex('phaselock kid', bytes).slice(0, 16), secret: bytes }
  })
}
