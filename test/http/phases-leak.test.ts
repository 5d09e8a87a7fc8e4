import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mayCall } from '../../src/core/identity/permissions.js'
import type { Route } from '../../src/http/route.js'
import { ROUTES } from '../../src/http/routes/all.js'
import { type Running, start } from './harness.js'

// No request holds the whole of it: whoever finds it in an answer did not find an echo.
const MARK = 'SECRETOFPHASETWO'
const PART = 'CRETOFPHASETW'
const secret = (what: string): string => `${MARK} ${what}`

const TOOLS = 'read_files, write_files, grep, glob, search_codebase, bash, ask_user_question'

/** Every text that the second and third phase can say something with holds the mark. */
const CONTRACT = `
name: sealed
version: "1"
agent_startable: true
phases:
  - id: ONE
    name: First
    prompt: Do the first thing
    allowed_tools: [${TOOLS}]
    tool_constraints: {bash: {allowed_commands: [ls, cat, grep]}}
    checkpoint: {evidence: {count: {type: integer, min: 1, description: how many}}}
    rules: [{repeated_command: {threshold: 1000, window: 60}}]
  - id: TWO
    name: Second
    description: "${secret('description')}"
    prompt: "${secret('prompt')}"
    allowed_tools: [read_files]
    required_artifacts: [{type: note, description: "${secret('artifact')}"}]
    checkpoint: {evidence: {total: {type: integer, min: 7, description: "${secret('evidence')}"}}}
    gates:
      - id: sealed_gate
        type: validation
        blockers: [{check: file_exists, path: two.txt, message: "${secret('gate')}"}]
    rules: [{type: phase_timeout, max_duration: 600, message: "${secret('rule')}", suggestion: "${secret('suggestion')}"}]
  - id: THREE
    name: Third
    prompt: "${secret('prompt of three')}"
    checkpoint: {evidence: {end: {type: boolean, description: "${secret('end')}"}}}
enforcement: {reconcile: off, denial_budget: 500, confinement: best_effort}
`

const STREAM_MS = 1000

const isForAgents = (route: Route): boolean => mayCall(route.id, 'agent')

interface Workflow {
  readonly name: string
  readonly phases: readonly [string, string, string]
  /** Evidence that the first phase accepts. */
  readonly evidence: object
  /** What the first phase says, and may say. */
  readonly open: string
  readonly begin: () => Promise<Running>
}

/** The contract's own file lies in the work tree under its usual name, as it does for most people. */
const YAML: Workflow = {
  name: 'a contract file',
  phases: ['ONE', 'TWO', 'THREE'],
  evidence: { count: 1 },
  open: 'Do the first thing',
  begin: async () => {
    const run = await start({ contract: CONTRACT })
    writeFileSync(join(run.workspace, 'agent_workflow.yaml'), CONTRACT)
    return run
  },
}

const gate = (field: string) => `## Checkpoint\n\n- \`${field}\` (integer, at least 1): how many ${field}\n`
const DOCUMENTS: Readonly<Record<string, string>> = {
  'metadata.yaml': `workflow_type: sealed\nversion: "1"\nagent_startable: true\nallowed_tools: [${TOOLS}]\ntool_constraints: {bash: {allowed_commands: [ls, cat, grep]}}\nphases:\n  - {phase_number: 2, tasks_in_order: true, description: ${secret('description')}}\nenforcement: {reconcile: off, denial_budget: 500, confinement: best_effort}\n`,
  'phases/1/phase.md': `# Phase 1: First\n\nDo the first thing.\n\n${gate('count')}`,
  'phases/2/phase.md': `# Phase 2: Second\n\n${secret('prompt')}\n\n${gate('total')} ${secret('evidence')}\n\n## Example\n\n\`\`\`json\n{"total": 7, "why": "${secret('example')}"}\n\`\`\`\n`,
  'phases/2/task-1-first.md': `# A task\n\n${secret('task one')}\n`,
  'phases/2/task-2-second.md': `# Another\n\n${secret('task two')}\n`,
  'phases/3/phase.md': `# Phase 3: Third\n\n${secret('prompt of three')}\n\n${gate('end')}`,
}

