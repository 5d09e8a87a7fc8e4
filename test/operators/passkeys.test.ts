import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { ConfirmationCheck, type ConfirmedEvent } from '../../src/app/identity/verify-confirmations.js'
import { type Running, start } from '../http/harness.js'
import { type BrowserSession, logIn, logInFirst } from './browser-session.js'
import {
  APPROVED_CONTRACT,
  type Asked,
  addPasskey,
  askForApproval,
  confirmWith,
  originOf,
  PASSPHRASE,
  refusal,
} from './confirming.js'
import { SoftwareAuthenticator } from './software-authenticator.js'

let run: Running
let admin: BrowserSession
let passkey: SoftwareAuthenticator

beforeAll(async () => {
  run = await start({ contract: APPROVED_CONTRACT, confirm: 'always' })
  admin = await logInFirst(run)
})
afterEach(() => {
  expect(run.faults).toEqual([])
  run.now = null
})
afterAll(() => run.stop())

const origin = () => ({ origin: originOf(run) })
const decide = (session: BrowserSession, { id, digest }: Asked, confirmation: unknown) =>
  session.call('POST', `/approvals/${id}/decision`, { decision: 'approve', digest, confirmation }, origin())
const aboutApproval = ({ id, digest }: Asked, by = passkey) => ({
  ...{ passkey: by, act: 'decideApproval', params: { id }, body: { decision: 'approve', digest } },
})
const readAll = async (): Promise<ConfirmedEvent[]> => [...(await run.app.ledger.store.readAll(0, 1000))]
const check = async (events: readonly ConfirmedEvent[]) => {
  const checking = new ConfirmationCheck()
  for (const event of events) await checking.take(event)
  return checking.checked
}

describe('registering passkeys', () => {
  it('[REQ-CONFIRM-4] the first only in a session from the code of the first start, for a name and not an address', async () => {
    const later = await logIn(run, { operator_token: run.operator })
    for (const path of ['/passkeys/options', '/passkeys']) {
      const refused = await later.call('POST', path, path === '/passkeys' ? { name: 'x', response: {} } : {}, origin())
      expect(refused).toMatchObject(refusal(403, 'not_permitted'))
      expect(refused.body.remedy).toContain('phaselock serve --first-code')
    }
    const byAddress = await admin.call('POST', '/passkeys/options')
    expect(byAddress).toMatchObject(refusal(400, 'invalid_request'))
    expect(byAddress.body.remedy).toContain('localhost')
  })

  it('[REQ-CONFIRM-4] not with another challenge, origin or form', async () => {
    const made = new SoftwareAuthenticator(originOf(run))
    const ask = async () =>
      (await admin.call('POST', '/passkeys/options', {}, origin())).body.options as { challenge: string }
    const send = (response: unknown) => admin.call('POST', '/passkeys', { name: 'laptop', response }, origin())
    expect(await send(made.register({ challenge: 'none' }))).toMatchObject(refusal(409, 'conflict'))
    await ask()
    expect(await send(made.register({ challenge: 'AAAA' }))).toMatchObject(refusal(400, 'invalid_request'))
    expect(await send(made.register(await ask(), { origin: 'http://evil.example' }))).toMatchObject(
      refusal(400, 'invalid_request'),
    )
    const elsewhere = new SoftwareAuthenticator(originOf(run), 'evil.example')
    expect(await send(elsewhere.register(await ask()))).toMatchObject(refusal(400, 'invalid_request'))
    await ask()
    expect(await send({})).toMatchObject(refusal(400, 'invalid_request'))
    expect((await admin.call('GET', '/passkeys')).body.passkeys).toEqual([])
  })

  it('[REQ-CONFIRM-4] each further one with a confirmation by an existing one', async () => {
    const first = await addPasskey(admin, run)
    expect(first.answer).toMatchObject({ status: 201, body: { id: first.passkey.id, name: 'laptop' } })
    passkey = first.passkey
    expect((await addPasskey(admin, run)).answer).toMatchObject(refusal(403, 'confirmation_required'))
    const later = await logIn(run, { operator_token: run.operator })
    const sign = (body: object) => confirmWith(later, run, { passkey, act: 'addPasskey', body })
    const second = await addPasskey(later, run, sign)
    expect(second.answer).toMatchObject({ status: 201 })
    const { passkeys } = (await admin.call('GET', '/passkeys')).body as { passkeys: object[] }
    expect(passkeys).toMatchObject([{ id: passkey.id, operator: 'admin' }, { id: second.passkey.id }])
    const path = `/passkeys/${second.passkey.id}/revoke`
    expect(await admin.call('POST', path, {}, origin())).toMatchObject(refusal(403, 'confirmation_required'))
    const params = { id: second.passkey.id }
    const confirmation = await confirmWith(admin, run, { passkey: second.passkey, act: 'revokePasskey', params })
    expect(await admin.call('POST', path, { confirmation }, origin())).toMatchObject({ body: { revoked: true } })
    const asked = await askForApproval(run)
    const gone = await confirmWith(admin, run, aboutApproval(asked, second.passkey))
    expect(await decide(admin, asked, gone)).toMatchObject(refusal(403, 'confirmation_invalid'))
  })
})

