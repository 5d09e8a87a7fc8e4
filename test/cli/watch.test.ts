import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { built, Place, type Server } from './program.js'

const place = new Place()
let server: Server

// The message of an alert reaches terminals: what it could do to them must not.
const CONTRACT = `
name: watched
version: "1"
phases:
  - id: REVIEW
    allowed_tools: []
    auto_spawn: [{agent_type: review, models: [security, quality], wait_for_completion: true}]
    gates: [{id: ok, type: validation, blockers: []}]
  - {id: DONE, allowed_tools: []}
monitoring:
  alerts: [{condition: task_stuck_in_phase, above_seconds: 1, message: "Look \\e[31mat it"}]
`

beforeAll(async () => {
  await built()
  writeFileSync(join(place.work, 'agent_workflow.yaml'), CONTRACT)
  server = await place.serve()
})

test('[REQ-SLOT-1] [REQ-ALERT-4] status, task show and the log say whom a task waits for and which alert is raised', async () => {
  const task = await place.json(['task', 'add', 'Look at it', '--id', 'job'])
  expect(task).toMatchObject({ id: 'job' })
  const { agent_token } = await place.json(['agent', 'add', 'coder'])
  const claimed = await fetch(`${server.url}/api/v1/tasks/claim`, {
    method: 'POST',
    headers: { authorization: `Bearer ${String(agent_token)}`, 'content-type': 'application/json' },
    body: JSON.stringify({ agent_id: 'coder', task_id: 'job' }),
  })
  expect(claimed.status).toBe(200)
  const deadline = Date.now() + 20_000
  while (!server.output().includes('alert: task job') && Date.now() < deadline)
    await new Promise((resolve) => setTimeout(resolve, 100))
  const line = server
    .output()
    .split('\n')
    .find((one) => one.includes('alert: task job'))
  expect(JSON.parse(line ?? '')).toMatchObject({
    ...{ level: 'warn', task_id: 'job', alert: 'task_stuck_in_phase > 1', cleared: false },
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    msg: expect.stringMatching(/^alert: task job task_stuck_in_phase > 1: Look /),
  })
  expect(line).not.toContain('\u001b')
  const { stdout } = await place.run(['status'])
  expect(stdout).toContain('job is waiting for reviewers: security, quality')
  expect(stdout).toMatch(/job\s+task_stuck_in_phase > 1/)
  expect(stdout).not.toContain('\u001b')
  const shown = await place.run(['task', 'show', 'job'])
  expect(shown.stdout).toContain('waiting for reviewers: security, quality')
  expect(shown.stdout).toMatch(/reviewers_wanted .*security/)
})
