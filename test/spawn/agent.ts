/** A small agent: `agent.mjs WORD…`, each word a step. It speaks plain HTTP, so that a test sees what was answered. */
export const AGENT = `
import { readFileSync, writeFileSync, readdirSync } from 'node:fs'
import { connect } from 'node:net'
const { PHASELOCK_URL: url, PHASELOCK_TOKEN: token, PHASELOCK_AGENT_ID: me, PHASELOCK_TASK_ID: task } = process.env
const call = async (method, path, body, bearer = token) => {
  const headers = { authorization: 'Bearer ' + bearer, ...(body === undefined ? {} : { 'content-type': 'application/json' }) }
  const answer = await fetch(url + '/api/v1' + path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) })
  return { status: answer.status, body: await answer.json() }
}
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const reach = (...to) => new Promise((resolve) => {
  const socket = connect(...to)
  socket.setTimeout(1500, () => { resolve('silent'); socket.destroy() })
  socket.on('connect', () => { resolve('REACHED'); socket.destroy() })
  socket.on('error', (error) => resolve(error.code))
})
const tries = (work) => { try { return work() } catch (error) { return error.code } }
let phase = null
const claim = async () => {
  const { status, body } = await call('POST', '/tasks/claim', { agent_id: me })
  phase = body.phase
  console.log('claim', status, body.code ?? body.task?.id, phase)
}
const steps = {
  claim,
  go: async (to) => {
    const { status, body } = await call('POST', '/tasks/transition', { task_id: task, target_phase: to })
    console.log('go', to, status, body.allowed, body.code ?? '')
  },
  whole: async () => {
    await claim()
    for (const to of ['BUILD', 'DONE']) if (to === 'DONE' || phase === 'PLAN') await steps.go(to)
  },
  sdk: async () => {
    const { AgentClient } = await import('orchestrator-agent-sdk')
    const client = AgentClient.fromEnv()
    const claimed = await client.claimTask()
    console.log('sdk', JSON.stringify(claimed).includes(task))
    await client.requestTransition('BUILD', {})
    await client.requestTransition('DONE', {})
  },
  env: async () => console.log('env', readFileSync('/proc/self/environ', 'utf8').replaceAll('\\0', ' ')),
  use: async (what) => {
    const [tool, args] = [what.slice(0, what.indexOf(' ')), JSON.parse(what.slice(what.indexOf(' ')))]
    const { status, body } = await call('POST', '/tools/execute', { task_id: task, tool_name: tool, args })
    console.log('use', tool, status, body.code ?? '')
  },
  say: async (what) => console.log(what),
  saytoken: async () => console.log('token', token, token.split('').join('\\u001b[0m')),
  flood: async () => { for (let at = 0; at < 100000; at += 1) if (!process.stdout.write('x'.repeat(99) + '\\n')) await new Promise((r) => process.stdout.once('drain', r)) },
  exit: async (code) => process.exit(Number(code)),
  hang: async () => { for (;;) await sleep(1000) },
  sleep: async (ms) => sleep(Number(ms)),
  beat: async () => { for (;;) { await call('POST', '/tasks/heartbeat', {}); await sleep(300) } },
  reach: async (port) => console.log('reach', await reach(Number(port), '127.0.0.1'), await reach(8700, '127.0.0.1'), await reach(443, '1.1.1.1')),
  write: async (path) => console.log('write', tries(() => writeFileSync(path, 'x')) ?? 'WRITTEN'),
  read: async (path) => console.log('read', tries(() => readFileSync(path, 'utf8').length)),
  list: async (path) => console.log('list', String(tries(() => readdirSync(path)))),
  prompt: async () => console.log('prompt', readFileSync(0, 'utf8').replaceAll('\\n', ' | ')),
  files: async () => console.log('files', Object.keys(JSON.parse(readFileSync(process.env.PHASELOCK_CONTRACT_FILE, 'utf8'))).length > 0, readFileSync(process.env.PHASELOCK_PROMPT_FILE, 'utf8').length > 0),
  first: async () => { if (tries(() => readFileSync(process.env.HOME + '/prompt.md', 'utf8')).includes('started before')) { console.log('second'); await steps.whole(); process.exit(0) } },
  spawn: async () => console.log('spawn', (await call('POST', '/agents/spawn', { harness: 'command', command: 'node', task: { title: 'more' } })).body.code),
  review: async () => {
    const status = process.argv.includes('changes') ? 'changes_requested' : 'approved'
    const { status: code, body } = await call('POST', '/tasks/' + task + '/reviews', { report: { status, comments: [], blocking_issues: [] } })
    console.log('review', code, body.code ?? body.status)
  },
  judge: async () => {
    const isAgain = readFileSync(process.env.PHASELOCK_PROMPT_FILE, 'utf8').includes('asked for changes before')
    const report = isAgain ? { status: 'approved' } : { status: 'changes_requested', blocking_issues: ['a hole'] }
    const { status, body } = await call('POST', '/tasks/' + task + '/reviews', { report })
    console.log('judge', status, body.code ?? body.status)
  },
  mirror: async () => console.log('mirror', token.split('').reverse().join('')),
  model: async () => {
    const answer = await fetch(process.env.OPENAI_BASE_URL + '/chat', { headers: { authorization: 'Bearer ' + process.env.OPENAI_API_KEY } })
    console.log('model', answer.status, await answer.text(), process.env.OPENAI_API_KEY)
  },
}
for (const word of process.argv.slice(2)) {
  const [name, ...more] = word.split(':')
  if (steps[name]) await steps[name](more.join(':'))
}
`
