import { spawn, spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { built, ROOT } from '../cli/program.js'
import { makePlace, type Place, type Served, serve } from '../e2e/process.js'
import { git, makeRepository } from '../e2e/projects.js'
import { PLAN } from '../e2e/walker.js'
import { installed } from '../mcp/packages.js'
import { installPython } from '../repositories/python-packages.js'
import { openModel, type Script } from './model.js'
import { KEY } from './stage.js'
import { go, honest, isPending, PROJECT, waitsForPeople } from './work.js'

const RUN_MS_MAX = 300_000
const LINES_MAX = 50
const APPROVE_MS = 500
const EXAMPLES = join(ROOT, 'examples/integrations')
const PYTHON_PACKAGES = ['openai-agents', 'langgraph', 'langchain', 'langchain-openai', 'langchain-mcp-adapters']
beforeAll(built, RUN_MS_MAX)

const INTEGRATIONS = [
  {
    ...{ name: 'the Vercel AI SDK', file: 'vercel-ai-sdk.ts' },
    find: () => installed('ai-sdk', ['ai@6', '@ai-sdk/mcp@1', '@ai-sdk/openai-compatible@2', 'zod@4']),
  },
  {
    ...{ name: 'the Claude Agent SDK', file: 'claude-agent-sdk.ts' },
    find: () => installed('claude-agent-sdk', ['@anthropic-ai/claude-agent-sdk@0.3.325', 'zod@4']),
  },
  {
    ...{ name: 'the OpenAI Agents SDK in TypeScript', file: 'openai-agents.ts' },
    find: () => installed('openai-agents', ['@openai/agents@0.20.0', 'zod@4']),
  },
  { name: 'the OpenAI Agents SDK in Python', file: 'openai_agents.py', find: () => installPython(PYTHON_PACKAGES) },
  { name: 'LangGraph', file: 'langgraph_agent.py', find: () => installPython(PYTHON_PACKAGES) },
]

/** Ends its turn where a person has to decide, and asks again when it is told to go on. */
const resumed: Script = (talk) => {
  const waits = talk.results.filter(isPending).length
  if (!waitsForPeople(talk)) return honest({ ...talk, step: talk.results.length - waits, results: [] })
  return talk.step > talk.results.length ? go('TDD', { plan_document: PLAN }) : null
}

describe.each(INTEGRATIONS)('the example with $name', ({ file, find }) => {
  it('[REQ-INTEGRATION-1] is about 40 lines long', () => {
    expect(readFileSync(join(EXAMPLES, file), 'utf8').trimEnd().split('\n').length).toBeLessThanOrEqual(LINES_MAX)
  })

  it(
    '[REQ-INTEGRATION-1] takes a task through all five phases, with an approval in between',
    async ({ skip }) => {
      const found = find()
      if (!found.ok) return skip(found.reason)
      const place = await makePlace()
      makeRepository(place.workspace, PROJECT)
      const model = await openModel({ resumed })
      const server = await serve(place, 'tdd')
      try {
        await server.call('POST', '/tasks', server.operator, {
          id: 'task-1',
          title: '[[script:resumed]] Sum up prices',
        })
        const { body } = await server.call('POST', '/agents', server.operator, { agent_id: 'coder' })
        const output = await run(prepare(file, found.dir, place), server, {
          ...{ PHASELOCK_URL: `http://127.0.0.1:${place.port}`, PHASELOCK_TOKEN: String(body.agent_token) },
          ...{ PHASELOCK_AGENT_ID: 'coder', HOME: place.dir, MODEL: 'scripted-1' },
          ...{ OPENAI_BASE_URL: `${model.url}/v1`, OPENAI_API_KEY: KEY },
          ...{ ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: KEY, CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' },
        })
        expect(output).toMatch(/^task-1: .*\ndone\n$/)
        const task = await server.call('GET', '/tasks/task-1', server.operator)
        expect(task.body).toMatchObject({ status: 'completed' })
        expect(git(place.workspace, 'log', '-1', '--format=%s').trim()).toBe('Sum up prices')
        // Its model had no tools but those of Phaselock.
        const tools = new Set(
          model.talks.flatMap((talk) => talk.tools.map((name) => name.replace('mcp__phaselock__', ''))),
        )
        expect(tools).toContain('request_transition')
        expect([...tools].filter((name) => /^[A-Z]/.test(name))).toEqual([])
      } finally {
        await server.stop()
        model.close()
        place.remove()
      }
    },
    RUN_MS_MAX,
  )
})

/** The command of an example: Python as it is, TypeScript checked and compiled against the installed packages. */
function prepare(file: string, dir: string, place: Place): readonly string[] {
  if (file.endsWith('.py'))
    return ['env', `PYTHONPATH=${dir}`, 'PYTHONDONTWRITEBYTECODE=1', 'python3', join(EXAMPLES, file)]
  const to = join(place.dir, 'example')
  mkdirSync(to)
  symlinkSync(join(dir, 'node_modules'), join(to, 'node_modules'))
  copyFileSync(join(EXAMPLES, file), join(to, file))
  writeFileSync(join(to, 'package.json'), '{"type": "module"}\n')
  const options = {
    ...{ module: 'nodenext', target: 'es2023', strict: true, skipLibCheck: true },
    ...{ types: ['node'], typeRoots: [join(ROOT, 'node_modules/@types')], lib: ['es2023', 'dom'] },
  }
  writeFileSync(join(to, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, files: [file] }))
  const done = spawnSync(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', to], {
    encoding: 'utf8',
  })
  expect(done.status, done.stdout).toBe(0)
  return [process.execPath, join(to, file.replace(/\.ts$/, '.js'))]
}

/** Runs it to its end, and approves what it waits for, as a person would. */
async function run(words: readonly string[], server: Served, env: NodeJS.ProcessEnv): Promise<string> {
  const [program = '', ...args] = words
  const child = spawn(program, args, { cwd: env.HOME, env: { PATH: process.env.PATH ?? '', ...env } })
  let output = ''
  let errors = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const approving = setInterval(() => void approve(server), APPROVE_MS)
  const killing = setTimeout(() => child.kill('SIGKILL'), RUN_MS_MAX / 2)
  const code = await ended
  clearInterval(approving)
  clearTimeout(killing)
  expect(code, `${output}\n${errors}`).toBe(0)
  return output
}

async function approve(server: Served): Promise<void> {
  const { body } = await server.call('GET', '/approvals', server.operator)
  for (const { id, digest } of body.approvals as { id: string; digest: string }[])
    await server.call('POST', `/approvals/${id}/decision`, server.operator, { decision: 'approve', digest })
}
