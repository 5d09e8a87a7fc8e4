import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Caller, PERMISSIONS } from '../../src/core/identity/permissions.js'
import { findTaskOfAct, NOT_SENSITIVE, needsConfirmation, SENSITIVE } from '../../src/core/identity/sensitive-acts.js'
import { DESCRIBED } from '../../src/http/routes/all.js'
import { type Running, start } from '../http/harness.js'
import { logInFirst } from './browser-session.js'
import { APPROVED_CONTRACT, PASSPHRASE, refusal } from './confirming.js'

let run: Running
beforeAll(async () => {
  run = await start({ contract: APPROVED_CONTRACT, confirm: 'always' })
  await (await logInFirst(run)).call('POST', '/passphrase', { passphrase: PASSPHRASE })
})
afterAll(() => run.stop())

const isHumans = (id: keyof typeof PERMISSIONS) => (PERMISSIONS[id] as readonly Caller[]).includes('human')
const unsafe = DESCRIBED.filter(({ method, id }) => method !== 'GET' && isHumans(id))

/** A body with which each call is sensitive. */
const BODIES: Readonly<Record<keyof typeof SENSITIVE, object>> = {
  decideApproval: { decision: 'approve', digest: '0'.repeat(64) },
  answerQuestion: { answer: 'yes' },
  acceptTree: { reason: 'x' },
  acceptTools: { reason: 'x' },
  installDependencies: { command: ['npm', 'ci'] },
  resumeTask: { reason: 'x' },
  reassignTask: { reason: 'x' },
  rewindTask: { to_phase: 'WORK', reason: 'x' },
  addReviewer: { name: 'rita' },
  revokeReviewer: { reason: 'x' },
  mergeTask: { force: true, reason: 'x' },
  updateTask: { mode: 'advisory' },
  createTask: { title: 'x', mode: 'permissive' },
  spawnAgent: { agent: 'coder', task: { title: 'x', mode: 'advisory' } },
  addContract: { source: 'name: x' },
  addOperator: { name: 'mallory' },
  participantToken: {},
  unpause: {},
  trustContract: {},
}

it('[REQ-CONFIRM-8] every unsafe call of operators is sensitive, or has a written reason why it is not', () => {
  expect(unsafe.length).toBeGreaterThan(30)
  for (const { id } of unsafe) {
    const isSensitive = Object.hasOwn(SENSITIVE, id)
    expect({ id, isListedOnce: isSensitive !== Object.hasOwn(NOT_SENSITIVE, id) }).toEqual({ id, isListedOnce: true })
  }
  const known = new Set<string>(unsafe.map(({ id }) => id))
  expect([...Object.keys(SENSITIVE), ...Object.keys(NOT_SENSITIVE)].filter((id) => !known.has(id))).toEqual([])
})

it('[REQ-CONFIRM-8] under always, no sensitive call does anything without a confirmation or with a wrong one', async () => {
  const last = await run.app.ledger.store.lastSeq()
  // The mode of a task cannot be changed yet.
  for (const route of unsafe.filter(({ id }) => Object.hasOwn(SENSITIVE, id) && id !== 'updateTask')) {
    const path = route.path.replace(/:\w+/g, 'none')
    const body = BODIES[route.id as keyof typeof SENSITIVE]
    expect(await run.call(route.method, path, run.operator, body), route.id).toMatchObject({
      ...refusal(403, 'confirmation_required'),
      body: { confirm: { act: route.id, methods: ['passphrase'] } },
    })
    const confirmation = { id: 'cnf-none', assertion: SIGNED }
    expect(await run.call(route.method, path, run.operator, { ...body, confirmation }), route.id).toMatchObject(
      refusal(403, 'confirmation_invalid'),
    )
  }
  const after = await run.app.ledger.store.readAll(last, 1000)
  expect(new Set(after.map(({ type }) => type))).toEqual(new Set(['request_refused']))
})

const text = 'AAAA'
const SIGNED = {
  ...{ id: text, rawId: text, type: 'public-key' },
  response: { authenticatorData: text, clientDataJSON: text, signature: text },
}

it('[REQ-CONFIRM-8] the OpenAPI document shows where a confirmation can be sent', async () => {
  const { paths } = (await run.call('GET', '/api/v1/openapi.json', null)).body as {
    paths: Record<string, Record<string, { operationId: string; requestBody?: object }>>
  }
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods))
  const confirmed = operations.filter(({ requestBody }) => JSON.stringify(requestBody ?? {}).includes('"confirmation"'))
  expect(confirmed.map(({ operationId }) => operationId).sort()).toEqual(
    [...Object.keys(SENSITIVE), 'addPasskey', 'revokePasskey', 'setPassphrase'].sort(),
  )
})

it('[REQ-CONFIRM-1] the setting and the agents decide', () => {
  expect(needsConfirmation('never', true)).toBe(false)
  expect(needsConfirmation('native', false)).toBe(false)
  expect(needsConfirmation('native', true)).toBe(true)
  expect(needsConfirmation('always', false)).toBe(true)
  expect(findTaskOfAct(SENSITIVE.decideApproval, { id: 'apr-4-task-1' })).toBe('task-1')
  expect(findTaskOfAct(SENSITIVE.answerQuestion, { id: 'qst-12-a.b' })).toBe('a.b')
  expect(findTaskOfAct(SENSITIVE.resumeTask, { id: 'task-1' })).toBe('task-1')
  expect(findTaskOfAct(SENSITIVE.addOperator, {})).toBeNull()
})
