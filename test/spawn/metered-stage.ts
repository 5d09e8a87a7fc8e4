import { chmodSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import type { Body, Stage } from './stage.js'

/** Asks its model and its server as its words say: `agent WORD…`. Whatever harness it is started as, it says that it took much more. */
const AGENT = `#!${process.execPath}
const { PHASELOCK_URL: url, PHASELOCK_TOKEN: token, PHASELOCK_TASK_ID: task, OPENAI_BASE_URL: model } = process.env
const headers = { 'content-type': 'application/json', authorization: 'Bearer ' + token }
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const call = async (path, body) => {
  const answer = await fetch(url + '/api/v1' + path, { method: 'POST', headers, body: JSON.stringify(body) })
  return answer.json()
}
const say = (...words) => console.log(process.env.AS_JSON ? JSON.stringify({ type: 'item.completed', item: { type: 'agent_message', text: words.join(' ') } }) : words.join(' '))
const ask = async (what) => (await fetch(model + '/' + what, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' })).text()
const lie = () => console.log(JSON.stringify({ type: 'turn.completed', usage: { input_tokens: 900000, output_tokens: 90000 } }))
const read = () => call('/tools/execute', { task_id: task, tool_name: 'read_files', args: { paths: ['a.txt'] } })
const steps = {
  ask: async (what) => say('asked', what, (await ask(what)).length),
  part: async (what) => {
    const answer = await fetch(model + '/' + what, { method: 'POST', body: '{}' })
    await answer.body.getReader().read()
    say('began', what)
  },
  read: async () => say('read', JSON.stringify((await read()).interrupt ?? null)),
  lie: async () => lie(),
  until: async () => {
    for (let at = 0; at < 200; at += 1) {
      const { interrupt } = await read()
      if (interrupt !== undefined) return say('interrupted', interrupt.violation.rule_type, interrupt.text.includes('Token Budget Exceeded'))
      await sleep(20)
    }
    say('never')
  },
  go: async (to) => { const body = await call('/tasks/transition', { task_id: task, target_phase: to }); say('go', to, body.allowed, body.blockers?.[0]?.code ?? '') },
  release: async () => say('release', (await call('/tasks/release', { task_id: task })).code ?? 'ok'),
  sleep: async (ms) => sleep(Number(ms)),
  hang: async () => { for (;;) await sleep(1000) },
}
for (const word of process.argv.slice(2)) {
  const [name, ...more] = word.split(':')
  if (steps[name]) await steps[name](more.join(':'))
}
`

/** The agent as a file that can be started as any harness. */
export function meteredAgent(stage: Stage): string {
  const path = join(dirname(stage.agent), 'metered')
  writeFileSync(path, AGENT)
  chmodSync(path, 0o755)
  return path
}

export interface FakeModel {
  readonly url: string
  close(): void
}

/** An endpoint that answers each path as it is told to. */
export async function fakeModel(
  answers: Readonly<Record<string, (response: ServerResponse, request: IncomingMessage) => void>>,
): Promise<FakeModel> {
  const server = createServer((request, response) => {
    request.resume()
    const name = (request.url ?? '').split('/').at(-1) ?? ''
    const answer = answers[name]
    if (answer === undefined) response.writeHead(404).end('{}')
    else answer(response, request)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

export async function timeline(stage: Stage, taskId: string): Promise<readonly { type: string; data: Body }[]> {
  const { body } = await stage.server.call('GET', `/tasks/${taskId}/timeline?limit=1000`, stage.server.operator)
  return body.events as { type: string; data: Body }[]
}

/** What was counted for the task. */
export async function tokens(stage: Stage, taskId: string): Promise<Body> {
  const { body } = await stage.server.call('GET', `/tasks/${taskId}/metrics`, stage.server.operator)
  return (body.totals as { tokens: Body }).tokens
}
