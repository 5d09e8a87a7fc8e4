import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { formatApproval } from '../../src/cli/terminal/approval-text.js'
import type { JsonObject } from '../../src/core/json.js'
import { exampleTask, planWith, startExamples } from './exampling.js'
import { type Running, start } from './harness.js'

const MARKER = 'heldout-7391-marker'
const VISIBLE = { run: 'node src/add.mjs 2 3', expect: { stdout: '5' } }
const HELD_OUT = {
  examples: [
    { criterion: 'AC-1', run: `node src/add.mjs 20 22 ${MARKER}`, stdin: MARKER, expect: { stdout: '42' } },
    { run: 'node src/add.mjs 1 1', expect: { matches: '^2\\n?$' } },
  ],
}
const HONEST = 'console.log(Number(process.argv[2]) + Number(process.argv[3]))\n'
const TO_THE_EXAMPLE = 'console.log(5)\n'

describe('examples', () => {
  let run: Running
  beforeAll(async () => {
    run = await startExamples()
  })
  afterAll(() => run.stop())

  it('[REQ-EXAMPLES-1] a plan with an example that cannot be read is refused, with its place', async () => {
    const task = await exampleTask(run)
    const refused = await task.move('IMPL', planWith(VISIBLE, { run: 'x', expect: { stdot: '5' } }))
    expect(refused.body).toMatchObject({ allowed: false, blockers: [{ code: 'invalid_artifact' }, {}] })
    expect(task.message(refused)).toContain(
      `plan_document/acceptance_criteria/0/examples/1/expect criterion AC-1, example 2: "stdot" is not known. Did you mean 'stdout'?`,
    )
    expect((await task.move('IMPL', planWith(VISIBLE))).body).toMatchObject({ allowed: true, phase: 'IMPL' })
  })

  it('[REQ-EXAMPLES-2] [REQ-EXAMPLES-3] each example is run and compared outside of the process', async () => {
    const task = await exampleTask(run)
    const server = `node -e "require('http').createServer((q,r)=>{let b='';q.on('data',d=>b+=d);q.on('end',()=>r.end(JSON.stringify({p:q.url,b})))}).listen(process.env.PORT)"`
    await task.move(
      'IMPL',
      planWith(
        VISIBLE,
        { run: 'cat', stdin: '{"b":1,"a":[2]}', expect: { stdout_json: { a: [2], b: 1 } } },
        { run: 'echo wrong >&2; exit 3', expect: { exit_code: 3 } },
        { run: 'echo version 12', expect: { matches: 'version \\d+' } },
        {
          run: server,
          expect: { http: { port: 4321, method: 'POST', path: '/x', body: 'hi', json: { p: '/x', b: 'hi' } } },
        },
        { run: 'touch src/left-behind && ls src', expect: { stdout: 'add.mjs\nleft-behind' } },
        { run: 'ls src', expect: { stdout: 'add.mjs' } },
      ),
    )
    const blocked = await task.move('REVIEW')
    expect(task.message(blocked)).toBe(
      'The examples must hold: criterion AC-1, example 1, "node src/add.mjs 2 3": expected stdout "5", got "0\\n"',
    )
    expect(blocked.body).toMatchObject({ blockers: [{ check: 'examples_hold', grade: 'observed' }] })
    // The plan is closed: another one is not looked at.
    const weaker = await task.move('REVIEW', planWith({ run: 'true', expect: { exit_code: 0 } }))
    expect(task.message(weaker)).toBe(task.message(blocked))
    await task.put('src/add.mjs', TO_THE_EXAMPLE)
    expect((await task.move('REVIEW')).body).toMatchObject({ allowed: true })
  })

  it('[REQ-EXAMPLES-1] the approval of the plan in tdd shows them and is bound to them', async () => {
    const tdd = await start()
    await tdd.addTask({ id: 't' })
    const token = await tdd.claim('a', await tdd.addAgent('a'), 't')
    const ask = async (stdout: string) => {
      const artifacts = planWith({ run: 'node add.mjs', expect: { stdout } })
      const asked = await tdd.call('POST', '/tasks/transition', token, { task_id: 't', target_phase: 'TDD', artifacts })
      const { id } = asked.body.pending_approval as { id: string }
      return (await tdd.call('GET', `/approvals/${id}`, tdd.operator)).body
    }
    const first = await ask('5')
    expect(first).toMatchObject({ contents: planWith({ run: 'node add.mjs', expect: { stdout: '5' } }) })
    const text = formatApproval(first as JsonObject)
    expect(text).toMatch(/run: node add\.mjs/)
    expect(text).toMatch(/stdout: 5/)
    expect((await ask('6')).digest).not.toBe(first.digest)
    await tdd.stop()
  })

  it('[REQ-EXAMPLES-2] without examples the gate says nothing', async () => {
    const task = await exampleTask(run)
    await task.move('IMPL', planWith())
    expect((await task.move('REVIEW')).body).toMatchObject({ allowed: true, warnings: [] })
  })

  it('[REQ-EXAMPLES-4] code that is written to the visible example is blocked, the honest one passes, and no agent sees why', async () => {
    const task = await exampleTask(run, { held_out: HELD_OUT })
    await task.move('IMPL', planWith(VISIBLE))
    await task.put('src/add.mjs', TO_THE_EXAMPLE)
    const blocked = await task.move('REVIEW')
    expect(task.message(blocked)).toBe(
      'The examples must hold: A held-out example of AC-1 does not hold. A held-out example of the task does not hold.',
    )
    await sweep(task.id, [task.agent, task.token])
    const command = `cat /proc/[0-9]*/environ; grep -rl ${MARKER.slice(0, -1)}[r] . /tmp /run 2>/dev/null; true`
    const looked = await run.call('POST', '/tools/execute', task.token, {
      ...{ task_id: task.id, tool_name: 'bash', args: { command } },
    })
    expect(looked).toMatchObject({ status: 200, body: { result: { exit_code: 0, stdout: expect.any(String) } } })
    expect(JSON.stringify(looked.body.result)).not.toContain(MARKER)
    // The ledger holds them, and nothing else on the disk does.
    const found = filesWith(MARKER, join(run.workspace, '..')).map((path) => basename(path).replace(/-wal$/, ''))
    expect([...new Set(found)]).toEqual(['ledger.db'])
    await task.put('src/add.mjs', HONEST)
    expect((await task.move('REVIEW')).body).toMatchObject({ allowed: true, phase: 'REVIEW' })
  })

  it('[REQ-EXAMPLES-4] operators see them and how they failed; wrong ones make no task', async () => {
    const task = await exampleTask(run, { held_out: HELD_OUT })
    const shown = await run.call('GET', `/tasks/${task.id}/held-out`, run.operator)
    expect(shown.body).toMatchObject({ count: 2, failures: 0, examples: HELD_OUT.examples, last_failure: null })
    for (const token of [task.agent, task.token])
      expect((await run.call('GET', `/tasks/${task.id}/held-out`, token)).status).toBe(403)
    const add = (held_out: unknown) => run.call('POST', '/tasks', run.operator, { title: 'x', held_out })
    const wrong = await add({ examples: [{ run: MARKER, expct: {} }] })
    expect(wrong).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
    expect(String(wrong.body.detail)).toMatch(
      /held_out\/examples\/0 example 1: "expct" is not known. Did you mean 'expect'/,
    )
    expect((await add({ examples: [] })).status).toBe(400)
    expect((await run.call('POST', '/tasks', task.agent, { title: 'x', held_out: HELD_OUT })).status).toBe(403)
  })

  // Every route that answers a GET, with whatever stands for its parameters, over each token of the agent.
  async function sweep(taskId: string, tokens: readonly string[]): Promise<void> {
    const { paths } = (await run.call('GET', '/openapi.json', run.operator)).body as { paths: Record<string, object> }
    const gets = Object.entries(paths).filter(([, methods]) => 'get' in methods)
    expect(gets.length).toBeGreaterThan(30)
    let answered = 0
    for (const token of tokens)
      for (const [path] of gets) {
        const asked = path.replace(/\{(task_)?id\}/g, taskId).replace(/\{[^}]+\}/g, 'plan_document')
        const text = await textOf(asked, token)
        expect(text, asked).not.toContain(MARKER)
        expect(text, asked).not.toContain('src/add.mjs 1 1')
        answered += text === '' ? 0 : 1
      }
    expect(answered).toBeGreaterThan(30)
  }

  // Streams never end: what they say in a moment is enough.
  async function textOf(path: string, token: string): Promise<string> {
    const headers = { authorization: `Bearer ${token}` }
    const answer = await fetch(`${run.url}${path}`, { headers, signal: AbortSignal.timeout(400) }).catch(() => null)
    expect(answer?.status).not.toBe(429)
    if (answer?.body == null) return ''
    let text = ''
    const decoder = new TextDecoder()
    try {
      for await (const chunk of answer.body) text += decoder.decode(chunk as Uint8Array, { stream: true })
    } catch {
      return text
    }
    return text
  }
})

function filesWith(text: string, folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => readFileSync(path).includes(text))
}
