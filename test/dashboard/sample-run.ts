import type { Reachable } from '../coordination/council.js'

/** What agents could write to break out of a page: it has to be shown as text everywhere. */
export const HOSTILE = '<img src=x onerror="document.title=\'broken\'"><script>document.title="broken"</script>'

const PLAN = {
  title: 'Carts can be summed up',
  acceptance_criteria: [{ id: 'AC1', criterion: 'total(cart) is the sum of its prices', how_to_verify: 'a unit test' }],
  implementation_steps: ['write total() in src/cart.js'],
  scope: { in_scope: ['src/cart.js'], out_of_scope: ['taxes'] },
  open_questions: [],
}

export interface Sample {
  readonly councilId: string
  /** Approvals that were asked for: the first was given, the second waits. */
  readonly approvals: readonly string[]
}

/** Two agents, four tasks, refusals of several kinds, approvals and a council, made through the API alone. */
export async function makeSample(server: Reachable): Promise<Sample> {
  const agents = new Map<string, string>()
  for (const id of ['coder-1', 'coder-2', 'coder-3']) agents.set(id, await addAgent(server, id))
  await addTask(server, 'cart-total', 'Sum up carts')
  await addTask(server, 'cart-tax', 'Add taxes to carts')
  await addTask(server, 'hostile', `Break ${HOSTILE} out`)
  await addTask(server, 'later', 'Nobody has claimed this one')
  const first = await plan(server, agents, { agent: 'coder-1', task: 'cart-total' })
  const second = await plan(server, agents, { agent: 'coder-2', task: 'cart-tax' })
  const approval = first.approval
  const { digest } = await must(server, 'GET', `/approvals/${approval}`, server.operator)
  const decided = { decision: 'approve', comment: 'Go on.', digest }
  await must(server, 'POST', `/approvals/${approval}/decision`, server.operator, decided)
  const moved = await move(server, first.token, 'cart-total')
  await use(server, String(moved.phase_token), 'cart-total', 'edit_files', { path: 'src/cart.js', old: 'a', new: 'b' })
  await refuseOften(server, String(agents.get('coder-3')))
  return { councilId: await holdCouncil(server), approvals: [approval, second.approval] }
}

/** One task whose plan waits for an approval; gives the id of the approval. */
export async function askForApproval(server: Reachable, workspace?: string): Promise<string> {
  const agents = new Map([['coder-1', await addAgent(server, 'coder-1')]])
  await addTask(server, 'cart-total', 'Sum up carts', workspace)
  return (await plan(server, agents, { agent: 'coder-1', task: 'cart-total' })).approval
}

/** A council with a winner, refused responses, a restart and an answer that tries to break out of the page. */
export async function holdCouncil(server: Reachable, delayMs = 0): Promise<string> {
  const delay = (turn: object) => ({ ...turn, ...(delayMs === 0 ? {} : { delay_ms: delayMs }) })
  const { id } = await must(server, 'POST', '/coordinations', server.operator, {
    question: 'Do carts need a cache?',
    agents: [
      {
        id: 'ada',
        kind: 'scripted',
        script: [
          { text: 'Let me think.', ...vote('agent2', 'none') },
          answer('Measure first, then cache.'),
          vote('agent1', 'It says when.'),
          vote('agent1', 'It still says when.'),
          vote('agent1', 'It says when, again.'),
        ].map(delay),
      },
      {
        id: 'ben',
        kind: 'scripted',
        script: [
          { text: 'No call at all.', tool_calls: [] },
          answer(`Cache everything ${HOSTILE}`),
          vote('agent1', `Better than mine ${HOSTILE}`),
          vote('agent1', 'Better.'),
          vote('agent1', 'Better.'),
        ].map(delay),
      },
    ],
    options: { novelty: 'balanced' },
  })
  if (delayMs === 0) await awaitEnd(server, String(id))
  return String(id)
}

const answer = (content: string) => ({ tool_calls: [{ name: 'new_answer', arguments: { content } }] })
const vote = (agent_id: string, reason: string) => ({ tool_calls: [{ name: 'vote', arguments: { agent_id, reason } }] })

const POLL_MS = 50
const POLLS_MAX = 600

async function awaitEnd(server: Reachable, id: string): Promise<void> {
  for (let polls = 0; polls < POLLS_MAX; polls += 1) {
    const status = await must(server, 'GET', `/coordinations/${id}/status`, server.operator)
    if (status.is_complete === true) return
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
  throw new Error('the council did not end')
}

/** The answer of a call that has to succeed. */
async function must(
  server: Reachable,
  method: string,
  path: string,
  token: string,
  body?: unknown,
): Promise<Record<string, unknown>> {
  const got = await server.call(method, path, token, body)
  if (got.status >= 300) throw new Error(`${method} ${path}: ${got.status} ${JSON.stringify(got.body)}`)
  return got.body
}

async function addAgent(server: Reachable, id: string): Promise<string> {
  return String((await must(server, 'POST', '/agents', server.operator, { agent_id: id })).agent_token)
}

async function addTask(server: Reachable, id: string, title: string, workspace?: string): Promise<void> {
  await must(server, 'POST', '/tasks', server.operator, {
    id,
    title,
    ...(workspace === undefined ? {} : { workspace }),
  })
}

interface Planned {
  readonly token: string
  readonly approval: string
}

async function plan(
  server: Reachable,
  agents: ReadonlyMap<string, string>,
  { agent, task }: { readonly agent: string; readonly task: string },
): Promise<Planned> {
  const token = await claim(server, agent, String(agents.get(agent)), task)
  await use(server, token, task, 'write_files', { path: 'src/cart.js', content: 'x' })
  await use(server, token, task, 'glob', { pattern: '*' })
  const { pending_approval: pending } = await move(server, token, task)
  if (typeof pending !== 'object' || pending === null) throw new Error(`no approval was asked for: ${String(pending)}`)
  return { token, approval: String((pending as { readonly id: string }).id) }
}

/** Until the task is parked: the denial budget is used up. */
async function refuseOften(server: Reachable, agentToken: string): Promise<void> {
  const token = await claim(server, 'coder-3', agentToken, 'hostile')
  for (const path of ['a.js', 'b.js', HOSTILE, 'd.js', 'e.js'])
    await use(server, token, 'hostile', 'write_files', { path, content: 'x' })
}

async function claim(server: Reachable, agent_id: string, agentToken: string, task_id: string): Promise<string> {
  return String((await must(server, 'POST', '/tasks/claim', agentToken, { agent_id, task_id })).phase_token)
}

function use(server: Reachable, token: string, task_id: string, tool_name: string, args: object) {
  return server.call('POST', '/tools/execute', token, { task_id, tool_name, args })
}

function move(server: Reachable, token: string, task_id: string): Promise<Record<string, unknown>> {
  const artifacts = { plan_document: PLAN }
  return must(server, 'POST', '/tasks/transition', token, { task_id, target_phase: 'TDD', artifacts })
}
