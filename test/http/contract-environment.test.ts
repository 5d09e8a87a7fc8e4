import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Running, start } from './harness.js'

const MARK = randomBytes(8).toString('hex')
const ODD = `it's "odd" $(id) end`
// The name of the failing test is what the run is asked for: which files the loader wrote, and the value.
const SHOW = 'files=$(LD_DEBUG= ls /tmp | LD_DEBUG= tr "\\n" " "); echo "1..1"; echo "not ok 1 - $files <$ODD>"; exit 1'
const contractWith = (env: Readonly<Record<string, string>>) => ({
  name: 'environment',
  version: '1',
  phases: [{ id: 'A', allowed_tools: ['run_tests'] }, { id: 'B' }],
  transitions: [{ from: 'A', to: 'B' }],
  commands: { tests: { run: SHOW, format: 'tap', env } },
})

let run: Running
beforeAll(async () => {
  const env = { ODD, LD_DEBUG: 'libs', LD_DEBUG_OUTPUT: `/tmp/loaded-${MARK}` }
  run = await start({ contract: JSON.stringify(contractWith(env)) })
})
afterAll(() => run.stop())

it('[REQ-WALL-15] a contract whose variable is named like a shell command does not load', async () => {
  const file = join(run.stateDir, `ran-${MARK}`)
  const post = (name: string) =>
    run.call('POST', '/contracts', run.operator, { contract: contractWith({ [name]: 'y' }) })
  const refused = await post(`A=1; touch ${file}; B`)
  expect(refused.status).toBe(400)
  expect(JSON.stringify(refused.body)).toContain('is not a name of an environment variable')
  expect(existsSync(file)).toBe(false)
  expect((await post('A')).status).toBeLessThan(300)
})

it('[REQ-WALL-15] variables of the loader act on the command, and on nothing that starts it', async () => {
  await run.addTask({ id: 't' })
  const token = await run.claim('a', await run.addAgent('a'), 't')
  const ran = await run.call('POST', '/tools/execute', token, { task_id: 't', tool_name: 'run_tests', args: {} })
  const outside = readdirSync('/tmp').filter((name) => name.startsWith(`loaded-${MARK}`))
  for (const name of outside) rmSync(join('/tmp', name))
  expect(outside).toEqual([])
  // Inside, the loader wrote down what it loaded, and the value arrived as it is.
  expect(ran).toMatchObject({ status: 200, body: { result: { failed: 1 } } })
  expect(JSON.stringify(ran.body)).toContain(`loaded-${MARK}.`)
  expect(JSON.stringify(ran.body)).toContain(JSON.stringify(`<${ODD}>`).slice(1, -1))
})
