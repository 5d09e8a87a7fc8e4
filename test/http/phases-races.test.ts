import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { contextOf } from '../../src/app/app.js'
import { Ledger } from '../../src/app/ledger/ledger.js'
import { needs } from '../../src/core/gates/needs.js'
import { openDatabase } from '../../src/store/database.js'
import { makeCleaner } from '../../src/store/redaction/clean-data.js'
import { openSqliteStore } from '../../src/store/sqlite-store.js'
import { openMemoryStore } from '../store/memory-store.js'
import { start } from './harness.js'
import { ANALYSED, PHASED, startPhased, type Worker, workerOf } from './phasing.js'

describe('many who complete one phase', () => {
  let one: Worker
  beforeEach(async () => {
    one = await startPhased()
  })
  afterEach(() => one.run.stop())

  const count = async (type: string) => (await one.events()).filter((event) => event.type === type).length

  it.each([
    ['the phase token', () => one.token],
    ['the agent token', () => one.agent],
  ])('[REQ-PHASE-15] of sixteen completions with %s at once one wins and the others get 409', async (_name, token) => {
    const bearer = token()
    const answers = await Promise.all(
      Array.from({ length: 16 }, () =>
        one.run.call('POST', '/phases/ANALYSE/complete', bearer, { evidence: ANALYSED }),
      ),
    )
    expect(answers.filter((answer) => answer.body.checkpoint_passed === true)).toHaveLength(1)
    const lost = answers.filter((answer) => answer.body.checkpoint_passed !== true)
    expect(lost.map((answer) => answer.status)).toEqual(Array.from({ length: 15 }, () => 409))
    expect(await count('checkpoint_passed')).toBe(1)
    expect(await count('gate_passed')).toBe(1)
    expect((await one.run.call('GET', '/tasks/t', one.run.operator)).body).toMatchObject({ phase: 'PLAN', epoch: 2 })
  })

  it('[REQ-PHASE-15] a token that was superseded by the completion is told so, and nothing of the next phase', async () => {
    const before = one.token
    await one.complete('ANALYSE', ANALYSED)
    const late = await one.run.call('POST', '/phases/ANALYSE/complete', before, { evidence: ANALYSED })
    expect(late).toMatchObject({
      status: 409,
      body: { code: 'phase_sequence_violation', reason: 'Currently on Phase PLAN' },
    })
    expect(JSON.stringify(late.body)).not.toContain('PHASE-TWO-MARKER')
    expect((await one.run.call('GET', '/phases/PLAN', before)).status).toBe(403)
    expect(await count('gate_passed')).toBe(1)
  })

  it('[REQ-PHASE-16] two clients with older views neither rewind, nor lose an update, nor complete twice', async () => {
    const first = workerOf(one.run, one.agent, one.token)
    const second = workerOf(one.run, one.agent, one.agent)
    expect((await second.complete('ANALYSE', { function_count: 1 })).body.checkpoint_passed).toBe(false)
    expect((await first.complete('ANALYSE', ANALYSED)).body.next_phase).toBe('PLAN')
    const older = await second.complete('ANALYSE', { ...ANALYSED, function_count: 99 })
    expect(older).toMatchObject({ status: 409, body: { violation_type: 'already_completed' } })
    const shown = await second.get('PLAN')
    expect(shown.body.artifacts_from_previous).toEqual({ ANALYSE: ANALYSED })
    expect(await count('checkpoint_passed')).toBe(1)
    expect((await one.run.call('GET', '/tasks/t', one.run.operator)).body.completed_phases).toEqual(['ANALYSE'])
  })

  it('[REQ-PHASE-17] two handles on one store: the second decides on what the first made durable', async () => {
    const { contract } = { contract: one.run.app.contractOf }
    const store = await openMemoryStore()
    const cleaner = makeCleaner([])
    const handles = [0, 1].map(() => new Ledger(store, cleaner.clean, cleaner.redact))
    const [first, second] = handles
    if (first === undefined || second === undefined) throw new Error('two handles were made')
    const context = contextOf(one.run.app, 'agent:a')
    const about = { title: 't', description: '', workspace: '/w', dependsOn: [], requires: [], metadata: {} }
    await first.create(contract, { id: 't', ...about, mode: null, priority: 0 }, context)
    const target = { taskId: 't', contract }
    const claim = { type: 'claim', agentId: 'a', instance: 'i', capabilities: [], openDependencies: [] } as const
    await first.apply(target, claim, context)
    // Both know the task as it is now; then both complete its phase.
    const known = await second.read('t')
    if (known === null) throw new Error('the task is there')
    const facts = {
      ...{ visit: known.visit, artifacts: [], checks: new Map(), evidenceProblems: [], evidence: ANALYSED },
      ...{ problems: [], digest: '', testFiles: null },
    }
    expect(needs(contract, known, { target: 'PLAN', claims: [] })).not.toBeNull()
    const complete = {
      type: 'transition',
      target: 'PLAN',
      currentPhase: 'ANALYSE',
      claims: [],
      facts,
      completes: true,
    } as const
    const done = await Promise.all(handles.map((handle) => handle.apply(target, complete, context)))
    expect(done.map((handled) => handled?.refusal?.code ?? 'passed').sort()).toEqual([
      'passed',
      'phase_sequence_violation',
    ])
    const types = (await store.readStream('task:t', 0, 100)).map((event) => event.type)
    expect(types.filter((type) => type === 'gate_passed')).toHaveLength(1)
    await store.close()
  })

  it('[REQ-PHASE-17] a second server on the same store is refused', async () => {
    await expect(openSqliteStore({ dir: one.run.stateDir })).rejects.toThrow(/Another server .* uses/)
    expect((await one.complete('ANALYSE', ANALYSED)).body.checkpoint_passed).toBe(true)
  })

  it('[REQ-PHASE-17] evidence whose kept content was changed by hand is not handed on', async () => {
    await one.complete('ANALYSE', ANALYSED)
    const dir = join(one.run.stateDir, '..')
    await one.run.app.close()
    const database = openDatabase(join(one.run.stateDir, 'ledger.db'))
    database.exec(
      `UPDATE blob SET content = CAST(replace(CAST(content AS TEXT), '"function_count":21', '"function_count":99') AS BLOB)`,
    )
    database.close()
    const second = await start({ dir, contract: PHASED })
    Object.assign(one, { run: second })
    const shown = await second.call('GET', '/phases/PLAN', one.agent)
    expect(shown.status).toBe(500)
    expect(JSON.stringify(shown.body)).not.toContain('99')
    // The check after the start says so too, in its own time.
    await expect
      .poll(() => second.faults.map(String).join())
      .toMatch(/failed verification.*was changed|was changed.*failed verification/)
    expect((await second.call('GET', '/audit/verify', second.operator)).body).toMatchObject({
      ok: false,
      problems: [{ code: 'changed_blob' }],
    })
  })

  it('[REQ-PHASE-17] evidence that was changed in the store by hand is noticed', async () => {
    await one.complete('ANALYSE', ANALYSED)
    const dir = join(one.run.stateDir, '..')
    await one.run.app.close()
    const database = openDatabase(join(one.run.stateDir, 'ledger.db'))
    database.exec(`UPDATE event SET data = replace(data, '"function_count":21', '"function_count":99')`)
    database.close()
    const second = await start({ dir })
    Object.assign(one, { run: second })
    expect((await second.call('GET', '/audit/verify', second.operator)).body).toMatchObject({
      ok: false,
      problems: [{ code: 'changed_event', stream: 'task:t' }],
    })
  })
})
