// An agent that takes one task of the bundled contract `tdd` through all five phases. A human approves its plan.
// PHASELOCK_URL=http://localhost:8000 PHASELOCK_TOKEN=… PHASELOCK_AGENT_ID=coder node dist/examples/agent.js
import { AgentClient, type JsonObject, TransitionBlocked } from 'phaselock/sdk'

const client = AgentClient.fromEnv()
const { task } = await client.claimTask()
console.log(`${task.id}: ${task.title}`)

/** Leaves the phase, and waits for the human where one has to agree. */
async function enter(phase: string, artifacts: JsonObject): Promise<void> {
  try {
    await client.requestTransition(phase, artifacts)
  } catch (error) {
    if (!(error instanceof TransitionBlocked) || error.pendingApproval === null) throw error
    console.log(`waiting for approval ${error.pendingApproval.id}`)
    await client.waitForApproval()
    await client.requestTransition(phase, artifacts)
  }
  console.log(client.phase ?? 'done')
}

// PLAN: say what will be different, and how it can be told.
const plan_document = {
  title: 'Say welcome by name',
  acceptance_criteria: [{ id: 'AC1', criterion: 'welcome(name) carries the name', how_to_verify: 'a unit test' }],
  implementation_steps: ['write the test', 'write welcome()'],
  scope: { in_scope: ['welcome()'], out_of_scope: ['other languages'] },
}
await enter('TDD', { plan_document })

// TDD: a test that fails, because there is nothing to test yet. Phaselock runs it itself.
const test = `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { welcome } from '../src/welcome.js'
test('a welcome carries the name', () => assert.equal(welcome('Ada'), 'Welcome, Ada!'))
`
await client.useTool('write_files', { path: 'tests/welcome.test.js', content: test })
await enter('IMPL', { test_files: { test_files: [{ path: 'tests/welcome.test.js', covers: ['AC1'] }] } })

// IMPL: the least that makes it pass.
const code = "export const welcome = (name) => 'Welcome, ' + name + '!'\n"
await client.useTool('write_files', { path: 'src/welcome.js', content: code })
const files_changed = [{ path: 'src/welcome.js', change_type: 'created' }]
await enter('REVIEW', { implementation_files: { files_changed, summary: 'welcome() by name' } })

await enter('COMPLETE', { review_report: { reviews: { self: { status: 'completed' } }, blocking_issues: [] } })
await client.useTool('git_commit', { message: 'Say welcome by name' })
await enter('COMPLETE', { completion_summary: { summary: 'welcome() is there', files_changed: ['src/welcome.js'] } })
client.close()
