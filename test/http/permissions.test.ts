import { mkdirSync, realpathSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { DASHBOARD_ROUTES } from '../../src/http/dashboard.js'
import { sectionsOf } from '../docs/blocks.js'
import { type Answer, type Running, start } from './harness.js'

const CONTRACT = `
name: guarded
version: "1"
phases:
  - id: WORK
    allowed_tools: [write_files, ask_user_question]
    gates:
      - {id: signed, type: approval, approvers: [human]}
  - {id: DONE, allowed_tools: []}
enforcement: {confinement: required, reconcile: warn}
`
const UNCONFINED = CONTRACT.replace('required', '"off"').replace('guarded', 'unguarded')

/** The columns of the table, in order, and whose token is used for each. */
const COLUMNS = ['agent', 'phase', 'review', 'participant', 'human', 'ci'] as const
type Column = (typeof COLUMNS)[number]

let run: Running
let tokens: Readonly<Record<Column | 'lead' | 'revoked', string>>
let taskId: string

beforeAll(async () => {
  run = await start({ contract: CONTRACT, confirm: 'never' })
  const agent = await run.addAgent('ada')
  taskId = await run.addTask()
  const phase = await run.claim('ada', agent, taskId)
  const operator = async (name: string, role: string): Promise<string> =>
    String((await run.call('POST', '/operators', run.operator, { name, role })).body.operator_token)
  const reviewer = await run.call('POST', `/tasks/${taskId}/reviewers`, run.operator, { name: 'rita' })
  const council = await run.call('POST', '/coordinations', run.operator, {
    ...{ question: 'Which way?', agents: [{ id: 'remote', kind: 'remote' }] },
  })
  const [seat] = council.body.agents as { token: string }[]
  const revoked = await operator('gone', 'lead')
  await run.call('POST', '/operators/gone/revoke', run.operator, {})
  tokens = {
    ...{ agent, phase, review: String(reviewer.body.review_token), participant: seat?.token ?? '' },
    ...{ human: run.operator, ci: await operator('robot', 'ci'), lead: await operator('lea', 'lead'), revoked },
  }
})
afterEach(() => expect(run.faults).toEqual([]))
afterAll(() => run.stop())

/** The table of docs/api.md: the columns that are let in, by call. */
function readTable(): ReadonlyMap<string, readonly Column[]> {
  const section = sectionsOf('docs/api.md').get('Who may call what') ?? ''
  const found = section.matchAll(/^\| `((?:GET|POST|PATCH|DELETE) [^`]+)` \|((?: (?:yes|no) \|){6})$/gm)
  const rows = [...found].map(([, call = '', cells = '']) => {
    const marks = cells.split('|').map((cell) => cell.trim())
    return [call, COLUMNS.filter((_, index) => marks[index] === 'yes')] as const
  })
  expect(rows.length).toBeGreaterThan(80)
  expect(new Set(rows.map(([call]) => call)).size).toBe(rows.length)
  return new Map(rows)
}

/** Every method and path that the server answers, off the tree that Fastify prints: a path continues the one above it. */
function served(): readonly string[] {
  const above: string[] = []
  return run.routes.split('\n').flatMap((line) => {
    const [, indent = '', part = '', methods = ''] = /^([│ ]*)[├└]── (\S+) \(([A-Z, ]+)\)/.exec(line) ?? []
    if (part === '') return []
    const depth = indent.length / 4
    above[depth] = `${depth === 0 ? '' : (above[depth - 1] ?? '')}${part}`
    const path = (above[depth] ?? '').replace(/:(\w+)/g, '{$1}')
    return methods.split(', ').map((method) => `${method} ${path}`)
  })
}

/** What needs no token, as docs/api.md lists it, and under its other names. */
function isPublic(call: string): boolean {
  const section = sectionsOf('docs/api.md').get('Without a token') ?? ''
  const listed = [...section.matchAll(/^\| `((?:GET|POST) [^`]+)`/gm)].map(([, one = '']) => one)
  const pages = DASHBOARD_ROUTES.map((path) => `GET ${path.replace(/:(\w+)/g, '{$1}')}`)
  return [...listed, ...pages, 'GET /api/v1/health', 'GET /schemas/{name}', 'GET /style.css'].includes(call)
}

