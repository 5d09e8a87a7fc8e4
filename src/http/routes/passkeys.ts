import {
  createConfirmation,
  type Given,
  refuseUnconfirmed,
  verifyConfirmation,
} from '../../app/identity/confirm-act.js'
import type { Act } from '../../app/identity/confirmations.js'
import { addPasskey, listPasskeys, makePasskeyOptions, revokePasskey } from '../../app/identity/passkeys.js'
import { type ConfirmedAct, runConfirmed } from '../../app/ledger/confirmed-act.js'
import { ok, type Result, refuse } from '../../app/result.js'
import { hasCredential } from '../../core/identity/operator-access.js'
import { type CallId, PERMISSIONS } from '../../core/identity/permissions.js'
import type { JsonObject } from '../../core/json.js'
import { FLAG, makeList, makeObject, TRUE } from '../answers/schema-parts.js'
import { ADDED_PASSKEY, CONFIRMATION_CHALLENGE, PASSKEY, PASSKEY_OPTIONS, REVOKED } from '../answers/session-answers.js'
import { CONFIRMATION, FIELD, shape } from '../fields.js'
import { type Call, type Route, requireOperatorPrincipal } from '../route.js'

const PASSPHRASE_CHARS_MIN = 12
const PASSPHRASE_CHARS_MAX = 1000
const RESPONSE_TEXT_MAX = 65_536

/** What an operator confirms decisions with. */
export const PASSKEY_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/passkeys',
    id: 'listPasskeys',
    summary: 'Your passkeys, and whether you have a passphrase',
    answer: '`{passkeys, has_passphrase}`',
    response: makeObject({ passkeys: makeList(PASSKEY), has_passphrase: FLAG }),
    handle: async (call) => ok(listPasskeys(call.app, requireOperatorPrincipal(call).name)),
  },
  {
    method: 'POST',
    path: '/passkeys/options',
    id: 'passkeyOptions',
    summary: 'The options with which a browser makes a new passkey',
    body: shape({}),
    answer: '`{options}`: PublicKeyCredentialCreationOptionsJSON',
    response: PASSKEY_OPTIONS,
    isRepeatable: true,
    handle: async (call) => {
      const principal = requireOperatorPrincipal(call)
      return findFirstPasskeyProblem(call) ?? makePasskeyOptions(call.app, principal.name, call.origin)
    },
  },
  {
    method: 'POST',
    path: '/passkeys',
    id: 'addPasskey',
    summary:
      'Register the passkey that a browser made: the first in a session from the code of the first start, each further one with a confirmation',
    success: 201,
    body: shape(
      { name: { ...FIELD.title, maxLength: 100 }, response: { type: 'object' }, confirmation: CONFIRMATION },
      ['name', 'response'],
    ),
    answer: '`{id, name, created_at}`',
    response: ADDED_PASSKEY,
    handle: async (call) => {
      const { name: operator } = requireOperatorPrincipal(call)
      const forbidden = findFirstPasskeyProblem(call)
      if (forbidden !== null) return forbidden
      if (JSON.stringify(call.body.response).length > RESPONSE_TEXT_MAX)
        return refuse('invalid_request', `response: longer than ${RESPONSE_TEXT_MAX} characters.`)
      const asked = { operator, label: call.body.name as string, response: call.body.response as JsonObject }
      return runOwnAct(call, 'addPasskey', () => addPasskey(call.app, { ...asked, origin: call.origin }))
    },
  },
  {
    method: 'POST',
    path: '/passkeys/:id/revoke',
    id: 'revokePasskey',
    summary: 'Revoke one of your passkeys, with a confirmation',
    body: shape({ confirmation: CONFIRMATION }),
    answer: '`{id, revoked: true}`',
    response: REVOKED,
    handle: async (call) => {
      const { name } = requireOperatorPrincipal(call)
      return runOwnAct(call, 'revokePasskey', () => revokePasskey(call.app, name, call.params.id ?? ''))
    },
  },
  {
    method: 'POST',
    path: '/passphrase',
    id: 'setPassphrase',
    summary: 'Set or replace your passphrase; replacing needs a confirmation',
    body: shape(
      {
        passphrase: { type: 'string', minLength: PASSPHRASE_CHARS_MIN, maxLength: PASSPHRASE_CHARS_MAX },
        confirmation: CONFIRMATION,
      },
      ['passphrase'],
    ),
    answer: '`{has_passphrase: true}`',
    response: makeObject({ has_passphrase: TRUE }),
    handle: async (call) =>
      findFirstPassphraseProblem(call) ?? runOwnAct(call, 'setPassphrase', () => setPassphrase(call)),
  },
  {
    method: 'POST',
    path: '/confirmations',
    id: 'createConfirmation',
    summary: 'The challenge with which a passkey confirms one act; valid once, for five minutes',
    success: 201,
    body: shape(
      {
        act: { enum: Object.keys(PERMISSIONS), description: 'The operationId of the call.' },
        params: {
          type: 'object',
          maxProperties: 5,
          additionalProperties: { type: 'string', maxLength: 128 },
          description: 'The parameters in its path.',
        },
        body: { type: 'object', description: 'Its body, without `confirmation`.' },
      },
      ['act'],
    ),
    answer: '`{id, challenge, options, text, expires_at}`; `options`: PublicKeyCredentialRequestOptionsJSON',
    response: CONFIRMATION_CHALLENGE,
    isRepeatable: true,
    handle: async (call) => {
      const { act, params, body } = call.body as { act: CallId; params?: Record<string, string>; body?: JsonObject }
      const asked = { id: act, params: params ?? {}, body: body ?? {} }
      return createConfirmation(call.app, requireOperatorPrincipal(call), asked, call.origin)
    },
  },
]

