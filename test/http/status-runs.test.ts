import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { type Answer, ownTree, PLAN, type Running, start } from './harness.js'

const CONTRACT = `
name: watched
version: "1"
phases:
  - id: PLAN
    allowed_tools: [read_files, grep, write_files]
    tool_constraints: {write_files: {allowed_patterns: ["docs/**"]}}
    required_artifacts: [{type: plan_document, description: the plan, schema: schemas/plan.json}]
    rules: [{repeated_file_edit: {path_pattern: "docs/loop.*", threshold: 3, window: 600}}]
  - id: CHECKED
    allowed_tools: [read_files]
    checkpoint: {evidence: {count: {type: integer, min: 1, description: how many}}}
    gates: [{id: shut, type: validation, blockers: [{check: file_exists, path: there.txt, message: there must be}]}]
  - id: DONE
    allowed_tools: []
    gates: [{id: last, type: validation, blockers: [{check: file_exists, path: there.txt, message: there must be}]}]
transitions: [{from: PLAN, to: CHECKED}, {from: CHECKED, to: DONE}, {from: CHECKED, to: PLAN, when: again}]
enforcement: {reconcile: block, denial_budget: 20, confinement: best_effort}
`

interface Record {
  readonly enforcement_attempts: readonly {
    readonly round: number
    readonly reason: string
    readonly [key: string]: unknown
  }[]
  readonly by_round: Readonly<{ [round: string]: { readonly count: number; readonly reasons: readonly string[] } }>
  readonly outcome: string
  readonly [key: string]: unknown
}
type Agents = Readonly<{ [id: string]: { readonly status: string; readonly reliability: Record | null } }>

let run: Running
let agent: string
let token: string
afterEach(() => run?.stop())

async function begin(about: { readonly contract?: string; readonly id?: string } = {}): Promise<void> {
  run = await start({ contract: about.contract ?? CONTRACT })
  await run.addTask({ id: about.id ?? 't', title: 'Watch me' })
  agent = await run.addAgent('a')
  token = await run.claim('a', agent, about.id ?? 't')
}

const status = (id = 't', who = run.operator): Promise<Answer> => run.call('GET', `/status?run=${id}`, who)
const recordOf = async (name = 'a'): Promise<Record | null> =>
  ((await status()).body.agents as Agents)[name]?.reliability ?? null
const execute = (tool_name: string, args: object): Promise<Answer> =>
  run.call('POST', '/tools/execute', token, { task_id: 't', tool_name, args })
const move = async (target_phase: string, about: object = {}): Promise<Answer> => {
  const answer = await run.call('POST', '/tasks/transition', token, { task_id: 't', target_phase, ...about })
  if (typeof answer.body.phase_token === 'string') token = answer.body.phase_token
  return answer
}
const PLANNED = { artifacts: { plan_document: PLAN } }
const fileOf = (folder: string): string => join(run.stateDir, 'runs', folder, 'status.json')
const readFile = (folder: string): unknown => JSON.parse(readFileSync(fileOf(folder), 'utf8'))

