// An agent of its own process: takes tasks until it is ended. In the phase that STALL_IN names it stops in the middle of its work.
const { URL_BASE, AGENT, TOKEN, STALL_IN = '' } = process.env
const PAUSE_MS = 250

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

async function call(path, token, body) {
  const response = await fetch(`${URL_BASE}/api/v1${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: response.status, body: await response.json() }
}

async function half(task, phase, token) {
  if (STALL_IN !== phase) return
  console.log(JSON.stringify({ stalled: phase, task, token }))
  await new Promise(() => setInterval(() => undefined, 1000))
}

/** Leaves the phase, and gives the token of the next; null: the task is over, or not this agent's any more. */
async function enter(task, token, target_phase) {
  for (;;) {
    const { status, body } = await call('/tasks/transition', token, { task_id: task, target_phase })
    if (status === 200 && body.allowed === true) return body.phase_token ?? null
    console.log(JSON.stringify({ refused: target_phase, task, status, body }))
    if (status !== 429 && status !== 503) return null
    await sleep(PAUSE_MS)
  }
}

async function work(task, phase, token) {
  const use = (tool_name, args) => call('/tools/execute', token, { task_id: task, tool_name, args })
  if (phase === 'PLAN') {
    await use('read_files', { path: 'package.json' })
    await half(task, phase, token)
    return ['BUILD', await enter(task, token, 'BUILD')]
  }
  if (phase === 'BUILD') {
    await use('write_files', { path: `tasks/${task}.mjs`, content: `export const name = '${task}'\n` })
    await half(task, phase, token)
    const test = `import { test } from 'node:test'\nimport { equal } from 'node:assert/strict'\nimport { name } from './${task}.mjs'\ntest('is ${task}', () => equal(name, '${task}'))\n`
    await use('write_files', { path: `tasks/${task}.test.mjs`, content: test })
    return ['COMMIT', await enter(task, token, 'COMMIT')]
  }
  // What an agent before this one has committed is not committed again.
  await use('git_commit', { message: `Work of ${task}` })
  await half(task, phase, token)
  return ['DONE', await enter(task, token, 'DONE')]
}

for (;;) {
  const claimed = await call('/tasks/claim', TOKEN, { agent_id: AGENT })
  if (claimed.status !== 200) {
    await sleep(PAUSE_MS)
    continue
  }
  let [phase, token] = [claimed.body.phase, claimed.body.phase_token]
  while (token !== null) [phase, token] = await work(claimed.body.task.id, phase, token)
}