/** The folder of documents lies in the work tree. */
const FOLDER: Workflow = {
  name: 'a folder of documents',
  phases: ['1', '2', '3'],
  evidence: { count: 1 },
  open: 'Do the first thing',
  begin: async () => {
    const dir = mkdtempSync(join(tmpdir(), 'phaselock-leak-'))
    const folder = join(dir, 'tree', 'flow')
    for (const [name, text] of Object.entries(DOCUMENTS)) {
      mkdirSync(join(folder, name, '..'), { recursive: true })
      writeFileSync(join(folder, name), text)
    }
    return start({ dir, contractFile: folder })
  },
}

describe.each([YAML, FOLDER])('what an agent in phase one can learn of phase two, from $name', (flow) => {
  const [ONE, TWO, THREE] = flow.phases
  let run: Running
  let agent = ''
  let phase = ''

  beforeAll(async () => {
    run = await flow.begin()
    mkdirSync(join(run.workspace, 'src'))
    writeFileSync(join(run.workspace, 'src/a.txt'), 'nothing to see\n')
    await run.addTask({ id: 't' })
    agent = await run.addAgent('a')
    phase = await run.claim('a', agent, 't')
  })
  afterAll(() => run.stop())

  const tool = (tool_name: string, args: object) => ({ task_id: 't', tool_name, args })
  /** Right and wrong requests of every endpoint that an agent reaches; those without a body are called as they are. */
  const bodies: Readonly<Record<string, readonly object[]>> = {
    claimTask: [{ agent_id: 'a' }, { agent_id: 'a', task_id: 't' }, { agent_id: TWO }],
    requestTransition: [
      { task_id: 't', target_phase: TWO },
      { task_id: 't', target_phase: TWO, artifacts: { note: {} }, evidence: { total: 7 } },
      { task_id: 't', target_phase: THREE },
      { task_id: 't', target_phase: THREE, current_phase: TWO },
    ],
    executeTool: [
      tool('read_files', { path: 'agent_workflow.yaml' }),
      tool('read_files', { path: './src/../agent_workflow.yaml' }),
      tool('grep', { pattern: PART }),
      tool('read_files', { path: 'src/a.txt' }),
      tool('glob', { pattern: '**/*' }),
      tool('search_codebase', { query: PART }),
      tool('bash', { command: 'cat agent_workflow.yaml' }),
      tool('read_files', { path: 'flow/phases/2/phase.md' }),
      tool('read_files', { path: 'flow/phases/2/task-1-first.md' }),
      tool('read_files', { path: 'flow/metadata.yaml' }),
      tool('bash', { command: 'cat flow/phases/2/phase.md flow/phases/3/phase.md flow/metadata.yaml' }),
      tool('bash', { command: 'grep -r SECRET .' }),
      tool('nonsense', {}),
    ],
    checkTool: [tool('read_files', { path: 'agent_workflow.yaml' }), tool('git_commit', { message: 'x' })],
    batchTools: [{ task_id: 't', calls: [{ tool_name: 'grep', args: { pattern: 'PHASETWO' } }] }],
    renewToken: [{ task_id: 't' }],
    heartbeat: [{ task_id: 't' }],
    nextPrompt: [
      { claims: { [TWO]: true } },
      { claims: { [`${ONE}_complete`]: true } },
      { claims: { 'task-2': true } },
    ],
    continuePrompt: [{}],
    reportUsage: [{ input_tokens: 1, output_tokens: 1 }],
    completePhase: [{ evidence: {} }, { evidence: { total: 7 } }, { evidence: { count: 0 } }],
    searchKnowledge: [{ query: PART }, { query: 'phase two', phase: TWO }],
    askQuestion: [{ task_id: 't', question: `What is in ${TWO}?` }],
  }
  const params = (route: Route): readonly string[] => {
    if (route.path.includes(':phase')) return [ONE, TWO, THREE, 'two'].map((id) => route.path.replace(':phase', id))
    return ['t', TWO].map((id) => route.path.replace(/:\w+/g, id))
  }
  // Gives the task away, or is a hook whose answers are words of other programs: called last, and on their own.
  const LAST = new Set(['releaseTask'])

  it('[REQ-PHASE-18] no endpoint that an agent reaches says a word of it, to either of its tokens', async () => {
    const reached: string[] = []
    let said = ''
    const routes = ROUTES.filter(isForAgents)
    for (const route of [...routes.filter((one) => !LAST.has(one.id)), ...routes.filter((one) => LAST.has(one.id))])
      for (const path of new Set(params(route)))
        for (const body of route.method === 'GET' ? [undefined] : (bodies[route.id] ?? [{}]))
          for (const token of [agent, phase]) {
            const answer = await run.call(route.method, path, token, body)
            if (typeof answer.body.phase_token === 'string') phase = answer.body.phase_token
            expect(JSON.stringify(answer.body), `${route.method} ${path} ${JSON.stringify(body)}`).not.toContain(MARK)
            expect(answer.status).toBeLessThan(500)
            reached.push(route.id)
            said += JSON.stringify(answer.body)
          }
    expect(new Set(reached)).toEqual(new Set(routes.map((route) => route.id)))
    // The calls were answered and not merely refused: what may be seen was seen.
    for (const seen of ['nothing to see', flow.open, 'how many', `Cannot access Phase ${TWO}`])
      expect(said).toContain(seen)
    const task = (await run.call('GET', '/tasks/t', run.operator)).body
    expect([task.phase, task.completed_phases]).toEqual([ONE, []])
  })

  it('[REQ-PHASE-18] endpoints for operators say nothing of it to an agent either', async () => {
    for (const route of ROUTES.filter((one) => !isForAgents(one)))
      for (const path of new Set([...params(route), route.path.replace(':hash', run.app.defaultContract)]))
        for (const token of [agent, phase]) {
          const answer = await run.call(route.method, path, token, route.method === 'GET' ? undefined : {})
          expect(JSON.stringify(answer.body), `${route.method} ${path}`).not.toContain(MARK)
          expect(answer.status).toBeGreaterThanOrEqual(400)
        }
  })

  it('[REQ-PHASE-18] the stream of events and the pages that need no token say nothing of it', async () => {
    phase = await run.claim('a', agent, 't')
    const ended = new AbortController()
    const response = await fetch(`${run.url}/api/v1/events`, {
      headers: { authorization: `Bearer ${agent}`, 'last-event-id': '0' },
      signal: ended.signal,
    })
    let text = ''
    const decoder = new TextDecoder()
    setTimeout(() => ended.abort(), STREAM_MS)
    try {
      for await (const chunk of response.body ?? []) text += decoder.decode(chunk, { stream: true })
    } catch (error) {
      if (!ended.signal.aborted) throw error
    }
    expect(text).toContain('task_claimed')
    expect(text).toContain('checkpoint_refused')
    expect(text).not.toContain(MARK)
    for (const path of ['/health', '/ready', '/metrics', '/docs', '/docs/errors', '/api/v1/openapi.json'])
      expect(await (await fetch(run.url + path)).text(), path).not.toContain(MARK)
  })

  it('[REQ-PHASE-18] once the phase is open it is shown', async () => {
    phase = await run.claim('a', agent, 't')
    const answer = await run.call('POST', `/phases/${ONE}/complete`, phase, { evidence: flow.evidence })
    expect(answer.body).toMatchObject({
      checkpoint_passed: true,
      next_phase_content: { content: expect.stringContaining(secret('prompt')) },
    })
    expect(JSON.stringify((await run.call('GET', `/phases/${THREE}`, agent)).body)).not.toContain('prompt of three')
  })
})
