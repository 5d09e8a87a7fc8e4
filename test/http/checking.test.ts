import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Activity, TaskDetails, TaskRow } from 'phaselock/sdk'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { formatStatus, type Status } from '../../src/cli/terminal/status-text.js'
import { formatTaskTable, showTask } from '../../src/cli/terminal/task-text.js'
import { renderFrame } from '../../src/cli/terminal/top-frame.js'
import type { JsonObject } from '../../src/core/json.js'
import { buildWorkflowState } from '../../src/mcp/workflow-state.js'
import { admitted } from './asking.js'
import { type Running, start } from './harness.js'

const CONTRACT = `
name: checked
version: "1"
phases:
  - id: WORK
    allowed_tools: [write_files, bash]
    gates: [{id: done, type: validation, blockers: [{check: command_succeeds, run: "sleep 7", message: Slow}]}]
  - {id: DONE, allowed_tools: []}
`

describe('while the gates of a task are checked', () => {
  let run: Running
  let token = ''
  const look = async (path: string, who = run.operator): Promise<JsonObject> =>
    (await run.call('GET', path, who)).body as JsonObject

  beforeEach(async () => {
    run = await start({ contract: CONTRACT })
    writeFileSync(join(run.workspace, 'a.txt'), 'a\n')
    await run.addTask({ id: 't' })
    token = await run.claim('a', await run.addAgent('a'), 't')
  })
  afterEach(() => run.stop())

  /** Every view of the task, and what it says. */
  const views = async (): Promise<Record<string, unknown>> => {
    const file = join(run.stateDir, 'runs/t/status.json')
    const overview = await look('/state/snapshot')
    return {
      task: (await look('/tasks/t')).checking,
      list: ((await look('/tasks')).tasks as JsonObject[])[0]?.checking,
      snapshot: ((await look('/state/snapshot', token)).task as JsonObject).checking,
      overview: (overview.tasks as JsonObject[])[0]?.checking,
      agents: (overview.agents as JsonObject[])[0]?.checking,
      activity: ((await look('/activity')).tasks as JsonObject[])[0]?.checking,
      status: ((await look('/status?run=t')).coordination as JsonObject).checking,
      file: existsSync(file) && JSON.parse(readFileSync(file, 'utf8')).coordination.checking,
      mcp: (await buildWorkflowState(run.app, await admitted(run, token))).checking,
    }
  }
  const all = (value: boolean) =>
    Object.fromEntries(
      ['task', 'list', 'snapshot', 'overview', 'agents', 'activity', 'status', 'file', 'mcp'].map((one) => [
        one,
        value,
      ]),
    )

  it('[REQ-CHECKING-1] every view says so from the first moment to the last, and the status stays active', async () => {
    await expect.poll(views).toEqual(all(false))
    const moving = run.call('POST', '/tasks/transition', token, { task_id: 't', target_phase: 'DONE' })
    await expect.poll(views).toEqual(all(true))
    expect((await look('/tasks/t')).status).toBe('active')
    expect((await moving).body).toMatchObject({ allowed: true })
    expect((await look('/tasks/t')).checking).toBe(false)
    const file = join(run.stateDir, 'runs/t/status.json')
    await expect.poll(() => JSON.parse(readFileSync(file, 'utf8')).coordination.checking).toBe(false)
  })

  it('[REQ-CHECKING-1] it is not an event, and a tree that is taken back is not being checked', async () => {
    const before = await run.app.ledger.store.lastSeq()
    run.app.checking.begin('t', 'tree')
    expect((await look('/tasks/t')).checking).toBe(false)
    run.app.checking.end('t')
    run.app.checking.begin('t', 'gates')
    expect((await look('/tasks/t')).checking).toBe(true)
    run.app.checking.end('t')
    expect(await run.app.ledger.store.lastSeq()).toBe(before)
  })

  it('[REQ-READS-3] the next step is to wait for the answer of that request, not to send another one', async () => {
    const steps = async (): Promise<readonly unknown[]> => [
      (await look('/tasks/t')).next_step,
      (await look('/tasks/t/prompt')).next_step,
      (await look('/state/snapshot', token)).next_step,
      (await buildWorkflowState(run.app, await admitted(run, token))).next_step,
    ]
    for (const step of await steps()) expect(step).toBe('Finish WORK, then request DONE.')
    const moving = run.call('POST', '/tasks/transition', token, { task_id: 't', target_phase: 'DONE' })
    await expect.poll(async () => (await look('/tasks/t')).checking).toBe(true)
    for (const step of await steps()) {
      expect(step).toMatch(/^The gate from WORK to DONE is being checked since \d\d:\d\d:\d\d UTC: wait for the answer/)
      expect(step).not.toContain('Finish WORK')
    }
    expect((await moving).body).toMatchObject({ allowed: true })
    expect((await look('/tasks/t')).next_step).not.toContain('being checked')
  })

  it('[REQ-CHECKING-2] the command line shows it in status, task list, task show and top', async () => {
    const texts = async (): Promise<readonly string[]> => {
      const { agents } = await look('/state/snapshot')
      return [
        formatStatus({ ...EMPTY, active: agents } as unknown as Status),
        formatTaskTable((await look('/tasks')).tasks as unknown as TaskRow[]),
        showTask((await look('/tasks/t')) as unknown as TaskDetails, { events: [], reviews: [] }, 5),
        renderFrame((await look('/activity')) as unknown as Activity, { columns: 120, rows: 20 }).join('\n'),
      ]
    }
    for (const text of await texts()) expect(text).not.toContain('checking')
    run.app.checking.begin('t', 'gates')
    for (const text of await texts()) expect(text).toContain('checking')
    run.app.checking.end('t')
  })
})

const EMPTY: JsonObject = {
  waiting: [],
  ...{ server: {}, contract: {}, paused: null, tasks: { by_status: {} }, run: null },
  ...{ alerts: [], approvals: [], questions: [], parked: [], missing_trees: [] },
}
