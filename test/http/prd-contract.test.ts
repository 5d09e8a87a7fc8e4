import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { GREEN, PLAN, RED, start } from './harness.js'

const CONTRACT = readFileSync(new URL('../cases/field-notes.yaml', import.meta.url), 'utf8')

describe('a contract in the form of PRD-007', () => {
  it('[REQ-API-38] is completed from start to end by an honest agent and a human, and refuses each dishonest step on the way', async () => {
    const run = await start({ contract: CONTRACT })
    const agent = await run.addAgent('writer')
    await run.addTask({ id: 'N1', title: 'Note on lichens' })
    let token = await run.claim('writer', agent, 'N1')
    const move = async (target: string, artifacts: Record<string, unknown>) => {
      const { body } = await run.call('POST', '/tasks/transition', token, {
        task_id: 'N1',
        target_phase: target,
        artifacts,
      })
      if (body.allowed === true && typeof body.phase_token === 'string') token = body.phase_token
      return {
        ...body,
        codes: ((body.blockers ?? []) as { code: string; check: string }[]).map((one) => `${one.code}:${one.check}`),
      } as Record<string, unknown>
    }
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as {
      exp: number
      iat: number
    }
    expect(claims.exp - claims.iat).toBe(1800)

    const scope_definition = { in_scope: ['lichens'], out_of_scope: ['moss'] }
    expect(
      (await move('PROBE', { plan_document: PLAN, scope_definition: { ...scope_definition, in_scope: [] } })).codes,
    ).toContain('check_failed:expression')
    const asked = await move('PROBE', { plan_document: PLAN, scope_definition })
    expect(asked.codes).toEqual(['approval_pending:null'])
    const { id, digest } = asked.pending_approval as { id: string; digest: string }
    await run.call('POST', `/approvals/${id}/decision`, run.operator, { decision: 'approve', digest })
    expect(await move('PROBE', {})).toMatchObject({ allowed: true, phase: 'PROBE' })

    const test_files = { test_files: [{ path: 'tests/lichen.test.js', covers: ['AC1'] }] }
    expect((await move('WRITE', { test_files, test_run_result: RED })).codes).toEqual([
      'check_failed:tests_exist_for_acceptance_criteria',
    ])
    mkdirSync(join(run.workspace, 'tests'))
    writeFileSync(join(run.workspace, 'tests/lichen.test.js'), 'probe')
    expect((await move('WRITE', { test_files, test_run_result: GREEN })).codes).toEqual([
      'check_failed:tests_are_failing',
      'check_failed:tests_are_failing',
    ])
    expect(await move('WRITE', { test_files, test_run_result: RED })).toMatchObject({ allowed: true })

    const implementation_files = {
      files_changed: [{ path: 'notes/lichen.md', change_type: 'created' }],
      summary: 'The note',
    }
    expect((await move('READ', { implementation_files, test_run_result: RED })).codes).toContain(
      'check_failed:all_tests_pass',
    )
    expect(await move('READ', { implementation_files, test_run_result: GREEN })).toMatchObject({ allowed: true })

    expect(
      (await move('FILED', { review_report: { reviews: {}, consolidated_issues: [], blocking_issues: [] } })).codes,
    ).toContain('invalid_artifact:null')
    expect(
      (
        await move('FILED', {
          review_report: { reviews: { colleague: {} }, consolidated_issues: [], blocking_issues: ['wrong species'] },
        })
      ).allowed,
    ).toBe(false)
    expect(
      await move('FILED', {
        review_report: { reviews: { colleague: { comments: ['nice'] } }, consolidated_issues: [], blocking_issues: [] },
      }),
    ).toMatchObject({
      allowed: true,
      phase: 'FILED',
      warnings: [{ check: 'review_comments_addressed' }],
    })
    expect((await move('FILED', { completion_summary: { summary: 'Filed', files_changed: [] } })).codes).toEqual([
      'check_failed:expression',
    ])
    expect(
      await move('FILED', { completion_summary: { summary: 'Filed', files_changed: ['notes/lichen.md'] } }),
    ).toMatchObject({ allowed: true, status: 'completed' })
    expect(run.faults).toEqual([])
    await run.stop()
  })
})
