// The honest agent of `phaselock demo`: takes one task of the bundled contract `tdd` through all five phases.
// It is an agent like any other: a process with PHASELOCK_URL, PHASELOCK_TOKEN and PHASELOCK_AGENT_ID.
// For whoever watches it says each step as one line of JSON.
import { AgentClient, TransitionBlocked } from 'phaselock/sdk'

const APPROVAL_SECONDS_MAX = 600

const client = AgentClient.fromEnv()

function say(phase, did, more = {}) {
  console.log(JSON.stringify({ phase, did, ...more }))
}

async function use(did, tool, args) {
  const { phase } = client
  const { result } = await client.useTool(tool, args)
  say(phase, did, tool === 'run_tests' ? { note: `${result.passed} passed, ${failedIn(result)} failed` } : {})
  return result
}

// A file that does not load has no failed test to count, only a failure.
function failedIn({ failed, failures }) {
  return Math.max(failed, failures?.length ?? 0)
}

/** Leaves the phase, and waits for the human where one has to agree. */
async function enter(did, target, artifacts) {
  const { phase } = client
  try {
    await client.requestTransition(target, artifacts)
  } catch (error) {
    if (!(error instanceof TransitionBlocked) || error.pendingApproval === null) throw error
    const [{ code, message }] = error.blockers
    say(phase, did, { code, why: message, approval: error.pendingApproval.id })
    const { status } = await client.waitForApproval(undefined, { timeoutSeconds: APPROVAL_SECONDS_MAX })
    if (status !== 'approved') throw new Error(`the plan is ${status}`)
    await client.requestTransition(target, artifacts)
    return say(phase, `asks for ${target} again`)
  }
  say(phase, did)
}

const { task } = await client.claimTask()
say(client.phase, `claims "${task.title}"`)

// PLAN: say what will be different, and how it can be told.
await use('reads src/greet.js', 'read_files', { path: 'src/greet.js' })
const plan_document = {
  title: 'Say goodbye by name',
  acceptance_criteria: [{ id: 'AC1', criterion: 'goodbye(name) carries the name', how_to_verify: 'a unit test' }],
  implementation_steps: ['write the test', 'write goodbye()'],
  scope: { in_scope: ['goodbye()'], out_of_scope: ['other languages'] },
}
await enter('hands in a plan and asks for TDD', 'TDD', { plan_document })

// TDD: a test that fails, because there is nothing to test yet.
const test = `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { goodbye } from '../src/goodbye.js'

test('a goodbye carries the name', () => {
  assert.equal(goodbye('Ada'), 'Goodbye, Ada!')
})
`
await use('writes tests/goodbye.test.js', 'write_files', { path: 'tests/goodbye.test.js', content: test })
await use('runs the tests', 'run_tests', {})
const test_files = [{ path: 'tests/goodbye.test.js', covers: ['AC1'] }]
await enter('asks for IMPL: the tests fail', 'IMPL', { test_files: { test_files } })

// IMPL: the least that makes it pass.
const code = `export function goodbye(name) {
  return 'Goodbye, ' + name + '!'
}
`
await use('writes src/goodbye.js', 'write_files', { path: 'src/goodbye.js', content: code })
const files_changed = [{ path: 'src/goodbye.js', change_type: 'created' }]
const implementation_files = { files_changed, summary: 'goodbye() says goodbye by name' }
await enter('asks for REVIEW: they pass', 'REVIEW', { implementation_files })

// REVIEW: read what was changed.
await use('reads the diff', 'git_diff', {})
const review_report = { reviews: { self: { status: 'completed' } }, blocking_issues: [] }
await enter('finds no issue, asks for COMPLETE', 'COMPLETE', { review_report })

const { commit } = await use('commits', 'git_commit', { message: 'Say goodbye by name' })
const completion_summary = {
  summary: 'goodbye() says goodbye by name.',
  files_changed: ['src/goodbye.js', 'tests/goodbye.test.js'],
  acceptance_criteria_met: ['AC1'],
}
await enter(`is done, with commit ${commit.slice(0, 7)}`, 'COMPLETE', { completion_summary })
client.close()
