import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { built, ROOT } from '../cli/program.js'
import { ANTHROPIC, ModelServer, OPENAI } from '../participants/model-server.js'
import { findPostgres, startPostgres } from '../store/postgres-server.js'
import { startCollector } from './collector.js'
import { installForAll, pack } from './installed.js'
import { makePlace, serve } from './process.js'

const STEP_MS_MAX = 300_000
const CONTRACT = `
name: installed
version: "1"
knowledge: {sources: ["docs/*.md"]}
phases:
  - {id: A, allowed_tools: [bash, read_files, grep]}
  - {id: B, allowed_tools: []}
transitions: [{from: A, to: B}]
enforcement: {confinement: best_effort}
`
/** A test file in each language whose assertions are turned around; \`tsx\` and \`ts\` have a grammar each. */
const TESTS: Readonly<Record<string, string>> = {
  'a.test.js':
    "import test from 'node:test'\nimport assert from 'node:assert'\ntest('a', () => assert.equal(f(1), 2))\n",
  'a.test.ts': "import { expect, it } from 'vitest'\nit('a', () => expect(f(1 as number)).toBe(2))\n",
  'a.test.tsx': "import { expect, it } from 'vitest'\nit('a', () => expect(f(<b>x</b>)).toBe(2))\n",
  'test_a.py': 'def test_a():\n    assert f(1) == 2\n',
  'a_test.go':
    'package a\n\nimport "testing"\n\nfunc TestA(t *testing.T) {\n\tif f(1) != 2 {\n\t\tt.Fatal("no")\n\t}\n}\n',
  'tests/a.rs': '#[test]\nfn a() {\n    assert_eq!(f(1), 2);\n}\n',
}

let dir: string
let folder: string
let program: string
let skipped: string | null = null

beforeAll(async () => {
  await built()
  dir = mkdtempSync(join(tmpdir(), 'phaselock-features-'))
  const done = installForAll(pack(ROOT, dir).file, join(dir, 'prefix'))
  if (done.status !== 0) skipped = `packages cannot be installed: ${done.stderr.slice(-300)}`
  folder = join(dir, 'prefix/lib/node_modules/phaselock')
  program = join(dir, 'prefix/bin/phaselock')
}, STEP_MS_MAX)
afterAll(() => rmSync(dir, { recursive: true, force: true }))

async function startInstalled(environment: NodeJS.ProcessEnv = {}) {
  const place = { ...(await makePlace()), program }
  const contract = join(place.dir, 'contract.yaml')
  writeFileSync(contract, CONTRACT)
  mkdirSync(join(place.workspace, 'docs'))
  writeFileSync(join(place.workspace, 'docs/launch.md'), '# Launch\n\nThe launch codeword is marmalade.\n')
  const server = await serve(place, contract, { PHASELOCK_EMBEDDINGS: 'none', ...environment })
  const end = async () => {
    await server.stop()
    place.remove()
  }
  return { place, server, end }
}

/** Claims a new task. */
async function claim({ server }: Awaited<ReturnType<typeof startInstalled>>): Promise<string> {
  await server.call('POST', '/tasks', server.operator, { title: 'Launch', id: 't1' })
  const { body: agent } = await server.call('POST', '/agents', server.operator, { agent_id: 'ada' })
  const asked = { agent_id: 'ada', task_id: 't1' }
  const { body } = await server.call('POST', '/tasks/claim', String(agent.agent_token), asked)
  return String(body.phase_token)
}

function runProgram(args: readonly string[], env: NodeJS.ProcessEnv): Promise<{ code: number | null; output: string }> {
  const child = spawn(program, args, { cwd: dir, env: { PATH: process.env.PATH, HOME: dir, ...env } })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, output })))
}