describe('confirming with a passkey', () => {
  it('[REQ-CONFIRM-6] not without one, nor with what it signed for another digest, approval or act', async () => {
    const [asked, other] = [await askForApproval(run), await askForApproval(run)]
    expect(await decide(admin, asked, undefined)).toMatchObject(refusal(403, 'confirmation_required'))
    const wrong: (() => Promise<unknown>)[] = [
      () => confirmWith(admin, run, aboutApproval(other)),
      () => confirmWith(admin, run, aboutApproval({ ...asked, digest: 'f'.repeat(64) })),
      () => confirmWith(admin, run, { passkey, act: 'resumeTask', params: { id: asked.taskId } }),
      () => confirmWith(admin, run, { ...aboutApproval(asked), body: { decision: 'reject', digest: asked.digest } }),
      // Signed by a passkey that nobody registered.
      () => confirmWith(admin, run, aboutApproval(asked, new SoftwareAuthenticator(originOf(run)))),
      // Signed for another page.
      async () => {
        const body = { act: 'decideApproval', params: { id: asked.id }, body: { ...aboutApproval(asked).body } }
        const made = (await admin.call('POST', '/confirmations', body, origin())).body
        const assertion = passkey.sign(made.options as { challenge: string }, { origin: 'http://localhost:1' })
        return { id: made.id, assertion }
      },
      // The right challenge, and a signature over another one.
      async () => {
        const right = await confirmWith(admin, run, aboutApproval(asked))
        return { ...right, assertion: (await confirmWith(admin, run, aboutApproval(other))).assertion }
      },
      async () => {
        const { id, assertion } = await confirmWith(admin, run, aboutApproval(asked))
        const signature = `AAAA${assertion.response.signature.slice(4)}`
        return { id, assertion: { ...assertion, response: { ...assertion.response, signature } } }
      },
      async () => ({ ...(await confirmWith(admin, run, aboutApproval(asked))), id: 'cnf-none' }),
    ]
    for (const [index, make] of wrong.entries())
      expect(await decide(admin, asked, await make()), String(index)).toMatchObject(
        refusal(403, 'confirmation_invalid'),
      )
    expect((await admin.call('GET', `/approvals/${asked.id}`)).body.status).toBe('pending')
  })

  it('[REQ-CONFIRM-6] not after five minutes, not twice, and not for another operator', async () => {
    const asked = await askForApproval(run)
    const late = await confirmWith(admin, run, aboutApproval(asked))
    run.now = Date.now() + 5 * 60_000 + 1
    expect(await decide(admin, asked, late)).toMatchObject(refusal(403, 'confirmation_invalid'))
    run.now = null
    const body = { name: 'olga' }
    const confirmation = await confirmWith(admin, run, { passkey, act: 'addOperator', body })
    const added = await admin.call('POST', '/operators', { ...body, confirmation }, origin())
    expect(added).toMatchObject({ status: 201 })
    expect(await admin.call('POST', '/operators', { name: 'olga2', confirmation }, origin())).toMatchObject(
      refusal(403, 'confirmation_invalid'),
    )
    const olga = await logIn(run, { operator_token: String(added.body.operator_token) })
    const admins = await confirmWith(admin, run, aboutApproval(asked))
    expect(await decide(olga, asked, admins)).toMatchObject(refusal(403, 'confirmation_invalid'))
    expect(await olga.call('POST', '/confirmations', { act: 'resumeTask' }, origin())).toMatchObject(
      refusal(409, 'conflict'),
    )
    expect(await olga.call('POST', `/passkeys/${passkey.id}/revoke`, {}, origin())).toMatchObject(
      refusal(404, 'not_found'),
    )
    const twice = await confirmWith(admin, run, aboutApproval(asked))
    expect(await decide(admin, asked, twice)).toMatchObject({ status: 200, body: { status: 'approved' } })
    expect(await decide(admin, await askForApproval(run), twice)).toMatchObject(refusal(403, 'confirmation_invalid'))
  })

  it('[REQ-CONFIRM-6] says what will happen, and takes no call that needs none', async () => {
    const asked = await askForApproval(run)
    const body = {
      act: 'decideApproval',
      params: { id: asked.id },
      body: { decision: 'approve', digest: asked.digest },
    }
    const made = await admin.call('POST', '/confirmations', body, origin())
    expect(made).toMatchObject({
      status: 201,
      body: { text: expect.stringContaining(asked.id), options: { challenge: made.body.challenge, rpId: 'localhost' } },
    })
    expect(await admin.call('POST', '/confirmations', { act: 'listTasks' }, origin())).toMatchObject(
      refusal(400, 'invalid_request'),
    )
  })
})

