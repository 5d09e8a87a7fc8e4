import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { start } from './harness.js'
import { type Worker, workerOf } from './phasing.js'

const MARK = 'SEALED'
const FIRST = `# Phase 1: Look

Read the file.

## Checkpoint

Must provide \`function_count\`: the number of functions, at least 1.
Required: \`functions_list\` a list of their names, non-empty.

## Example

\`\`\`json
{"function_count": 3, "functions_list": ["a", "b", "c"]}
\`\`\`
`
const SECOND = `# Phase 2: Write

${MARK} is what to write.

## Checkpoint

- [ ] All written ${MARK} {#all_written}

## Example

\`\`\`json
{"all_written": true, "note": "${MARK}"}
\`\`\`
`
const THIRD = `# Phase 3: Tidy\n\n## Checkpoint\n\n- \`files\` (integer, at least 1): ${MARK}\n`
const FILES = {
  'metadata.yaml':
    'workflow_type: demo\nversion: "1"\nname: A demo\nallowed_tools: [read_files, grep]\nphases:\n  - {phase_number: 2, tasks_in_order: true}\nenforcement: {reconcile: off, denial_budget: 100}\n',
  'phases/1/phase.md': FIRST,
  'phases/2/phase.md': SECOND,
  'phases/2/task-1-outline.md': `# Outline\n\nWrite the outline ${MARK}.\n`,
  'phases/2/task-2-fill.md': `# Fill in\n\nFill it in ${MARK} SECONDTASK.\n`,
  'phases/3/phase.md': THIRD,
}
const LOOKED = { function_count: 3, functions_list: ['a', 'b', 'c'] }

describe('a workflow of documents', () => {
  let one: Worker
  let folder = ''
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'phaselock-demo-'))
    for (const [name, text] of Object.entries(FILES)) {
      mkdirSync(join(folder, dirname(name)), { recursive: true })
      writeFileSync(join(folder, name), text)
    }
    const run = await start({ contractFile: folder })
    await run.addTask({ id: 't' })
    const agent = await run.addAgent('a')
    one = workerOf(run, agent, await run.claim('a', agent, 't'))
  })
  afterEach(async () => {
    await one.run.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  const next = (claims: object) => one.run.call('POST', '/prompt/next', one.token, { claims })

  it('[REQ-PHASE-19] a skip is refused with integers, the whole current document and no word of another', async () => {
    const answer = await one.get('3')
    expect(answer.body).toMatchObject({
      error: 'phase_sequence_violation',
      violation_type: 'attempted_skip',
      message: 'Cannot access Phase 3',
      reason: 'Currently on Phase 1',
      required_action: 'Complete Phase 1 checkpoint first',
      current_phase_content: { content: expect.stringContaining('Read the file.') },
      artifacts_available: {},
      progress: { completed: [], current: 1, total: 3 },
    })
    expect(JSON.stringify(answer.body)).not.toContain(MARK)
    expect((await one.get('4')).body.code).toBe('unknown_phase')
    expect((await one.get('01')).body.code).toBe('unknown_phase')
  })

  it('[REQ-PHASE-19] the document is the content, the prompt and the source of examples and format', async () => {
    expect((await one.get('1')).body).toMatchObject({
      phase_number: 1,
      phase_content: { content: FIRST.trimEnd(), sources: ['phases/1/phase.md'], total_tokens: expect.any(Number) },
      checkpoint_criteria: {
        required_evidence: { function_count: { type: 'integer', source: 'phases/1/phase.md:7' } },
      },
    })
    expect((await one.run.call('GET', '/prompt', one.token)).body.text).toBe(FIRST.trimEnd())
    expect((await one.complete('1', {})).body).toMatchObject({
      checkpoint_passed: false,
      current_phase: 1,
      missing_evidence: [
        expect.stringMatching(/^function_count \(required: /),
        expect.stringMatching(/^functions_list \(/),
      ],
      examples: LOOKED,
      required_format: { functions_list: { type: 'array' } },
    })
  })

  it('[REQ-PHASE-19] phases are completed by their numbers, and outputs are handed on by number', async () => {
    const answer = await one.complete('1', LOOKED)
    expect(answer.body).toMatchObject({
      checkpoint_passed: true,
      phase_completed: 1,
      next_phase: 2,
      next_phase_content: { content: expect.stringContaining('# Phase 2: Write') },
      artifacts_available: { 1: LOOKED },
    })
    expect(JSON.stringify(answer.body)).not.toContain('at least 1): SEALED')
    expect((await one.get('1')).body).toMatchObject({ phase_number: 1, artifacts_from_previous: {} })
  })

  it('[REQ-PHASE-20] tasks of a phase are handed out one at a time, in order', async () => {
    const entered = await one.complete('1', LOOKED)
    expect(entered.body.tasks).toMatchObject({ current: { id: 'task-1' }, done: [], total: 2 })
    const hidden = 'SECONDTASK'
    expect(JSON.stringify(entered.body)).not.toContain(hidden)
    expect(JSON.stringify((await one.get('2')).body)).not.toContain(hidden)
    // A later task cannot be claimed, and evidence does not stand for a task.
    const skipped = await next({ 'task-2': true })
    expect(skipped).toMatchObject({ status: 409, body: { code: 'phase_sequence_violation' } })
    const refused = await one.complete('2', { all_written: true })
    expect(refused.body.missing_evidence).toEqual(['task-1 (required: finish Outline; 1 more to follow)'])
    expect(JSON.stringify([skipped.body, refused.body])).not.toContain(hidden)
    const second = await next({ 'task-1': true })
    expect(second.body.text).toContain(hidden)
    expect((await next({ 'task-1': true })).status).toBe(200)
    expect((await one.get('2')).body.tasks).toMatchObject({ current: { id: 'task-2' }, done: ['task-1'] })
    expect((await next({ 'task-2': true })).status).toBe(200)
    expect((await one.complete('2', { all_written: true })).body).toMatchObject({ next_phase: 3 })
  })

  it('[REQ-PHASE-20] claiming both tasks at once does both in order; the other way round there is no skipping', async () => {
    await one.complete('1', LOOKED)
    expect((await next({ 'task-2': true, 'task-1': true })).status).toBe(200)
    expect((await one.get('2')).body.tasks).toMatchObject({ current: null, done: ['task-1', 'task-2'] })
  })
})