describe('the installed package', () => {
  it('[REQ-PACKAGE-10] runs tools, searches knowledge, writes JSON lines, exports traces and draws a report', async () => {
    if (skipped !== null) return console.warn(`SKIPPED: ${skipped}`)
    const collector = await startCollector()
    const started = await startInstalled({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_BSP_SCHEDULE_DELAY: '200',
      OTEL_METRIC_EXPORT_INTERVAL: '500',
    })
    const { server, place } = started
    try {
      const token = await claim(started)
      const use = (tool_name: string, args: object) =>
        server.call('POST', '/tools/execute', token, { task_id: 't1', tool_name, args })
      expect((await use('bash', { command: 'echo ok' })).body).toMatchObject({ result: { stdout: 'ok\n' } })
      expect(JSON.stringify((await use('grep', { pattern: 'codeword' })).body)).toContain('docs/launch.md')
      const search = () => server.call('POST', '/knowledge/search', token, { task_id: 't1', query: 'launch codeword' })
      await expect.poll(async () => JSON.stringify((await search()).body)).toContain('marmalade')
      await expect.poll(() => collector.received.map(({ path }) => path)).toContain('/v1/metrics')
      await expect.poll(() => collector.listSpans().map(({ name }) => name)).toContain('executeTool')
      const file = join(place.dir, 'report.html')
      const env = { HOME: place.dir, PHASELOCK_URL: `http://127.0.0.1:${place.port}` }
      const tokens = ['--token-file', join(place.stateDir, 'operator.token')]
      const report = await runProgram(['report', 't1', '--html', file, ...tokens], env)
      expect(report.code, report.output).toBe(0)
      expect(readFileSync(file, 'utf8')).toContain('<svg')
      const lines = server
        .output()
        .split('\n')
        .filter((line) => line.startsWith('{'))
      expect(
        lines.map((line) => JSON.parse(line)).filter(({ level, pid }) => level === undefined || pid === undefined),
      ).toEqual([])
    } finally {
      await started.end()
      collector.close()
    }
  })

  it('[REQ-PACKAGE-10] keeps its ledger in PostgreSQL', async () => {
    const bin = findPostgres()
    if (skipped !== null || bin === null) return console.warn(`SKIPPED: ${skipped ?? 'PostgreSQL is not installed'}`)
    const postgres = await startPostgres(bin)
    const started = await startInstalled({
      PHASELOCK_STORE: await postgres.createDatabase(),
      ORCHESTRATOR_JWT_SECRET: 'a secret of more than thirty-two bytes',
    })
    try {
      expect(await claim(started)).toMatch(/^ey/)
      const { body } = await started.server.call('GET', '/audit/verify', started.server.operator)
      expect(body).toMatchObject({ ok: true, problems: [] })
    } finally {
      await started.end()
      postgres.remove()
    }
  })

  it.each([OPENAI, ANTHROPIC])('[REQ-PACKAGE-10] asks a model of $provider in a council', async (dialect) => {
    if (skipped !== null) return console.warn(`SKIPPED: ${skipped}`)
    const model = await ModelServer.start()
    const started = await startInstalled({ KEY: 'k' })
    const { place } = started
    try {
      const pieces = [JSON.stringify({ content: 'A small cache.' })]
      const calls = [{ id: 'call1', name: 'new_answer', pieces }]
      model.will(...Array.from({ length: 4 }, () => dialect.answer({ text: ['So:'], calls })))
      const agent = {
        id: 'm',
        kind: 'model',
        provider: dialect.provider,
        base_url: model.url,
        model: 'm',
        api_key_env: 'KEY',
      }
      const file = join(place.dir, 'council.yaml')
      writeFileSync(file, JSON.stringify({ agents: [agent] }))
      const env = { HOME: place.dir, PHASELOCK_URL: `http://127.0.0.1:${place.port}` }
      const tokens = ['--token-file', join(place.stateDir, 'operator.token')]
      const ran = await runProgram(['coordinate', '-c', file, '--timeout', '60', ...tokens, 'Which cache?'], env)
      expect(
        model.asked.map(({ path }) => path),
        ran.output,
      ).toContain(dialect.path)
      expect(ran.output).toContain('A small cache.')
    } finally {
      await started.end()
      await model.stop()
    }
  })

  it.each(Object.entries(TESTS))(
    '[REQ-PACKAGE-10] turns the assertions of %s around for a gate',
    async (path, text) => {
      if (skipped !== null) return console.warn(`SKIPPED: ${skipped}`)
      const worker = new Worker(join(folder, 'dist/program/invert-worker.js'), { execArgv: [] })
      try {
        const answered = new Promise((resolve, reject) => {
          worker.once('message', resolve)
          worker.once('error', reject)
        })
        worker.postMessage({ path, text, seed: 'seed' })
        expect(await Promise.race([answered, sleep(STEP_MS_MAX)])).toMatchObject({
          outcome: 'rewritten',
          turnedAssertions: [expect.anything()],
        })
      } finally {
        await worker.terminate()
      }
    },
  )
})
