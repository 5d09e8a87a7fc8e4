import { SoftwareAuthenticator } from '../operators/software-authenticator.js'
import type { Endpoint, Lane } from './endpoints.js'
import type { Base } from './mutate.js'
import type { Stage } from './stage.js'

const NEW_PASSPHRASE = 'another long passphrase'

const asOperator =
  (make: (stage: Stage) => Promise<Base>) =>
  async (stage: Stage): Promise<Lane> => {
    const base = await make(stage)
    return { pair: await stage.pair(), base: () => base }
  }

/** What a browser sends after it logged in. */
async function openSession(stage: Stage): Promise<Record<string, string>> {
  const { headers, body } = await stage.run.call('POST', '/login', null, { operator_token: stage.run.operator })
  const [cookie = ''] = (headers.get('set-cookie') ?? '').split(';')
  return { cookie, 'x-csrf-token': String(body.csrf_token) }
}

async function findOpenedSession(stage: Stage): Promise<string> {
  const { body } = await stage.run.call('GET', '/session', null, undefined, await openSession(stage))
  return String(body.session_id)
}

/** A passkey that the server has not seen yet, and what registers it. */
async function makePasskey(stage: Stage) {
  const { body } = await stage.run.call('POST', '/passkeys/options', stage.run.operator, {}, getOrigin(stage))
  const options = body.options as Parameters<SoftwareAuthenticator['register']>[0]
  const passkey = new SoftwareAuthenticator(getOrigin(stage).origin)
  const confirmation = { passphrase: stage.passphrase }
  return { passkey, body: { name: 'Key', response: passkey.register(options), confirmation } }
}

// A newer challenge of an operator replaces the one before.
let registered: Promise<unknown> = Promise.resolve()

function addPasskey(stage: Stage): Promise<SoftwareAuthenticator> {
  const added = registered.then(() => registerPasskey(stage))
  registered = added.catch(() => null)
  return added
}

async function registerPasskey(stage: Stage): Promise<SoftwareAuthenticator> {
  const { passkey, body } = await makePasskey(stage)
  const { status, body: answer } = await stage.run.call(
    ...(['POST', '/passkeys', stage.run.operator, body, getOrigin(stage)] as const),
  )
  if (status !== 201) throw new Error(JSON.stringify(answer))
  return passkey
}

// Passkeys belong to names, not to addresses.
function getOrigin({ run }: Stage): { readonly origin: string } {
  return { origin: `http://localhost:${run.port}` }
}

/** The right request of every endpoint about logging in and confirming. */
export const OPERATOR_ENDPOINTS: Readonly<Record<string, Endpoint>> = {
  login: { prepare: asOperator(async ({ run }) => ({ body: { operator_token: run.operator } })) },
  createLoginCode: { prepare: asOperator(async () => ({ body: {} })) },
  getSession: { prepare: asOperator(async (stage) => ({ headers: await openSession(stage) })) },
  logout: {
    prepare: asOperator(async (stage) => ({ headers: await openSession(stage), body: {} })),
    isSpentBySuccess: true,
  },
  listSessions: {
    prepare: asOperator(async (stage) => {
      await openSession(stage)
      return {}
    }),
  },
  revokeSession: {
    prepare: asOperator(async (stage) => ({ params: { id: await findOpenedSession(stage) }, body: {} })),
    isSpentBySuccess: true,
  },
  listPasskeys: {
    prepare: asOperator(async (stage) => {
      await addPasskey(stage)
      return {}
    }),
  },
  passkeyOptions: { prepare: asOperator(async (stage) => ({ headers: getOrigin(stage), body: {} })) },
  addPasskey: {
    prepare: asOperator(async (stage) => ({ headers: getOrigin(stage), body: (await makePasskey(stage)).body })),
    isSpentBySuccess: true,
  },
  revokePasskey: {
    prepare: asOperator(async (stage) => ({
      params: { id: (await addPasskey(stage)).id },
      body: { confirmation: { passphrase: stage.passphrase } },
    })),
    isSpentBySuccess: true,
  },
  setPassphrase: {
    prepare: asOperator(async (stage) => ({
      body: { passphrase: NEW_PASSPHRASE, confirmation: { passphrase: stage.passphrase } },
    })),
    isSpentBySuccess: true,
    isAlone: true,
    after: async (stage) => {
      stage.passphrase = NEW_PASSPHRASE
    },
  },
  createConfirmation: {
    prepare: asOperator(async (stage) => {
      await addPasskey(stage)
      const body = { act: 'resumeTask', params: { id: stage.queued }, body: { reason: 'go on' } }
      return { headers: getOrigin(stage), body }
    }),
  },
}
