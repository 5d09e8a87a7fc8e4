import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { People } from '../../src/cli/launch/ask-people.js'
import { SessionMcp } from '../../src/cli/launch/session-mcp.js'
import { SessionServer } from '../../src/cli/launch/session-server.js'
import { SessionShim } from '../../src/cli/launch/session-shim.js'
import { UpstreamMcp } from '../../src/cli/launch/upstream-mcp.js'
import { isFullDepth } from '../depth.js'
import { PLAN } from '../e2e/walker.js'
import { type Running, start } from '../http/harness.js'

const CONTRACT = `
name: asked
version: "1"
enforcement: { confinement: off, reconcile: off }
phases:
  - id: PLAN
    name: Plan
    prompt: Plan it.
    allowed_tools: [read_files, ask_user_question]
    required_artifacts: [{ type: plan_document, description: The plan. }]
    gates: [{ id: plan_approval, type: approval, approvers: [human] }]
  - id: DONE
    name: Done
    prompt: Nothing more.
    allowed_tools: [read_files]
    gates: [{ id: slow, type: validation, blockers: [{ check: command_succeeds, run: sleep 2, message: Slow }] }]
  - { id: OVER, allowed_tools: [] }
transitions:
  - { from: PLAN, to: DONE, gate: plan_approval }
  - { from: DONE, to: OVER }
`
const GO = { name: 'request_transition', arguments: { target_phase: 'DONE', artifacts: { plan_document: PLAN } } }

type FormAnswer = { action: 'accept' | 'decline' | 'cancel'; content?: Record<string, string> }

let run: Running
let shim: SessionShim
let mcp: SessionMcp
let task: string
const clients: Client[] = []

beforeEach(async () => {
  run = await start({ contract: CONTRACT, answerWithinMs: 500 })
  const token = await run.addAgent('claude-00112233')
  task = await run.addTask({ title: 'Sum up' })
  await run.claim('claude-00112233', token, task)
  const server = new SessionServer({ url: run.url, token: run.operator })
  const upstream = new UpstreamMcp(server, token)
  mcp = new SessionMcp({ upstream, people: new People(server, () => task), instructions: 'Hello.', asksInChat: true })
  const refuse = (status: number): Response => new Response(null, { status })
  shim = await SessionShim.open({
    '/mcp': {
      methods: ['GET', 'POST', 'DELETE'],
      handle: (request, body) => mcp.answer(request, body),
      refuse,
    },
  })
})
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close()
  await mcp.close()
  await shim.close()
  expect(run.faults).toEqual([])
  await run.stop()
})