describe('what the ledger keeps', () => {
  it('[REQ-CONFIRM-7] verifies afterwards without the server, also after a restart', async () => {
    const asked = await askForApproval(run)
    expect(await decide(admin, asked, await confirmWith(admin, run, aboutApproval(asked)))).toMatchObject({
      status: 200,
    })
    await admin.call('POST', '/passphrase', { passphrase: PASSPHRASE, confirmation: await signPassphrase() }, origin())
    run = await run.restart()
    const checked = await check(await readAll())
    expect(checked.map(({ problem }) => problem).filter((problem) => problem !== null)).toEqual([])
    expect(checked.map(({ method, act }) => `${method} ${act}`)).toEqual(
      expect.arrayContaining(['passkey decideApproval', 'passkey addOperator', 'passkey setPassphrase']),
    )
  })

  it('[REQ-CONFIRM-7] does not verify when event, signature or key say something else', async () => {
    const events = await readAll()
    const at = events.findLastIndex(({ type }) => type === 'approval_decided')
    const decided = events[at] as ConfirmedEvent
    const confirmation = decided.data.confirmation as Record<string, string>
    const problemWith = async (data: object, more: object = {}) => {
      const changed = events.map((event, index) =>
        index === at ? { ...decided, ...more, data: { ...decided.data, ...data } } : event,
      )
      return (await check(changed)).find(({ seq }) => seq === decided.seq)?.problem
    }
    expect(await problemWith({})).toBeNull()
    expect(await problemWith({ digest: 'f'.repeat(64) })).toContain('another approval')
    expect(await problemWith({ approval_id: 'apr-1-x' })).toContain('another approval')
    expect(await problemWith({}, { actor: 'operator:olga' })).toContain('another operator')
    const digest = 'f'.repeat(64)
    expect(await problemWith({ digest, confirmation: { ...confirmation, digest } })).toContain('signature')
    expect(await problemWith({ confirmation: { ...confirmation, nonce: 'other' } })).toContain('signature')
    expect(await problemWith({ confirmation: { ...confirmation, credential_id: 'none' } })).toContain('no such passkey')
    const without = events.filter(({ type }) => type !== 'passkey_added')
    expect((await check(without)).find(({ seq }) => seq === decided.seq)?.problem).toContain('no such passkey')
  })
})

// The hash of a new passphrase is not part of what is signed.
function signPassphrase() {
  return confirmWith(admin, run, { passkey, act: 'setPassphrase', body: { passphrase: PASSPHRASE } })
}
