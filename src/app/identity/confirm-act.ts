import { hasCredential, listPasskeysOf } from '../../core/identity/operator-access.js'
import {
  findSensitiveAct,
  findTaskOfAct,
  isSensitiveId,
  needsConfirmation,
} from '../../core/identity/sensitive-acts.js'
import type { JsonObject } from '../../core/json.js'
import type { App } from '../app.js'
import type { ConfirmedAct } from '../ledger/confirmed-act.js'
import { ok, type Result, refuse } from '../result.js'
import { toIsoTime } from '../wire.js'
import { type Act, computeChallenge, makeStatement } from './confirmations.js'
import { formatActor, type OperatorPrincipal, type Principal, toCallerKind } from './identity.js'
import { makeSignOptions, verifyAssertion } from './passkeys.js'

/** A confirmation as it came with a call. */
export interface Given {
  readonly confirmation: JsonObject | undefined
  /** The origin under which the browser knows this server. */
  readonly origin: string
}

/**
 * Decides whether the act needs a confirmation, and verifies the one that was given. Null: it needs none and has none.
 * Operators with the role ci are not asked: they may do nothing that a person would confirm. (REQ-CONFIRM-1)
 */
export async function requireConfirmation(
  app: App,
  principal: Principal,
  act: Act,
  given: Given,
): Promise<Result<ConfirmedAct | null>> {
  const sensitive = findSensitiveAct(act.id, act.body)
  if (sensitive === null || principal.kind !== 'operator' || toCallerKind(principal) !== 'human') return ok(null)
  if (given.confirmation !== undefined) return verifyConfirmation(app, principal, act, given)
  const taskId = findTaskOfAct(sensitive, act.params)
  if (!needsConfirmation(app.operators.confirm, await isShellInvolved(app, taskId))) return ok(null)
  return refuseUnconfirmed(app, principal, act)
}

// An agent bound by hooks can read the token file of a server under its account. Nothing proves that it no longer runs,
// so it counts for every task that it ever held, and for every task as long as it may run. (REQ-CONFIRM-1)
async function isShellInvolved(app: App, taskId: string | null): Promise<boolean> {
  const { boundByHooks } = app.ledger.registry.access
  if (boundByHooks.size === 0) return false
  if (taskId === null) return true
  const state = await app.ledger.peek(taskId)
  if (state === null) return false
  const wasHeld = [...state.holders, state.reservedFor ?? ''].some((agentId) => boundByHooks.has(agentId))
  return wasHeld || app.operators.shells.findLive(app.ledger.registry) !== null
}

/** Refuses an act without its confirmation, and says how to give one. */
export function refuseUnconfirmed(app: App, { name }: OperatorPrincipal, act: Act) {
  const { access } = app.ledger.registry
  const methods = [
    ...(listPasskeysOf(access, name).length > 0 ? ['passkey'] : []),
    ...(access.passphrases.has(name) ? ['passphrase'] : []),
  ]
  return refuse(
    'confirmation_required',
    `Operator ${name} has to confirm this with a passkey or passphrase; the token alone is not enough.`,
    {
      confirm: { act: act.id, methods },
      ...(hasCredential(access, name) ? {} : { remedy: NO_CREDENTIAL }),
    },
  )
}

const NO_CREDENTIAL =
  'No passkey or passphrase is registered for this operator. Set one with `phaselock operator passphrase`, or register a passkey in the dashboard under Settings.'

/** Verifies that the operator confirmed exactly this act, now, once. */
export async function verifyConfirmation(
  app: App,
  principal: OperatorPrincipal,
  act: Act,
  given: Given,
): Promise<Result<ConfirmedAct>> {
  const confirmation = given.confirmation ?? {}
  return typeof confirmation.passphrase === 'string'
    ? verifyPassphrase(app, principal, act, confirmation.passphrase)
    : verifySigned(app, principal, act, { confirmation, origin: given.origin })
}

async function verifyPassphrase(
  app: App,
  principal: OperatorPrincipal,
  act: Act,
  passphrase: string,
): Promise<Result<ConfirmedAct>> {
  const { name } = principal
  const wait = app.operators.passphrases.findWait(name)
  if (wait > 0) return refuse('rate_limited', `Too many wrong passphrases; wait ${wait} s.`, { retry_after: wait })
  const verifier = app.ledger.registry.access.passphrases.get(name)
  if (!(await app.operators.passphrases.verify(name, passphrase, verifier)))
    return refuse('confirmation_invalid', `This is not the passphrase of operator ${name}.`)
  const { nonce: _, ...statement } = makeStatement(act, name, '')
  return ok({ actor: formatActor(principal), confirmation: { method: 'passphrase', ...statement } })
}

async function verifySigned(
  app: App,
  principal: OperatorPrincipal,
  act: Act,
  given: { readonly confirmation: JsonObject; readonly origin: string },
): Promise<Result<ConfirmedAct>> {
  const { name } = principal
  const pending = app.operators.confirmations.take(String(given.confirmation.id))
  if (pending === null || pending.statement.operator !== name)
    return refuse('confirmation_invalid', 'The confirmation is older than five minutes, was used, or is not yours.')
  // The act that is made now, not the one that was announced, is what the signature has to cover.
  const challenge = computeChallenge(makeStatement(act, name, pending.statement.nonce))
  if (challenge !== computeChallenge(pending.statement))
    return refuse('confirmation_invalid', 'The confirmation is for another act.')
  const signed = { operator: name, origin: given.origin, challenge }
  const assertion = await verifyAssertion(app, signed, (given.confirmation.assertion ?? {}) as JsonObject)
  if (assertion === null)
    return refuse('confirmation_invalid', 'The signature is not one of your passkeys over this act.')
  const confirmation = { method: 'passkey', ...pending.statement, ...assertion }
  return ok({ actor: formatActor(principal), confirmation })
}

/** Makes the challenge that a passkey signs to confirm an act. */
export function createConfirmation(
  app: App,
  principal: OperatorPrincipal,
  act: Act,
  origin: string,
): Result<JsonObject> {
  if (!isSensitiveId(act.id) && !Object.hasOwn(OWN_TEXTS, act.id))
    return refuse('invalid_request', `act: ${act.id} takes no confirmation.`)
  const pending = app.operators.confirmations.add(act, principal.name)
  const challenge = computeChallenge(pending.statement)
  const options = makeSignOptions(app, principal.name, { challenge, origin })
  if (!options.ok) return options
  const text = findSensitiveAct(act.id, act.body)?.describe(act) ?? OWN_TEXTS[act.id] ?? ''
  return ok({
    id: pending.id,
    challenge,
    options: options.value,
    text: app.redact(text),
    expires_at: toIsoTime(pending.expiresAt),
  })
}

// Acts that always need a confirmation, whatever the server's setting.
const OWN_TEXTS: Readonly<Partial<Record<Act['id'], string>>> = {
  addPasskey: 'Register another passkey.',
  revokePasskey: 'Revoke a passkey.',
  setPassphrase: 'Replace your passphrase.',
}
