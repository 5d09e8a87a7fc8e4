import { CONFIRM_SETTINGS } from '../../core/identity/sensitive-acts.js'
import {
  ANY_OBJECT,
  allowNull,
  COUNT,
  chooseWord,
  FLAG,
  INTEGER,
  makeList,
  makeObject,
  nameObject,
  TEXT,
  TIME,
  TRUE,
} from './schema-parts.js'

const NAMED_OPERATOR = makeObject({ name: TEXT, role: allowNull(TEXT) })
const CAME_FROM = chooseWord('first_code', 'code', 'token')
const WORD = { type: 'string', const: 'public-key' }
const CREDENTIALS = makeList(makeObject({ id: TEXT, type: WORD, transports: makeList(TEXT) }))

export const LOGGED_IN = makeObject({ operator: NAMED_OPERATOR, csrf_token: TEXT, expires_at: TIME })
export const LOGIN_CODE = makeObject({ code: TEXT, expires_at: TIME, url: TEXT })

/** The session of the cookie. */
export const OWN_SESSION = nameObject('OwnSession', {
  session_id: TEXT,
  operator: NAMED_OPERATOR,
  csrf_token: TEXT,
  expires_at: TIME,
  came_from: CAME_FROM,
  confirm: chooseWord(...CONFIRM_SETTINGS),
  passkeys: COUNT,
  has_passphrase: FLAG,
  may_register_passkey: FLAG,
})

/** A session in a list. */
export const SESSION = nameObject('Session', {
  id: TEXT,
  operator: TEXT,
  came_from: CAME_FROM,
  created_at: TIME,
  last_used_at: TIME,
  expires_at: TIME,
  user_agent: TEXT,
  current: FLAG,
})

export const PASSKEY = nameObject('Passkey', {
  id: TEXT,
  name: TEXT,
  operator: TEXT,
  created_at: TIME,
  last_used_at: allowNull(TIME),
})
export const ADDED_PASSKEY = makeObject({ id: TEXT, name: TEXT, created_at: TIME })
export const REVOKED = makeObject({ id: TEXT, revoked: TRUE })

/** PublicKeyCredentialCreationOptionsJSON. */
export const PASSKEY_OPTIONS = makeObject({
  options: makeObject({
    rp: makeObject({ id: TEXT, name: TEXT }),
    user: makeObject({ id: TEXT, name: TEXT, displayName: TEXT }),
    challenge: TEXT,
    pubKeyCredParams: makeList(makeObject({ type: WORD, alg: INTEGER })),
    timeout: COUNT,
    excludeCredentials: CREDENTIALS,
    authenticatorSelection: ANY_OBJECT,
    attestation: TEXT,
  }),
})

/** What a passkey signs to confirm an act; `options` is PublicKeyCredentialRequestOptionsJSON. */
export const CONFIRMATION_CHALLENGE = nameObject('ConfirmationChallenge', {
  id: TEXT,
  challenge: TEXT,
  options: makeObject({
    challenge: TEXT,
    rpId: TEXT,
    timeout: COUNT,
    allowCredentials: CREDENTIALS,
    userVerification: TEXT,
  }),
  text: TEXT,
  expires_at: TIME,
})