// Whoever holds only the token must not become able to confirm with it. (REQ-CONFIRM-4)
function findFirstPasskeyProblem(call: Call): Result<never> | null {
  const { name, session } = requireOperatorPrincipal(call)
  if (hasCredential(call.app.ledger.registry.access, name) || session?.cameFrom === 'first_code') return null
  return refuse('not_permitted', 'A first passkey is registered in a session from the link of the first start.', {
    remedy: FIRST_CODE,
  })
}

// Before an agent with a shell was ever here, whoever has the token file is the operator, unless every act is confirmed.
function findFirstPassphraseProblem(call: Call): Result<never> | null {
  const { name, session } = requireOperatorPrincipal(call)
  const { access } = call.app.ledger.registry
  if (hasCredential(access, name) || session?.cameFrom === 'first_code') return null
  if (call.app.operators.confirm !== 'always' && access.boundByHooks.size === 0) return null
  return refuse('not_permitted', 'The token alone cannot set a first passphrase here.', { remedy: FIRST_CODE })
}

const FIRST_CODE =
  'Stop the server, start it with `phaselock serve --first-code`, and use the link that it prints: in the browser, or with `phaselock operator passphrase --code CODE`.'

// These change with what an operator confirms, so they always need a confirmation, except for the first credential.
async function runOwnAct(call: Call, id: CallId, work: () => Promise<Result<JsonObject>>): Promise<Result<JsonObject>> {
  const principal = requireOperatorPrincipal(call)
  const { confirmation, ...body } = call.body
  const act: Act = { id, params: call.params, body }
  if (!hasCredential(call.app.ledger.registry.access, principal.name)) return work()
  if (confirmation === undefined) return refuseUnconfirmed(call.app, principal, act)
  const given: Given = { confirmation: confirmation as JsonObject, origin: call.origin }
  const confirmed: Result<ConfirmedAct> = await verifyConfirmation(call.app, principal, act, given)
  return confirmed.ok ? runConfirmed(confirmed.value, work) : confirmed
}

async function setPassphrase(call: Call): Promise<Result<JsonObject>> {
  const { app } = call
  const { name: operator } = requireOperatorPrincipal(call)
  await app.operators.passphrases.set(operator, call.body.passphrase as string, async (verifier) => {
    const by = { now: app.now(), actor: `operator:${operator}` }
    return (await app.ledger.record({ type: 'passphrase_set', operator, verifier }, by)) === null
  })
  return ok({ has_passphrase: true })
}
