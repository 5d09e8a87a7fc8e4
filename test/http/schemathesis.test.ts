import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { installedFromPypi } from '../mcp/packages.js'
import { type Running, start } from './harness.js'

const SCHEMATHESIS = 'schemathesis==4.32.5'
// A longer run: PHASELOCK_SCHEMATHESIS_EXAMPLES=50 PHASELOCK_SCHEMATHESIS_SEED=2.
const EXAMPLES = process.env.PHASELOCK_SCHEMATHESIS_EXAMPLES ?? '3'
const SEED = process.env.PHASELOCK_SCHEMATHESIS_SEED ?? '1'
// With the usual examples it takes a minute for each caller on a machine that does nothing else.
const RUN_MS_MAX = 200_000 * Math.max(3, Number(EXAMPLES))

const CONTRACT = `
name: fuzzed
version: "1"
enforcement: { denial_budget: 100000, max_attempts: 100000, confinement: off }
phases:
  - id: ONLY
    name: Only
    prompt: Do it.
    allowed_tools: [read_files, glob]
    required_artifacts: [{ type: note }]
`

/** Calls that are not made, with the reason. */
const NOT_CALLED: Readonly<Record<string, string>> = {
  spawnAgent: 'starts programs with names of chance',
  startCoordination: 'starts programs with names of chance',
  revokeOperator: 'may end the token of the run',
  streamEvents: 'has no end',
  streamCoordination: 'has no end before its council',
}

const HOOKS = ['hookClaudeCode', 'hookCodex', 'hookGemini', 'hookCursor', 'hookCopilot', 'hookOpencode']

/** Checks that do not hold for some calls, with the reason. */
const NOT_CHECKED: readonly { readonly check: string; readonly ids: readonly string[]; readonly reason: string }[] = [
  {
    check: 'ignored_auth',
    ids: HOOKS,
    reason: 'a hook without a token is refused with 200, in the words of its agent CLI',
  },
  {
    check: 'missing_required_header',
    ids: HOOKS,
    reason: 'the header is that of the token',
  },
  {
    check: 'negative_data_rejection',
    ids: HOOKS,
    reason: 'a hook of the wrong shape is refused with 200, in the words of its agent CLI',
  },
  {
    check: 'allow_header_conformance',
    ids: ['claimTask', 'requestTransition', 'heartbeat', 'releaseTask'],
    reason: '`Allow` has GET and PATCH too: a task may be called claim, and its path is that of `/tasks/{id}`',
  },
]

const CURSOR = 'a cursor is opaque: only an earlier page gives one'
const PHASE = 'the contract of the task names its phases (`unknown_phase`, `no_transition`)'
const KEYS = 'the key `__proto__` is refused in every body, also where a schema leaves the keys open'

/** Calls that refuse requests of the right shape with 400, with the reason: what no schema can say. */
const REFUSED_BY_CONTENT: Readonly<Record<string, string>> = {
  listTasks: CURSOR,
  listApprovals: CURSOR,
  listQuestions: CURSOR,
  listCoordinations: CURSOR,
  queryAudit: CURSOR,
  getPhase: PHASE,
  completePhase: PHASE,
  requestTransition: KEYS,
  executeTool: KEYS,
  checkTool: KEYS,
  batchTools: KEYS,
  getInsights: '`since` may not be after `until`',
  createTask: '`depends_on`, `contract` and `workspace` have to be there',
  getTaskState: 'the ledger has to have an event with the number `at`',
  updateTask: 'a confirmation alone changes nothing',
  addContract: 'the text has to be a contract (`contract.invalid`)',
  rewindTask: PHASE,
  installDependencies: 'the command has to begin with a package manager',
  createConfirmation: 'not every call takes a confirmation',
}

const ACCEPTED = ['2xx', '401', '403', '404', '409', '429', '5xx']

/** Runs schemathesis against the server with a token, over the calls with these tags or over all others. */
async function runSchemathesis(
  tool: string,
  run: Running,
  { token, words }: { readonly token: string; readonly words: readonly string[] },
): Promise<{ readonly code: number; readonly output: string }> {
  const dir = mkdtempSync(join(tmpdir(), 'phaselock-schemathesis-'))
  writeFileSync(join(dir, 'schemathesis.toml'), formatConfig())
  const excluded = Object.keys(NOT_CALLED).flatMap((id) => ['--exclude-operation-id', id])
  const child = spawn(
    'python3',
    [
      ...[join(tool, 'packages/bin/schemathesis'), 'run', `http://localhost:${run.port}/api/v1/openapi.json`],
      ...['-H', `Authorization: Bearer ${token}`, '--max-examples', EXAMPLES, '--seed', SEED],
      ...['--phases', 'examples,coverage,fuzzing,stateful', '--no-color', '--no-shrink', '--warnings', 'off'],
      ...[...excluded, ...words],
    ],
    { cwd: dir, env: { PATH: process.env.PATH, HOME: dir, PYTHONPATH: join(tool, 'packages') }, timeout: RUN_MS_MAX },
  )
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
  const [code] = await once(child, 'close')
  rmSync(dir, { recursive: true, force: true })
  return { code: Number(code), output }
}

function formatConfig(): string {
  // A key of chance that comes twice with two bodies is refused with 422, as it should be.
  const expect = (statuses: readonly string[]) =>
    `positive_data_acceptance.expected-statuses = ${JSON.stringify([...statuses, '422'])}`
  const ids = new Set([...Object.keys(REFUSED_BY_CONTENT), ...NOT_CHECKED.flatMap((exception) => exception.ids)])
  const exceptions = [...ids].flatMap((id) => [
    ...['[[operations]]', `include-operation-id = "${id}"`, '[operations.checks]'],
    expect(id in REFUSED_BY_CONTENT ? [...ACCEPTED, '400'] : ACCEPTED),
    ...NOT_CHECKED.filter((exception) => exception.ids.includes(id)).map(({ check }) => `${check}.enabled = false`),
  ])
  return [`[checks]\n${expect(ACCEPTED)}`, ...exceptions, ''].join('\n')
}

const AGENTS = ['Work', 'Hooks']

describe('schemathesis, with examples, coverage, fuzzing and state', () => {
  it.for([
    ['operator', AGENTS.flatMap((tag) => ['--exclude-tag', tag])],
    ['agent', AGENTS.flatMap((tag) => ['--include-tag', tag])],
  ] as const)(
    '[REQ-SCHEMA-5] finds no answer to an %s that the OpenAPI document does not describe',
    { timeout: RUN_MS_MAX + 60_000 },
    async ([caller, words], { skip }) => {
      const tool = installedFromPypi('schemathesis', [SCHEMATHESIS])
      if (!tool.ok) return skip(tool.reason)
      const run = await start({ contract: CONTRACT, confirm: 'never', agentPerSecond: 100_000 })
      try {
        const agent = await run.addAgent('coder')
        await run.claim('coder', agent, await run.addTask())
        const token = caller === 'operator' ? run.operator : agent
        const { code, output } = await runSchemathesis(tool.dir, run, { token, words })
        console.log(output.slice(output.indexOf('= SUMMARY =')))
        expect(code, output).toBe(0)
        expect(run.faults).toEqual([])
        // Otherwise the run would only have seen refusals.
        expect((await run.call('GET', '/tasks', run.operator)).status).toBe(200)
      } finally {
        await run.stop()
      }
    },
  )
})
