import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { mayCall } from '../../src/core/identity/permissions.js'
import type { Route } from '../../src/http/route.js'
import { ENDPOINTS, type Lane } from '../garbage/endpoints.js'
import type { Base } from '../garbage/mutate.js'
import type { Pair, Stage } from '../garbage/stage.js'
import { type Answer, ownTree } from './harness.js'

const UPSTREAM = join(import.meta.dirname, '../tools/upstream/fixtures/server.mjs')
const WITH_TOOLS = `
name: with-tools
version: "1"
phases:
  - {id: WORK, allowed_tools: [files.echo]}
  - {id: DONE, allowed_tools: []}
mcp_servers:
  files: {command: node, args: [server.mjs]}
`

const WITH_GUIDE = `
name: with-guide
version: "1"
phases:
  - {id: A, allowed_tools: [glob]}
  - {id: B, allowed_tools: []}
knowledge: {sources: [GUIDE.md]}
`

/** Right requests of endpoints whose request in the garbage tests is refused. */
const SUCCEEDING: Readonly<Record<string, (stage: Stage) => Promise<Lane>>> = {
  acceptTree: (stage) => changedTree(stage),
  revertTree: (stage) => changedTree(stage),
  handOverTask: (stage) => ofWorktree(stage, { reason: 'because', commit: true }),
  discardTask: (stage) => ofWorktree(stage, { reason: 'because', force: true }),
  executeTool: (stage) => asAgent(stage, { tool_name: 'glob', args: { pattern: '**' } }),
  searchKnowledge: (stage) => asAgent(stage, { query: 'naming' }),
  stopAgent: (stage) => startedAgent(stage, { body: { reason: 'gone' } }),
  showAgent: (stage) => startedAgent(stage, {}),
  agentLog: (stage) => startedAgent(stage, {}),
  installDependencies: async (stage) => {
    const workspace = ownTree(stage.run)
    writeFileSync(join(workspace, 'package.json'), '{"name": "shop"}')
    const pair = await stage.pair({ workspace })
    return { pair, base: () => ({ params: { id: pair.task }, body: { command: ['npm', 'install', '--offline'] } }) }
  },
  acceptTools: async (stage) => {
    const workspace = ownTree(stage.run)
    cpSync(UPSTREAM, join(workspace, 'server.mjs'))
    await stage.operate('/contracts', { source: WITH_TOOLS })
    const id = await stage.run.addTask({ contract: 'with-tools', workspace })
    return { pair: await stage.pair(), base: () => ({ params: { id }, body: { reason: 'looked at them' } }) }
  },
}

async function asAgent(stage: Stage, body: Record<string, unknown>): Promise<Lane> {
  const workspace = ownTree(stage.run)
  writeFileSync(join(workspace, 'GUIDE.md'), '# Naming\n\nNaming says what a thing is for.\n')
  await stage.operate('/contracts', { source: WITH_GUIDE })
  const pair = await stage.pair({ contract: 'with-guide', workspace })
  return { pair, base: () => ({ body: { task_id: pair.task, ...body } }) }
}

async function changedTree(stage: Stage): Promise<Lane> {
  const workspace = ownTree(stage.run)
  const pair = await stage.pair({ workspace })
  writeFileSync(join(workspace, 'by-hand.txt'), 'nobody allowed this\n')
  return { pair, base: () => ({ params: { id: pair.task }, body: { reason: 'looked at it' } }) }
}

async function ofWorktree(stage: Stage, body: Record<string, unknown>): Promise<Lane> {
  const lane = await ENDPOINTS.mergeTask?.prepare(stage, 0)
  if (lane === undefined) throw new Error('there is no endpoint mergeTask')
  return { ...lane, base: () => ({ ...lane.base(), body }) }
}

async function startedAgent(stage: Stage, base: Base): Promise<Lane> {
  const id = stage.fresh('started')
  const task = { title: 'x', workspace: ownTree(stage.run) }
  await stage.operate('/agents/spawn', { harness: 'command', command: 'sleep', args: ['600'], agent_id: id, task })
  return { pair: await stage.pair(), base: () => ({ params: { id }, ...base }) }
}

/** What a request to the endpoint needs so that it succeeds, and the request. */
export async function prepareRequest(stage: Stage, id: string): Promise<Lane> {
  const endpoint = ENDPOINTS[id]
  if (endpoint === undefined) throw new Error(`there is no right request for ${id}`)
  return SUCCEEDING[id]?.(stage) ?? endpoint.prepare(stage, 0)
}

/** Sends it in the name of somebody who may. */
export function sendRequest(
  stage: Pick<Stage, 'run'>,
  route: Route,
  one: { readonly pair: Pair; readonly base: Base; readonly headers?: Record<string, string>; readonly token?: string },
): Promise<Answer> {
  const { pair, base, headers = {} } = one
  const path = route.path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(base.params?.[name] ?? ''))
  const query = new URLSearchParams(base.query ?? {}).toString()
  const body = route.method === 'GET' ? undefined : (base.body ?? {})
  const token = one.token ?? (base.headers?.cookie === undefined ? findToken(route, pair, stage.run.operator) : null)
  const url = query === '' ? path : `${path}?${query}`
  return stage.run.call(route.method, url, token, body, { ...base.headers, ...headers })
}

/** The token of somebody who may call the route. */
export function findToken({ id }: Route, pair: Pair, operator: string): string {
  if (id === 'claimTask') return pair.agent
  if (id === 'decideApproval' || id === 'answerQuestion') return operator
  if (mayCall(id, 'phase')) return pair.phase
  if (mayCall(id, 'human')) return operator
  return mayCall(id, 'reviewer') ? pair.review : (pair.participant ?? '')
}
