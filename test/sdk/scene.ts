import { join } from 'node:path'
import type { Fault, FaultyProxy } from './faulty-proxy.js'
import { type Body, type Ground, layDocuments } from './ground.js'

/** What a client is told of the scene it plays in: an agent of its own, a task of its own, and where the server is. */
export interface Scene extends Body {
  readonly url: string
  readonly socket_url: string
  readonly token: string
  readonly agent_id: string
  readonly task_id: string
}

type Prepared = Pick<Scene, 'token' | 'agent_id' | 'task_id'>

/** Adds the agent, the task and the work tree of a scene. */
export async function prepare(ground: Ground, name: string, contract: string): Promise<Prepared> {
  const [agentId, taskId] = [`agent-${name}`, `task-${name}`]
  const workspace = join(ground.dir, `tree-${name}`)
  layDocuments(workspace)
  const added = await ground.operator('POST', '/tasks', { id: taskId, title: 'Say hello', contract, workspace })
  const agent = await ground.operator('POST', '/agents', { agent_id: agentId })
  if (added.status !== 201 || agent.status !== 201) throw new Error(JSON.stringify([added, agent]))
  return { token: String(agent.body.agent_token), agent_id: agentId, task_id: taskId }
}

/** One thing that is not the client's to do. */
export async function act(ground: Ground, proxy: FaultyProxy, asked: Body): Promise<Body> {
  const { operator } = ground
  const task = String(asked.task_id ?? '')
  switch (asked.do) {
    case 'approve':
    case 'reject':
      return decide(ground, String(asked.id), asked.do)
    case 'approve_soon':
      return soon(() => decide(ground, String(asked.id), 'approve'))
    case 'rewind':
      return (await operator('POST', `/tasks/${task}/rewind`, { to_phase: asked.to_phase, reason: 'a test' })).body
    case 'rewind_soon':
      return soon(() => act(ground, proxy, { ...asked, do: 'rewind' }))
    case 'cancel_soon':
      return soon(() => operator('POST', `/tasks/${task}/cancel`, { reason: 'a test' }))
    case 'new_token':
      return (await operator('POST', '/agents', { agent_id: asked.agent_id })).body
    case 'task':
      return (await operator('GET', `/tasks/${task}`)).body
    case 'status':
      return untilStatus(ground, task, String(asked.status))
    case 'count':
      return countOf(ground, task, String(asked.type))
    case 'sends':
      return sends(proxy, String(asked.path))
    case 'fail':
      proxy.fail({ ...(asked as unknown as Fault), ...bodyOf(asked) })
      return {}
    case 'clear':
      proxy.forget()
      return {}
    case 'sleep':
      await new Promise((resolve) => setTimeout(resolve, Number(asked.seconds) * 1000))
      return {}
    case 'coordination':
      return coordination(ground)
    default:
      return ground.change(String(asked.do), Number(asked.seconds))
  }
}

/** `$TASK` in a body is the task of the scene; `nested` is how many lists there are in each other. */
function bodyOf({ body, nested, scene }: Body): Pick<Fault, 'body'> {
  if (typeof nested === 'number') return { body: '['.repeat(nested) + ']'.repeat(nested) }
  return typeof body === 'string' ? { body: body.replaceAll('$TASK', String(scene)) } : {}
}

function soon(work: () => Promise<unknown>): Body {
  setTimeout(() => void work(), SOON_MS)
  return {}
}

async function decide(ground: Ground, id: string, decision: string): Promise<Body> {
  const { body } = await ground.operator('GET', `/approvals/${id}`)
  const comment = decision === 'reject' ? { comment: 'not like this' } : {}
  const decided = { decision, digest: body.digest, ...comment }
  return (await ground.operator('POST', `/approvals/${id}/decision`, decided)).body
}

/** The task once it has the status, or as it is when that takes too long. */
async function untilStatus(ground: Ground, task: string, status: string): Promise<Body> {
  const deadline = Date.now() + STATUS_MS_MAX
  for (;;) {
    const { body } = await ground.operator('GET', `/tasks/${task}`)
    if (body.status === status || Date.now() > deadline) return body
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

async function countOf(ground: Ground, task: string, type: string): Promise<Body> {
  const { body } = await ground.operator('GET', `/tasks/${task}/timeline?limit=500`)
  return { count: (body.events as { type: string }[]).filter((event) => event.type === type).length }
}

function sends(proxy: FaultyProxy, path: string): Body {
  const sent = proxy.seen.filter((one) => one.path.endsWith(path))
  return { count: sent.length, keys: new Set(sent.map((one) => one.key)).size }
}

async function coordination(ground: Ground): Promise<Body> {
  const { body } = await ground.operator('POST', '/coordinations', {
    question: 'Which way?',
    agents: [
      { id: 'left', kind: 'remote' },
      { id: 'right', kind: 'remote' },
    ],
  })
  const [left, right] = body.agents as { token: string }[]
  return { id: String(body.id), left: left?.token, right: right?.token }
}

const SOON_MS = 1200
const STATUS_MS_MAX = 180_000