// A hook that asks for a decision would be refused in the words of its agent CLI, with status 200.
const WRONG = { no_such_field: 1, hook_event_name: 'PostToolUse' }

/** Asks in a way that is wrong for everybody, so that nothing happens: who is let in is told so, others that they may not. */
async function ask(call: string, token: string | null): Promise<{ readonly status: number; readonly code: string }> {
  const [method = '', path = ''] = call.split(' ')
  const at = path === '/mcp' ? path : `/api/v1${path.replace(/\{\w+\}/g, 'none')}`
  const headers = token === null ? {} : { authorization: `Bearer ${token}` }
  const aborting = new AbortController()
  // A stranger may ask so often in a second.
  run.now = (run.now ?? Date.now()) + 1000
  const response = await fetch(`${run.url}${at}${method === 'GET' ? '?no_such_field=1' : ''}`, {
    ...{ method, signal: aborting.signal, headers: { ...headers, 'content-type': 'application/json' } },
    ...(method === 'GET' ? {} : { body: JSON.stringify(WRONG) }),
  })
  const isStream = response.headers.get('content-type')?.includes('event-stream') === true
  const body = isStream ? {} : ((await response.json()) as { code?: string })
  aborting.abort()
  // Hooks are refused with 200, in the words of the agent CLI: any other status could let the tool run.
  const hooked = at.includes('/hooks/')
    ? /\[(not_permitted|token_missing|token_invalid)\]/.exec(JSON.stringify(body))
    : null
  if (hooked !== null) return { status: hooked[1] === 'token_missing' ? 401 : 403, code: hooked[1] ?? '' }
  return { status: response.status, code: body.code ?? '' }
}

const REFUSED = { status: 403, code: 'not_permitted' }

describe('who may call what', () => {
  it('[REQ-ROLES-1] the table has a row for every call of the API, and no other', () => {
    const heads = served().filter((call) => call.startsWith('HEAD '))
    const others = served().filter((call) => !heads.includes(call))
    // HEAD is GET without the body, for the same callers.
    expect(heads.map((call) => call.replace('HEAD', 'GET')).sort()).toEqual(
      others.filter((call) => call.startsWith('GET ')).sort(),
    )
    const named = others.filter((call) => !isPublic(call))
    expect(named.length).toBeGreaterThan(80)
    expect([...readTable().keys()].sort()).toEqual(named.map((call) => call.replace('/api/v1', '')).sort())
  })

  it('[REQ-ROLES-1] every call lets in whom the table names, and tells everybody else that they may not', async () => {
    const table = readTable()
    const wrong: string[] = []
    for (const [call, allowed] of table) {
      for (const column of [...COLUMNS, 'lead'] as const) {
        const isAllowed = allowed.includes(column === 'lead' ? 'human' : column)
        const got = await ask(call, tokens[column])
        const isRefused = got.status === REFUSED.status && got.code === REFUSED.code
        if (isRefused === isAllowed || got.status === 401 || got.status >= 500 || /^token_/.test(got.code))
          wrong.push(`${call} as ${column}: ${got.status} ${got.code}`)
      }
    }
    expect(wrong).toEqual([])
  })

  it('[REQ-ROLES-1] no call lets in a request without a token, or an operator that was revoked', async () => {
    for (const call of readTable().keys()) {
      expect({ call, ...(await ask(call, null)) }).toEqual({ call, status: 401, code: 'token_missing' })
      expect({ call, ...(await ask(call, tokens.revoked)) }).toEqual({ call, status: 403, code: 'token_invalid' })
    }
  })
})

const as = (token: string, method: string, path: string, body?: unknown): Promise<Answer> =>
  run.call(method, path, token, body)

