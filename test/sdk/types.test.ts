import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { renderPython, renderPythonTools, renderTypeScript } from '../../scripts/sdk-types.mjs'
import { openApi } from '../../src/http/openapi.js'
import { DESCRIBED } from '../../src/http/routes/all.js'
import { listToolSchemas } from '../../src/mcp/tool-schemas.js'
import { builtSdk, ROOT } from './built.js'
import { installMypy, MYPY_CACHE } from './mypy.js'

const MINUTES_MAX = 240_000
const document = openApi(DESCRIBED)
const tools = listToolSchemas()
let dir: string
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'phaselock-types-'))
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

it.each([
  ['sdk/typescript/src/api.ts', renderTypeScript(document, tools)],
  ['python/src/orchestrator_agent_sdk/types.py', renderPython(document, tools)],
  ['python/src/orchestrator_agent_sdk/_tools.py', renderPythonTools(tools)],
])('[REQ-SDK-27] %s is what the routes and tools give: npm run generate:api writes it', (path, text) => {
  expect(readFileSync(join(ROOT, path), 'utf8') === text, 'run npm run build && npm run generate:api').toBe(true)
})

/** The numbers of the lines that end with the mark of a mistake. */
function listMarked(text: string): readonly number[] {
  return text.split('\n').flatMap((line, index) => (/(?:\/\/|#) wrong$/.test(line) ? [index + 1] : []))
}

/** The numbers of the lines that a checker complains of, each once. */
function listRefused(output: string, pattern: RegExp): readonly number[] {
  return [...new Set([...output.matchAll(pattern)].map(([, line]) => Number(line)))]
}

describe('the types for TypeScript', () => {
  /** Compiles a program that uses the package as it is published, without the types of Node.js. */
  function compile(name: string, files: Readonly<Record<string, string>>): string {
    const place = join(dir, name)
    mkdirSync(join(place, 'node_modules'), { recursive: true })
    symlinkSync(builtSdk(), join(place, 'node_modules/orchestrator-agent-sdk'))
    for (const [path, text] of Object.entries(files)) writeFileSync(join(place, path), text)
    const options = ['--strict', '--noEmit', '--module', 'nodenext', '--lib', 'es2022,dom', '--types', '']
    const tsc = [join(ROOT, 'node_modules/typescript/bin/tsc'), ...options, ...Object.keys(files)]
    return spawnSync(process.execPath, tsc, { cwd: place, encoding: 'utf8' }).stdout
  }

  it('[REQ-SDK-27] a misspelt field of an answer and a wrong argument of a built-in tool do not compile', () => {
    const output = compile('wrong', { 'agent.mts': TYPESCRIPT })
    expect(listRefused(output, /^agent\.mts\((\d+),/gm), output).toEqual(listMarked(TYPESCRIPT))
  })

  it('[REQ-SDK-27] the same program without its mistakes compiles, and so does the one of the README', () => {
    const right = TYPESCRIPT.replace(/^.*\/\/ wrong$/gm, '')
    const readme = readFileSync(join(ROOT, 'sdk/typescript/README.md'), 'utf8')
    const [, example = ''] = /^```ts\n([\s\S]*?)^```/m.exec(readme) ?? []
    expect(example).toContain('useTool')
    expect(compile('right', { 'agent.mts': right, 'readme.mts': example })).toBe('')
  })

  it('[REQ-SDK-28] the answers to operators have the fields that the routes give', () => {
    const pairs = Object.entries(OPERATOR_TYPES)
    const api = renderTypeScript(document, tools, Object.values(OPERATOR_TYPES))
    const check = [
      "import type * as Api from './api.mjs'",
      "import type * as Sdk from 'orchestrator-agent-sdk'",
      'export const checks: readonly unknown[] = [',
      ...pairs.map(([sdk, component]) => `  (answer: Api.${component}): Sdk.${sdk} => answer,`),
      ']',
    ].join('\n')
    const json = "export type { Json, JsonObject } from 'orchestrator-agent-sdk'\n"
    const files = { 'api.mts': api.replace('./json.js', './json.mjs'), 'json.mts': json, 'check.mts': check }
    expect(compile('operators', files)).toBe('')
  })
})

describe('the types for Python', () => {
  function checkTypes(name: string, text: string): string | { readonly reason: string } {
    const mypy = installMypy()
    if (typeof mypy !== 'string') return mypy
    const file = join(dir, name)
    writeFileSync(file, text)
    const args = ['--strict', '--cache-dir', MYPY_CACHE, file]
    const env = { ...process.env, MYPYPATH: join(ROOT, 'python/src') }
    return spawnSync(mypy, args, { cwd: dir, encoding: 'utf8', env }).stdout
  }

  it(
    '[REQ-SDK-27] a misspelt field of an answer and a wrong argument of a built-in tool do not pass mypy',
    (context) => {
      const output = checkTypes('wrong.py', PYTHON)
      if (typeof output !== 'string') return context.skip(output.reason)
      expect(listRefused(output, /wrong\.py:(\d+): error/g), output).toEqual(listMarked(PYTHON))
    },
    MINUTES_MAX,
  )

  it.each([
    ['the same program without its mistakes', () => PYTHON.replace(/^.*# wrong$/gm, '')],
    ['examples/agent.py', () => readFileSync(join(ROOT, 'examples/agent.py'), 'utf8')],
    [
      'the program of the README',
      () => /^```python\n([\s\S]*?)^```/m.exec(readFileSync(join(ROOT, 'python/README.md'), 'utf8'))?.[1] ?? 'none',
    ],
  ])(
    '[REQ-SDK-27] %s passes mypy',
    (_name, read) => {
      const output = checkTypes('right.py', read())
      if (typeof output !== 'string') return console.warn(`SKIPPED: ${output.reason}`)
      expect(output).toContain('Success: no issues found')
    },
    MINUTES_MAX,
  )

  it('[REQ-SDK-27] the types can be imported by Python', () => {
    const script = 'from orchestrator_agent_sdk.types import ClaimAnswer; print(sorted(ClaimAnswer.__annotations__))'
    const env = { ...process.env, PYTHONPATH: join(ROOT, 'python/src'), PYTHONDONTWRITEBYTECODE: '1' }
    const ran = spawnSync('python3', ['-c', script], { cwd: dir, encoding: 'utf8', env })
    expect(ran.stdout, ran.stderr).toContain("'allowed_tools', 'contract', 'expires_at', 'phase', 'prompt', 'task'")
  })
})

const TYPESCRIPT = `import { AgentClient, type JsonObject, type Task, type ToolCall } from 'orchestrator-agent-sdk'
const client = new AgentClient({ url: 'http://localhost:8000', token: 't' })
const claim = await client.claimTask()
const title: string = claim.task.title
console.log(claim.task.titel) // wrong
console.log(claim.phase_token) // wrong
await client.useTool('read_files', { path: title })
await client.useTool('read_files', { path: 1 }) // wrong
await client.useTool('read_files', { pth: 'a' }) // wrong
await client.useTool('read_files', { path: 'a', paths: ['b'] }) // wrong
await client.useTool('read_files') // wrong
await client.useTool('git_status')
await client.useTool('git_status', { all: true }) // wrong
await client.useTool('run_tests', {})
await client.useTool('edit_files', { path: 'a', edits: [{ old: 'a', new: 'b' }] })
await client.useTool('edit_files', { path: 'a', edits: [{ old: 'a', neww: 'b' }] }) // wrong
// Tools that the contract defines, and names that only the program knows.
await client.useTool('tickets.create', { path: 1, more: { labels: ['a'] } })
await client.useTool('tickets.list')
const name: string = claim.allowed_tools[0] ?? ''
const args: JsonObject = { path: 1 }
await client.useTool(name, args)
const answer = await client.useTool('glob', { pattern: '*' })
console.log(answer.result, answer.interrupt?.text)
console.log(answer.reslt) // wrong
const check = await client.checkTool('bash', { command: 'ls' })
console.log(check.allowed, check.code, check.retry?.attempt)
await client.checkTool('bash', { command: 1 }) // wrong
const { results } = await client.batch([
  { tool_name: 'glob', args: { pattern: '*' } },
  { tool_name: 'tickets.list', args: { limit: 1 } },
])
for (const result of results) console.log(result.error === undefined ? result.result : result.error.code)
await client.batch([{ tool_name: 'glob', args: { pattern: 1 } }]) // wrong
const calls: ToolCall[] = [{ tool_name: 'glob', args: { pattern: '*' } }]
await client.batch(calls)
const asJson: JsonObject = claim.task
const describe = (task: Task): string => task.description
console.log(asJson, describe(claim.task), claim.contract.phases[0]?.name)
console.log(claim.contract.phases[0]?.nam) // wrong
console.log((await client.next()).text, (await client.continue()).violation?.rule)
console.log((await client.completePhase('A', {})).missing_evidence)
console.log((await client.getStateSnapshot()).next_step, (await client.searchKnowledge('q')).results[0]?.file)
console.log((await client.searchKnowledge('q')).result) // wrong
console.log((await client.getCoordination()).must === 'vote', (await client.waitForApproval()).decisions[0]?.by)
console.log((await client.vote('agent1', 'best')).view.valid_agents, (await client.release()).task.status)
`

const PYTHON = `from typing import Any, Dict

from orchestrator_agent_sdk import AgentClient, AsyncAgentClient
from orchestrator_agent_sdk.types import Task

client = AgentClient("http://localhost:8000", "t")
claim = client.claim_task()


def describe(task: Task) -> str:
    return task["description"]


print(claim["task"]["title"], describe(claim["task"]), claim["contract"]["phases"][0]["name"])
print(claim["task"]["titel"])  # wrong
print(claim["phase_token"])  # wrong
client.use_tool("read_files", path="a")
client.use_tool("read_files", path=1)  # wrong
print(client.use_tool("read_files", path=1)["result"])  # wrong
client.use_tool("read_files", pth="a")  # wrong
client.use_tool("read_files", path="a", paths=["b"])  # wrong
client.use_tool("bash")  # wrong
client.use_tool("git_status")
client.use_tool("git_status", all=True)  # wrong
client.use_tool("run_tests", filter="a")
client.use_tool("edit_files", path="a", edits=[{"old": "a", "new": "b"}])
client.use_tool("edit_files", path="a", edits=[{"old": "a", "neww": "b"}])  # wrong
# Tools that the contract defines, and names that only the program knows.
client.use_tool("tickets.create", path=1, more={"labels": ["a"]})
name: str = claim["allowed_tools"][0]
args: Dict[str, Any] = {"path": "x"}
client.use_tool(name, **args)
client.use_tool("read_files", **args)
print(client.check_tool("bash", command="ls").get("code"))
client.check_tool("bash", command=1)  # wrong
for result in client.batch([{"tool_name": "glob", "args": {"pattern": "*"}}])["results"]:
    print(result["error"]["code"] if "error" in result else result["result"])
    print(result["eror"])  # wrong
print(client.get_state_snapshot()["next_step"], client.search_knowledge("q")["results"][0]["file"])
print(client.search_knowledge("q")["result"])  # wrong
print(client.complete_phase("A", {})["missing_evidence"], client.next()["text"], client.continue_()["text"])
print(client.get_coordination()["must"] == "vote", client.wait_for_approval()["decisions"][0]["by"])
print(client.release()["task"]["status"])


async def work(agent: AsyncAgentClient) -> None:
    answer = await agent.use_tool("glob", pattern="*")
    print(answer["result"], answer["duration_ms"])
    print(answer["reslt"])  # wrong
    await agent.use_tool("glob", pattern=1)  # wrong
    await agent.use_tool("tickets.create", pattern=1)
`

/** Types of answers to operators, with the schema of the route that gives them. */
const OPERATOR_TYPES: Readonly<Record<string, string>> = {
  AcceptedTools: 'AcceptedTools',
  Activity: 'Activity',
  AddedReviewer: 'AddedReviewer',
  AddedTask: 'CreatedTask',
  AgentRow: 'Agent',
  AgentSnapshot: 'Snapshot',
  ContractRow: 'ContractRow',
  CouncilReport: 'CoordinationReport',
  InstalledTask: 'InstalledTask',
  LedgerCheck: 'LedgerCheck',
  LedgerEvent: 'Event',
  LedgerStats: 'LedgerStats',
  NodeRow: 'Node',
  Overview: 'Overview',
  Question: 'Question',
  ReviewList: 'ReviewList',
  SentReview: 'SentReview',
  SpawnedAgent: 'SpawnedAgent',
  TaskDetails: 'TaskDetails',
  TaskDiff: 'TaskDiff',
  TaskMetrics: 'TaskMetrics',
  TaskReport: 'TaskReport',
  TaskStateAt: 'TaskStateAt',
}