async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; !holds(); tries += 1) {
    if (tries > 1000) throw new Error('it does not come to hold')
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

// A file that is just being written keeps its folder from being taken away.
function putInTheWay(): boolean {
  try {
    rmSync(join(run.stateDir, 'runs'), { recursive: true, force: true })
    writeFileSync(join(run.stateDir, 'runs'), 'in the way')
    return true
  } catch {
    return false
  }
}

/** The status without what goes on with the clock. */
function still(one: unknown): unknown {
  const { meta, ...rest } = one as { meta: object }
  return { ...rest, meta: { ...meta, elapsed_seconds: 0 } }
}

describe('who may ask', () => {
  it('[REQ-STATUS-10] an agent sees the status of the task it holds, and of no other', async () => {
    await begin()
    await run.addTask({ id: 'other', workspace: ownTree(run) })
    const other = await run.claim('b', await run.addAgent('b'), 'other')
    expect(await status('other', token)).toMatchObject({ status: 403, body: { code: 'token_mismatch' } })
    expect(await status('no-such-run', token)).toMatchObject({ status: 403, body: { code: 'token_mismatch' } })
    expect((await status('t', token)).body).toMatchObject({ meta: { session_id: 't', log_dir: 'runs/t' } })
    for (const one of [token, agent])
      expect((await run.call('GET', '/status', one)).body).toMatchObject({ meta: { session_id: 't' } })
    expect((await run.call('GET', '/status', other)).body).toMatchObject({ meta: { session_id: 'other' } })
    const idle = await run.addAgent('idle')
    expect(await run.call('GET', '/status', idle)).toMatchObject({ status: 409, body: { code: 'no_active_task' } })
    expect((await run.call('GET', '/status', null)).status).toBe(401)
  })

  it('[REQ-STATUS-10] a reviewer sees none', async () => {
    await begin()
    const added = await run.call('POST', '/tasks/t/reviewers', run.operator, { name: 'r' })
    const answer = await status('t', String(added.body.review_token))
    expect(answer).toMatchObject({ status: 403, body: { code: 'not_permitted' } })
  })

  it('[REQ-STATUS-10] an operator sees any run, by default the one that began last', async () => {
    run = await start({ contract: CONTRACT })
    expect(await run.call('GET', '/status', run.operator)).toMatchObject({ status: 404, body: { code: 'not_found' } })
    for (const id of ['first', 'second', 'never']) await run.addTask({ id, workspace: ownTree(run) })
    await run.claim('a', await run.addAgent('a'), 'second')
    await run.claim('b', await run.addAgent('b'), 'first')
    const newest = () => run.call('GET', '/status', run.operator)
    expect((await newest()).body).toMatchObject({ meta: { session_id: 'first' } })
    expect((await status('second')).body).toMatchObject({ meta: { session_id: 'second' } })
    expect(await status('never')).toMatchObject({ status: 404, body: { detail: expect.stringContaining('claimed') } })
    expect(await status('nobody')).toMatchObject({ status: 404 })
    expect(await status('a%2Fb')).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
    run = await run.restart()
    expect((await newest()).body).toMatchObject({ meta: { session_id: 'first' } })
  })
})

describe('a coordination', () => {
  const QUESTION = {
    question: 'Tabs or spaces?',
    agents: [
      { id: 'x', kind: 'remote' },
      { id: 'y', kind: 'remote' },
    ],
  }

  it('[REQ-STATUS-10] is a run like any other, and its participants see no status', async () => {
    await begin()
    const opened = await run.call('POST', '/coordinations', run.operator, QUESTION)
    const id = String(opened.body.id)
    const newest = (await run.call('GET', '/status', run.operator)).body
    expect(newest).toMatchObject({
      finish_reason: 'in_progress',
      meta: { session_id: id, question: 'Tabs or spaces?' },
    })
    expect(Object.keys(newest)).toEqual(Object.keys((await status()).body))
    const [participant] = opened.body.agents as { token: string }[]
    const asked = await status(id, participant?.token)
    expect(asked).toMatchObject({ status: 403, body: { code: 'not_permitted' } })
    expect(await status(id, token)).toMatchObject({ status: 403, body: { code: 'token_mismatch' } })
    await until(() => existsSync(fileOf(id)))
    expect(still(readFile(id))).toEqual(still((await status(id)).body))
    await run.addTask({ id: 'later', workspace: ownTree(run) })
    await run.claim('late', await run.addAgent('late'), 'later')
    expect((await run.call('GET', '/status', run.operator)).body).toMatchObject({ meta: { session_id: 'later' } })
  })
})

describe('what was refused', () => {
  it('[REQ-STATUS-11] each code that a task can be refused with is a reason, over two visits', async () => {
    await begin()
    const first = token
    const told: string[] = []
    const refused = async (answer: Promise<Answer>): Promise<void> => {
      const { body } = await answer
      told.push(String((body.retry as { text?: string } | undefined)?.text ?? ''))
    }
    await refused(execute('bash', { command: 'ls' }))
    await refused(execute('nosuch', {}))
    await refused(execute('write_files', { path: 'src/a.ts', content: '' }))
    await refused(execute('write_files', { path: 'docs/a.md' }))
    await refused(move('CHECKED'))
    await refused(move('CHECKED', { artifacts: { plan_document: {} } }))
    await refused(move('NOWHERE'))
    await refused(move('CHECKED', { current_phase: 'DONE' }))
    writeFileSync(join(run.workspace, 'smuggled'), 'x')
    await move('CHECKED', PLANNED)
    rmSync(join(run.workspace, 'smuggled'))
    for (let i = 0; i < 3; i += 1) await execute('write_files', { path: 'docs/loop.md', content: `${i}` })
    await move('CHECKED', PLANNED)
    await run.call('POST', '/prompt/continue', token, {})
    expect((await move('CHECKED', PLANNED)).body).toMatchObject({ allowed: true })
    await run.call('POST', '/phases/CHECKED/complete', token, { evidence: { count: 0 } })
    await move('DONE', { evidence: { count: 1 } })
    await run.call('GET', '/prompt', first)
    const record = await recordOf()
    expect(record?.by_round['1']?.reasons).toEqual([
      ...['forbidden_tool', 'unknown_tool', 'constraint_violation', 'invalid_request', 'missing_artifact'],
      ...['invalid_artifact', 'no_transition', 'phase_sequence_violation', 'unledgered_change', 'rule_interrupt'],
    ])
    expect(record?.by_round['2']).toEqual({
      count: 3,
      reasons: ['incomplete_checkpoint', 'gate_blocked', 'token_stale'],
    })
    expect(told[0]).toBe('Retry (1/3): Called bash (not allowed in PLAN). Allowed: read_files, grep, write_files')
    const [attempt] = record?.enforcement_attempts ?? []
    expect(`Retry (${attempt?.attempt}/${attempt?.max_attempts}): ${attempt?.error_message}`).toBe(told[0])
    expect(record).toMatchObject({ unknown_tools: ['nosuch'], workflow_errors: [], outcome: 'ok' })
    expect(record?.total_enforcement_retries).toBe(record?.enforcement_attempts.length)
  })

  it('[REQ-STATUS-9] an agent is ok, dropped or non_compliant by how it ended', async () => {
    await begin({ contract: CONTRACT.replace('denial_budget: 20', 'denial_budget: 3') })
    await execute('nosuch', {})
    expect(await recordOf()).toMatchObject({ outcome: 'ok' })
    await until(() => existsSync(fileOf('t')))
    run.now = Date.now() + 24 * 3600_000
    await until(() => (readFile('t') as { agents: Agents }).agents.a?.reliability?.outcome === 'dropped')
    token = await run.claim('b', await run.addAgent('b'), 't')
    for (const _ of [1, 2, 3]) await execute('nosuch', {})
    expect((await status()).body).toMatchObject({
      finish_reason: 'parked',
      finish_reason_details: expect.stringContaining('denial_budget 3'),
      is_complete: false,
      agents: {
        a: { status: 'timeout', error: { type: 'lease_lapsed' }, reliability: { outcome: 'dropped' } },
        b: { status: 'stopped', error: { type: 'parked' }, reliability: { outcome: 'non_compliant' } },
      },
    })
  })
})

describe('the file of a task', () => {
  it('[REQ-STATUS-12] follows the task from its first claim to its end', async () => {
    await begin()
    await until(() => existsSync(fileOf('t')))
    await execute('nosuch', {})
    await until(() => (readFile('t') as { agents: Agents }).agents.a?.reliability !== null)
    expect(still(readFile('t'))).toEqual(still((await status()).body))
    await run.call('POST', '/tasks/t/cancel', run.operator, { reason: 'enough' })
    await until(() => (readFile('t') as { is_complete: boolean }).is_complete)
    expect(readFile('t')).toEqual((await status()).body)
    expect(readFile('t')).toMatchObject({ finish_reason: 'cancelled', finish_reason_details: 'enough' })
  })

  it('[REQ-STATUS-12] is not there for a task that nobody claimed', async () => {
    await begin()
    await run.addTask({ id: 'waits' })
    await run.call('PATCH', '/tasks/waits', run.operator, { title: 'still waits' })
    await run.app.runFiles.flush()
    expect(readdirSync(join(run.stateDir, 'runs'))).toEqual(['t'])
  })

  it('[REQ-STATUS-12] is written by a stop, and brought up to date by a start', async () => {
    await begin()
    for (let i = 0; i < 5; i += 1) await execute('nosuch', {})
    run = await run.restart()
    expect(readFile('t')).toMatchObject({ agents: { a: { reliability: { total_enforcement_retries: 5 } } } })
    writeFileSync(fileOf('t'), '{"finish_reason": "in_pro')
    run = await run.restart()
    await until(() => readFileSync(fileOf('t'), 'utf8').endsWith('}\n'))
    expect(still(readFile('t'))).toEqual(still((await status()).body))
  })

  it('[REQ-STATUS-12] that says less than the ledger is written again by the next start, also for a task that is over', async () => {
    await begin()
    await until(() => existsSync(fileOf('t')))
    await run.app.runFiles.flush()
    const open = readFileSync(fileOf('t'))
    await run.call('POST', '/tasks/t/cancel', run.operator, { reason: 'enough' })
    await run.app.runFiles.flush()
    writeFileSync(fileOf('t'), open)
    run = await run.restart()
    await until(() => (readFile('t') as { is_complete: boolean }).is_complete)
    rmSync(join(run.stateDir, 'runs', 't'), { recursive: true })
    run = await run.restart()
    await until(() => existsSync(fileOf('t')))
    expect(readFile('t')).toMatchObject({ finish_reason: 'cancelled' })
  })

  it('[REQ-STATUS-1] of a task with an odd id is below runs like any other', async () => {
    await begin({ id: '..' })
    const folders = { '..': '%2e%2e', '.': '%2e', '...': '...', __proto: '__proto', constructor: 'constructor' }
    for (const [index, [id, folder]] of Object.entries(folders).entries()) {
      if (index > 0) {
        await run.addTask({ id, workspace: ownTree(run) })
        await run.claim(`odd${index}`, await run.addAgent(`odd${index}`), id)
      }
      await until(() => existsSync(fileOf(folder)))
      expect(readFile(folder)).toMatchObject({ meta: { session_id: id, log_dir: `runs/${folder}` } })
      const asked = await run.call('GET', `/status?run=${id}`, run.operator)
      expect(still(asked.body)).toEqual(still(readFile(folder)))
    }
    expect(existsSync(join(run.stateDir, 'status.json'))).toBe(false)
    expect(readdirSync(join(run.stateDir, 'runs')).toSorted()).toEqual(Object.values(folders).toSorted())
  })

  it('[REQ-STATUS-8] names its agents as they are called, also `__proto__`', async () => {
    await begin()
    await run.addTask({ id: '__proto__', workspace: ownTree(run) })
    token = await run.claim('__proto__', await run.addAgent('__proto__'), '__proto__')
    await run.call('POST', '/tools/execute', token, { task_id: '__proto__', tool_name: 'nosuch', args: {} })
    await run.app.runFiles.flush()
    const agents = Object.entries((readFile('__proto__') as { agents: Agents }).agents)
    expect(agents).toMatchObject([['__proto__', { reliability: { unknown_tools: ['nosuch'] } }]])
  })

  it('[REQ-STATUS-2] work goes on where the files cannot be written, and they come when they can', async () => {
    await begin()
    await until(() => existsSync(fileOf('t')))
    await run.app.runFiles.flush()
    await until(putInTheWay)
    for (let i = 0; i < 3; i += 1) expect((await execute('nosuch', {})).status).toBe(403)
    expect((await move('CHECKED', PLANNED)).body).toMatchObject({ allowed: true })
    await run.app.runFiles.flush()
    expect(run.faults).toHaveLength(1)
    expect((await status()).body).toMatchObject({ coordination: { phase: 'CHECKED' } })
    rmSync(join(run.stateDir, 'runs'))
    await until(() => existsSync(fileOf('t')))
    expect(readFile('t')).toMatchObject({ coordination: { phase: 'CHECKED' } })
    expect(run.faults).toHaveLength(1)
  })

  it('[REQ-STATUS-6] folds of tasks that are over are let go', async () => {
    run = await start({ contract: CONTRACT })
    const names = Array.from({ length: 40 }, (_, index) => `t${index}`)
    for (const id of names) {
      await run.addTask({ id })
      token = await run.claim(`a-${id}`, await run.addAgent(`a-${id}`), id)
      await run.call('POST', '/tools/execute', token, { task_id: id, tool_name: 'nosuch', args: {} })
      await run.call('POST', `/tasks/${id}/cancel`, run.operator, { reason: 'enough' })
    }
    await run.app.runFiles.flush()
    expect(run.app.taskRuns.kept).toEqual({ folds: 16, attempts: 16 })
    for (const id of names) expect(readFile(id)).toMatchObject({ finish_reason: 'cancelled' })
  })
})