describe('an operator with the role ci', () => {
  it('[REQ-ROLES-2] registers no contract, and so gets no command outside the sandbox; the refusal is in the ledger', async () => {
    const refused = await as(tokens.ci, 'POST', '/contracts', { source: UNCONFINED })
    expect(refused).toMatchObject({
      status: 403,
      body: {
        ...{ code: 'not_permitted', detail: 'Operators with the role ci may not do this.' },
        remedy: expect.stringContaining('Ask an operator without the role ci'),
      },
    })
    const known = await as(tokens.ci, 'GET', '/contracts')
    expect(known.body.contracts).toMatchObject([{ name: 'guarded' }])
    const { body } = await as(run.operator, 'GET', '/audit/query?type=request_refused&limit=500')
    const events = body.events as { actor: string; data: Record<string, unknown> }[]
    expect(events.filter(({ actor }) => actor === 'operator:robot').map(({ data }) => data)).toContainEqual(
      expect.objectContaining({ code: 'not_permitted', method: 'POST', path: '/api/v1/contracts' }),
    )
  })

  it('[REQ-ROLES-3] makes tasks by the rules of the server: no looser mode, no other work tree', async () => {
    const other = join(run.workspace, '..', 'elsewhere')
    mkdirSync(other)
    symlinkSync(other, join(run.workspace, 'out'))
    for (const [field, value] of [
      ['mode', 'advisory'],
      ['mode', 'permissive'],
      ['workspace', other],
      ['workspace', '/'],
      ['workspace', `${run.workspace}/..`],
      ['workspace', `${run.workspace}/out/..`],
      ['workspace', '.'],
      ['workspace', `${run.workspace}\u0000`],
      ['workspace', `${run.workspace}/none`],
    ] as const) {
      const refused = await as(tokens.ci, 'POST', '/tasks', { title: 'x', [field]: value })
      expect(refused, `${field} ${value}`).toMatchObject({ status: 403, body: { code: 'not_permitted' } })
      expect(refused.body.detail).toContain(field)
      expect(refused.body.remedy).toContain('ask an operator without the role ci')
    }
    for (const more of [{}, { mode: 'strict' }, { workspace: run.workspace }, { contract: 'guarded' }])
      expect((await as(tokens.ci, 'POST', '/tasks', { title: 'x', ...more })).status, JSON.stringify(more)).toBe(201)
    expect((await as(tokens.lead, 'POST', '/tasks', { title: 'x', mode: 'advisory', workspace: other })).status).toBe(
      201,
    )
  })

  it("[REQ-ROLES-3] may spell the server's own work tree as it likes", async () => {
    mkdirSync(join(run.workspace, 'src'))
    const { workspace } = run
    for (const spelled of [
      ...[`${workspace}/`, `${workspace}//`, `${workspace}/.`, `${workspace}/src/..`],
      ...[`/${workspace}`, workspace.replaceAll('/', '/./'), realpathSync(workspace)],
    ]) {
      const made = await as(tokens.ci, 'POST', '/tasks', { title: 'x', workspace: spelled })
      expect(made, spelled).toMatchObject({ status: 201, body: { workspace: realpathSync(workspace) } })
    }
  })

  it("[REQ-ROLES-3] makes no task under a contract that is looser than the server's own", async () => {
    const other = (name: string, enforcement: string): string =>
      `${CONTRACT.slice(0, CONTRACT.indexOf('enforcement:')).replace('guarded', name)}enforcement: ${enforcement}\n`
    const looser = {
      permissive: '{mode: permissive, confinement: required, reconcile: warn}',
      advisory: '{mode: advisory, confinement: required, reconcile: warn}',
      best_effort: '{confinement: best_effort, reconcile: warn}',
      unreconciled: '{confinement: required, reconcile: "off"}',
    }
    const same = { stricter: '{confinement: required, reconcile: block}', alike: '{reconcile: warn}' }
    for (const [name, enforcement] of Object.entries({ ...looser, ...same })) {
      const added = await as(run.operator, 'POST', '/contracts', { source: other(name, enforcement) })
      expect(added.status, JSON.stringify(added.body)).toBe(201)
      const make = (token: string, more: object = {}) =>
        as(token, 'POST', '/tasks', { title: 'x', contract: name, ...more })
      expect((await make(tokens.lead)).status, name).toBe(201)
      if (name in same) expect((await make(tokens.ci)).status, name).toBe(201)
      else {
        expect(await make(tokens.ci), name).toMatchObject(REFUSED_BODY)
        expect((await make(tokens.ci)).body.detail).toMatch(/^contract: operators with the role ci may not ask for/)
        expect(await make(tokens.ci, { contract: added.body.hash }), name).toMatchObject(REFUSED_BODY)
      }
    }
    const strict = { title: 'x', contract: 'permissive', mode: 'strict' }
    expect((await as(tokens.ci, 'POST', '/tasks', strict)).status, 'held to the strict mode').toBe(201)
  })

  it('[REQ-ROLES-3] makes no task under another contract without a sandbox, or one that a newer one replaced', async () => {
    const older = await as(run.operator, 'POST', '/contracts', { source: UNCONFINED })
    const make = (token: string, contract: unknown) => as(token, 'POST', '/tasks', { title: 'x', contract })
    for (const named of ['unguarded', older.body.hash])
      expect(await make(tokens.ci, named), String(named)).toMatchObject(REFUSED_BODY)
    const newer = await as(run.operator, 'POST', '/contracts', { source: UNCONFINED.replace('"off"', 'required') })
    expect(await make(tokens.ci, older.body.hash)).toMatchObject(REFUSED_BODY)
    expect((await make(tokens.ci, 'unguarded')).status).toBe(201)
    expect((await make(tokens.ci, newer.body.hash)).status).toBe(201)
    expect((await make(tokens.lead, older.body.hash)).status).toBe(201)
  })

  it('[REQ-ROLES-3] merges and discards nothing by force', async () => {
    for (const act of ['merge', 'discard']) {
      const path = `/tasks/${taskId}/${act}`
      expect(await as(tokens.ci, 'POST', path, { reason: 'x', force: true }), act).toMatchObject(REFUSED_BODY)
      // The task has no work tree of its own: the call is let in, and there is nothing to do.
      expect((await as(tokens.ci, 'POST', path, { reason: 'x' })).body.code, act).not.toBe('not_permitted')
    }
  })

  it('[REQ-ROLES-4] approves nothing as a human, takes up no parked task by another way, and adds no reviewer', async () => {
    // The calls above bound the other agent by hooks.
    const task = await run.addTask()
    const eve = await run.claim('eve', await run.addAgent('eve'), task)
    const { body } = await as(eve, 'POST', '/tasks/transition', { task_id: task, target_phase: 'DONE' })
    const { id, digest } = body.pending_approval as { id: string; digest: string }
    const decision = { decision: 'approve', digest }
    expect(await as(tokens.ci, 'POST', `/approvals/${id}/decision`, decision)).toMatchObject(REFUSED_BODY)
    for (const act of ['resume', 'reassign'])
      expect(await as(tokens.ci, 'POST', `/tasks/${task}/${act}`, { reason: 'x' }), act).toMatchObject(REFUSED_BODY)
    const reviewers = `/tasks/${task}/reviewers`
    expect(await as(tokens.ci, 'POST', reviewers, { name: 'bot' })).toMatchObject(REFUSED_BODY)
    expect((await as(tokens.lead, 'POST', `/approvals/${id}/decision`, decision)).status).toBe(200)
  })

  it('[REQ-ROLES-5] does what CI needs: it makes, reads and cancels tasks, adds and revokes agents, and audits', async () => {
    const made = await as(tokens.ci, 'POST', '/tasks', { title: 'Nightly' })
    expect(made.status).toBe(201)
    const id = String(made.body.id)
    expect((await as(tokens.ci, 'POST', '/agents', { agent_id: 'nightly' })).status).toBe(201)
    for (const path of [`/tasks/${id}`, `/tasks/${id}/timeline`, '/audit/verify', '/approvals', '/metrics/summary'])
      expect((await as(tokens.ci, 'GET', path)).status, path).toBe(200)
    expect((await as(tokens.ci, 'POST', `/tasks/${id}/cancel`, { reason: 'over' })).status).toBe(200)
    expect((await as(tokens.ci, 'POST', '/agents/nightly/revoke', {})).status).toBe(200)
    expect((await as(tokens.ci, 'POST', '/pause', {})).status).toBe(200)
    expect(await as(tokens.ci, 'POST', '/unpause', {})).toMatchObject(REFUSED_BODY)
    expect((await as(run.operator, 'POST', '/unpause', {})).status).toBe(200)
  })
})

const REFUSED_BODY = { status: 403, body: { code: 'not_permitted' } }