/** A CLI whose person answers forms like this; null: a CLI that shows no forms. */
async function open(answer: ((message: string) => Promise<FormAnswer>) | null): Promise<Client> {
  const capabilities = answer === null ? {} : { elicitation: { form: {} } }
  const client = new Client({ name: 'cli', version: '1' }, { capabilities, versionNegotiation: { mode: 'legacy' } })
  if (answer !== null) client.setRequestHandler('elicitation/create', async ({ params }) => answer(params.message))
  const headers = { authorization: `Bearer ${shim.secret}` }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${shim.url}/mcp`), { requestInit: { headers } }))
  clients.push(client)
  return client
}

async function decisions(): Promise<readonly Record<string, unknown>[]> {
  const { body } = await run.call('GET', `/tasks/${task}/timeline?limit=100`, run.operator)
  const events = body.events as { type: string; data: Record<string, unknown> }[]
  return events.filter(({ type }) => type === 'approval_decided').map(({ data }) => data)
}

const textOf = (result: { content?: unknown }): string => JSON.stringify(result.content)

describe('an approval in the chat', () => {
  it('[REQ-LAUNCH-5] is asked for with the plan and its digest, recorded as such, and the call goes on by itself', async () => {
    let shown = ''
    const client = await open(async (message) => {
      shown = message
      return { action: 'accept', content: { decision: 'approve' } }
    })
    const result = await client.callTool(GO)
    expect(result.isError, textOf(result)).not.toBe(true)
    expect(result.structuredContent).toMatchObject({ allowed: true, phase: 'DONE' })
    expect(shown).toContain(`│ title: ${String((PLAN as { title: string }).title)}`)
    expect(await decisions()).toMatchObject([{ decision: 'approve', by: 'admin', channel: 'in_chat' }])
    expect(shown).toContain(String((await decisions())[0]?.digest).slice(0, 16))
    // A chat may show no more than the beginning.
    const [asked, about, where, ...rest] = shown.split('\n')
    expect(asked).toBe(`May the agent go from PLAN to DONE? ${String((PLAN as { title: string }).title)} (1 criterion)`)
    expect(about).toMatch(/^\S+: /)
    expect(where).toBe('Read all of it in another terminal, in this folder: phaselock approve')
    expect(rest.at(-1)).toMatch(/^http:\S+\/approvals\/apr-\S+ · digest [0-9a-f]{16}…$/)
  })

  it.runIf(isFullDepth())(
    '[REQ-LAUNCH-5] that is declined is a rejection, and the agent gets the comment',
    async () => {
      const answers: FormAnswer[] = [
        { action: 'accept', content: { decision: 'reject', comment: 'Say what an empty cart costs.' } },
      ]
      const client = await open(async () => answers.shift() ?? { action: 'cancel' })
      const result = await client.callTool(GO)
      expect(result.isError).toBe(true)
      expect(textOf(result)).toContain('Say what an empty cart costs.')
      // A session that takes the task up again knows nothing else.
      const { structuredContent: state } = await client.callTool({ name: 'get_workflow_state', arguments: {} })
      expect(state).toMatchObject({
        next_step: expect.stringContaining('Say what an empty cart costs.'),
        rejected: { comment: 'Say what an empty cart costs.', artifacts: { plan_document: PLAN } },
      })
      expect(await decisions()).toMatchObject([{ decision: 'reject', channel: 'in_chat' }])
    },
  )

  it.runIf(isFullDepth())('[REQ-LAUNCH-5] that is closed without an answer decides nothing', async () => {
    const client = await open(async () => ({ action: 'cancel' }))
    const result = await client.callTool(GO)
    expect(result.isError).toBe(true)
    expect(textOf(result)).toContain('closed the form without deciding')
    expect(await decisions()).toEqual([])
  })

  it('[REQ-LAUNCH-5] a call that waits returns when somebody approves elsewhere, and a late answer changes nothing', async () => {
    let late: (answer: FormAnswer) => void = () => undefined
    const asked = new Promise<void>((resolve) => {
      void open(
        () =>
          new Promise<FormAnswer>((answer) => {
            late = answer
            resolve()
          }),
      )
    })
    while (clients.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    const [client] = clients
    const calling = client?.callTool(GO)
    await asked
    const { approvals } = (await run.call('GET', '/approvals', run.operator)).body as {
      approvals: { id: string; digest: string }[]
    }
    const [{ id, digest } = { id: '', digest: '' }] = approvals
    await run.call('POST', `/approvals/${id}/decision`, run.operator, {
      decision: 'approve',
      digest,
      channel: 'dashboard',
    })
    expect(await calling).toMatchObject({ structuredContent: { allowed: true, phase: 'DONE' } })
    late({ action: 'accept', content: { decision: 'reject', comment: 'too late' } })
    await client?.ping()
    expect(await decisions()).toMatchObject([{ decision: 'approve', channel: 'dashboard' }])
  })

  it.runIf(isFullDepth())(
    '[REQ-LAUNCH-5] without forms the model is told to say what waits, and its second call waits',
    async () => {
      const client = await open(null)
      const first = await client.callTool(GO)
      expect(first.isError).toBe(true)
      expect(textOf(first)).toContain('Tell the person that this waits for them')
      // Codex shows its model only this part.
      expect(first.structuredContent).toMatchObject({ note: expect.stringContaining('make the same call again') })
      const second = client.callTool(GO)
      const { approvals } = (await run.call('GET', '/approvals', run.operator)).body as {
        approvals: { id: string; digest: string }[]
      }
      const [{ id, digest } = { id: '', digest: '' }] = approvals
      await run.call('POST', `/approvals/${id}/decision`, run.operator, { decision: 'approve', digest })
      expect(await second).toMatchObject({ structuredContent: { allowed: true } })
      expect((await decisions())[0]).not.toHaveProperty('channel')
    },
  )

  it('[REQ-LAUNCH-5] an agent cannot decide with its own token, whatever channel it names', async () => {
    const client = await open(async () => ({ action: 'cancel' }))
    await client.callTool(GO)
    const { approvals } = (await run.call('GET', '/approvals', run.operator)).body as {
      approvals: { id: string; digest: string }[]
    }
    const [{ id, digest } = { id: '', digest: '' }] = approvals
    const other = await run.addAgent('other')
    const attempt = { decision: 'approve', digest, channel: 'in_chat' }
    expect(await run.call('POST', `/approvals/${id}/decision`, other, attempt)).toMatchObject({ status: 403 })
    expect(
      await run.call('POST', `/approvals/${id}/decision`, run.operator, { ...attempt, channel: 'agent' }),
    ).toMatchObject({ status: 400 })
    expect(await decisions()).toEqual([])
  })
})

describe('an answer in the chat that the agent could have given itself', () => {
  const SHELL = CONTRACT.replace('[read_files, ask_user_question]', '[read_files, bash]')

  async function ask(contract: string, isBoundByHooks: boolean) {
    const other = await start({ contract })
    try {
      const token = await other.addAgent('shell')
      const id = await other.addTask({ title: 'Sum up' })
      const phaseToken = await other.claim('shell', token, id)
      const hook = { hook_event_name: 'PreToolUse', tool_name: 'TodoWrite', tool_input: {}, cwd: other.workspace }
      if (isBoundByHooks) await other.call('POST', '/hooks/claude-code', token, hook)
      const asked = { task_id: id, target_phase: 'DONE', artifacts: { plan_document: PLAN } }
      const { body } = await other.call('POST', '/tasks/transition', phaseToken, asked)
      const { id: approval, digest } = body.pending_approval as { id: string; digest: string }
      const decide = async (channel: string) => {
        const said = { decision: 'approve', digest, channel }
        return other.call('POST', `/approvals/${approval}/decision`, other.operator, said)
      }
      return { inChat: await decide('in_chat'), elsewhere: await decide('cli') }
    } finally {
      await other.stop()
    }
  }

  it('[REQ-LAUNCH-5] approves nothing where commands run without a sandbox, and a decision elsewhere does', async () => {
    const { inChat, elsewhere } = await ask(SHELL, false)
    expect(inChat).toMatchObject({ status: 403, body: { code: 'not_permitted' } })
    expect(inChat.body.detail).toContain('without a whole sandbox')
    expect(elsewhere).toMatchObject({ status: 200, body: { status: 'approved' } })
  })

  it('[REQ-LAUNCH-5] approves nothing for an agent that is bound by hooks', async () => {
    const { inChat, elsewhere } = await ask(CONTRACT, true)
    expect(inChat.status).toBe(403)
    // A decision elsewhere has to be confirmed.
    expect(elsewhere).toMatchObject({ status: 403, body: { code: 'confirmation_required' } })
  })
})

describe('where an answer in the chat approves nothing', () => {
  it('[REQ-NATIVE-9] the person is shown where to decide, and only a decision there lets the call go on', async () => {
    const server = new SessionServer({ url: run.url, token: run.operator })
    const token = await run.addAgent('native')
    const other = await run.addTask({ title: 'Sum up' })
    await run.claim('native', token, other)
    const shown = new SessionMcp({
      ...{ upstream: new UpstreamMcp(server, token), people: new People(server, () => other) },
      ...{ instructions: 'Hello.', asksInChat: false },
    })
    const door = await SessionShim.open({
      '/mcp': {
        ...{ methods: ['GET', 'POST', 'DELETE'], handle: (request, body) => shown.answer(request, body) },
        refuse: (status) => new Response(null, { status }),
      },
    })
    const client = new Client(
      { name: 'cli', version: '1' },
      { capabilities: { elicitation: { form: {}, url: {} } }, versionNegotiation: { mode: 'legacy' } },
    )
    const asked: Record<string, unknown>[] = []
    let action: 'accept' | 'cancel' = 'cancel'
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      asked.push({ ...params })
      return { action, content: { decision: 'approve' } }
    })
    const headers = { authorization: `Bearer ${door.secret}` }
    await client.connect(new StreamableHTTPClientTransport(new URL(`${door.url}/mcp`), { requestInit: { headers } }))
    try {
      expect(await client.callTool(GO)).toMatchObject({ isError: true })
      expect(asked[0]).toMatchObject({ mode: 'url', url: expect.stringContaining('/approvals/apr-') })
      action = 'accept'
      const calling = client.callTool(GO)
      await expect.poll(() => asked.length).toBe(2)
      const { approvals } = (await run.call('GET', '/approvals', run.operator)).body as {
        approvals: { id: string; digest: string }[]
      }
      const [{ id, digest } = { id: '', digest: '' }] = approvals
      await run.call('POST', `/approvals/${id}/decision`, run.operator, { decision: 'approve', digest })
      expect(await calling).toMatchObject({ structuredContent: { allowed: true, phase: 'DONE' } })
    } finally {
      await client.close()
      await shown.close()
      await door.close()
    }
  })
})

describe('a gate that takes long', () => {
  it('[REQ-LONGGATE-3] is waited for by the session: the model gets the end of it with one call', async () => {
    const client = await open(async () => ({ action: 'accept', content: { decision: 'approve' } }))
    await client.callTool(GO)
    const told: string[] = []
    const over = { name: 'request_transition', arguments: { target_phase: 'OVER' } }
    const result = await client.callTool(over, { onprogress: ({ message = '' }) => told.push(message) })
    expect(result.structuredContent, textOf(result)).toMatchObject({ allowed: true, phase: 'OVER' })
    expect(
      told.every((line) => /^checks of the gate to OVER are running, tests may run several times, \d+ s$/.test(line)),
    ).toBe(true)
  })
})

describe('a question in the chat', () => {
  const ASK = { name: 'ask_user_question', arguments: { question: 'Which currency?', options: ['EUR', 'USD'] } }

  it.runIf(isFullDepth())('[REQ-LAUNCH-5] is answered there, and the call returns the answer', async () => {
    const client = await open(async () => ({ action: 'accept', content: { answer: 'EUR' } }))
    const result = await client.callTool(ASK)
    expect(result.structuredContent, textOf(result)).toMatchObject({ result: { status: 'answered', answer: 'EUR' } })
  })

  it.runIf(isFullDepth())('[REQ-LAUNCH-5] that is closed stays open for an answer elsewhere', async () => {
    const client = await open(async () => ({ action: 'cancel' }))
    const result = await client.callTool(ASK)
    expect(result.structuredContent).toMatchObject({ result: { status: 'open' } })
    expect(textOf(result)).toContain('phaselock answer qst-')
  })
})

describe('a session', () => {
  it('[REQ-LAUNCH-1] offers the tools of the contract, and a refusal is read as one', async () => {
    const client = await open(null)
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['request_transition', 'read_files']))
    const refused = await client.callTool({ name: 'bash', arguments: { command: 'ls' } })
    expect(refused.isError).toBe(true)
    expect(textOf(refused)).toMatch(/^\[\{"type":"text","text":"Refused: bash \[forbidden_tool\]\\n/)
    const allowed = await client.callTool({ name: 'get_workflow_state', arguments: {} })
    expect(allowed.isError).not.toBe(true)
    expect(textOf(allowed)).toMatch(/^\[\{"type":"text","text":"Allowed: get_workflow_state\\n/)
  })
})
