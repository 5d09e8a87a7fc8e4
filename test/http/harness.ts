import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { addAgent } from '../../src/app/identity/administer.js'
import { type Orchestrator, openOrchestrator } from '../../src/app/orchestrator.js'
import type { Confinement } from '../../src/confinement/confinement.js'
import { openConfinement } from '../../src/confinement/open-confinement.js'
import { findBundledContract } from '../../src/contract/bundled-contracts.js'
import { loadContractFile, loadContractText } from '../../src/contract/load/load-contract.js'
import type { AgentSockets } from '../../src/http/agent-socket.js'
import { listAllowedHosts } from '../../src/http/allowed-hosts.js'
import { openApi } from '../../src/http/openapi.js'
import { DESCRIBED } from '../../src/http/routes/all.js'
import { buildServer } from '../../src/http/server.js'
import { computeServerProof } from '../../src/store/server-proof.js'
import { openSqliteStore } from '../../src/store/sqlite-store.js'
import { removedAtExit } from '../leaving.js'
import { AnswerCheck } from './answer-check.js'

export type Answer = {
  readonly status: number
  readonly body: Record<string, unknown>
  readonly headers: Headers
}

/** A real server on a real port with a real SQLite file, in this process so that the clock can be moved. */
export interface Running {
  readonly url: string
  readonly port: number
  readonly app: Orchestrator
  readonly agentSockets: AgentSockets
  readonly workspace: string
  readonly stateDir: string
  readonly operator: string
  readonly faults: unknown[]
  /** Everything that it serves, as Fastify prints it. */
  readonly routes: string
  now: number | null
  call(
    method: string,
    path: string,
    token: string | null,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer>
  addAgent(id: string, capabilities?: readonly string[]): Promise<string>
  addTask(about?: Record<string, unknown>): Promise<string>
  /** Claims and gives the phase token. */
  claim(agentId: string, agentToken: string, taskId?: string): Promise<string>
  stop(): Promise<void>
  /** Stops, and leaves everything on disk. */
  close(): Promise<void>
  /** Stops and starts again on the same state directory. */
  restart(): Promise<Running>
}

type ServerOptions = Parameters<typeof buildServer>[1]

export interface StartOptions
  extends Partial<Pick<ServerOptions, 'agentPerSecond' | 'bodyBytesMax' | 'extendMcp' | 'spawnLimits'>> {
  readonly contract?: string
  /** A contract file or a folder of documents, as `serve --contract` takes it. */
  readonly contractFile?: string
  readonly contractParts?: readonly string[]
  readonly minConfinement?: 'required' | 'best_effort'
  readonly answerWithinMs?: number
  /** Whether the contract counts by an operator's word; it does unless said otherwise. */
  readonly isTrusted?: boolean
  readonly environment?: NodeJS.ProcessEnv
  readonly dir?: string
  readonly confinement?: () => Promise<Confinement>
  readonly confirm?: 'never' | 'native' | 'always'
}

/** A work tree of a task's own, which holds what the server's holds now: in one tree two tasks cannot write the same paths. */
export function ownTree(run: { readonly workspace: string }): string {
  const tree = mkdtempSync(join(realpathSync(run.workspace), '..', 'tree-'))
  cpSync(run.workspace, tree, { recursive: true, verbatimSymlinks: true })
  return tree
}

/** An agent that was registered before a contract reserved its name. */
export async function addEarlierAgent(run: Pick<Running, 'app'>, agentId: string): Promise<void> {
  await addAgent(run.app, { agentId, capabilities: [] }, { actor: 'operator:admin', once: undefined })
}

let shared: Promise<Confinement> | null = null

/** One real confinement for all servers of a test file: opening it tries to break out of it every time. */
function sharedConfinement(): Promise<Confinement> {
  shared ??= openConfinement({ stateDir: removedAtExit(mkdtempSync(join(tmpdir(), 'phaselock-wall-'))), only: null })
  return shared
}

const loadedTexts = new Map<string, ReturnType<typeof loadContractText>>()

/** A text is read once however many servers start with it; a file may have changed since. */
function loadOnce({ contract, contractFile }: StartOptions): ReturnType<typeof loadContractText> {
  if (contract === undefined && contractFile !== undefined) return loadContractFile(contractFile)
  const known = loadedTexts.get(contract ?? '')
  if (known !== undefined) return known
  const loading =
    contract === undefined
      ? loadContractFile(findBundledContract('tdd'))
      : loadContractText(contract, { file: 'test.yaml', baseDir: null })
  loadedTexts.set(contract ?? '', loading)
  return loading
}

export async function start(options: StartOptions = {}): Promise<Running> {
  const dir = options.dir ?? mkdtempSync(join(tmpdir(), 'phaselock-test-'))
  const workspace = join(dir, 'tree')
  const stateDir = join(dir, 'state')
  mkdirSync(workspace, { recursive: true })
  const loaded = await loadOnce(options)
  if (!loaded.ok)
    throw new Error(loaded.diagnostics.map((one) => `${one.line}:${one.column} ${one.code} ${one.message}`).join('\n'))
  const store = await openSqliteStore({ dir: stateDir })
  const faults: unknown[] = []
  const running = { now: null as number | null }
  const app = await openOrchestrator({
    store,
    stateDir,
    workspace,
    contract: { ...loaded, origin: 'test', isTrusted: options.isTrusted ?? true },
    environment: options.environment ?? {},
    now: () => running.now ?? Date.now(),
    onFault: (error) => faults.push(error),
    confinement: options.confinement ?? sharedConfinement,
    contractFile: options.contractFile ?? null,
    contractBases: options.contractFile === undefined ? [] : loaded.bases.flatMap(({ paths }) => paths),
    contractParts: options.contractParts ?? [],
    minConfinement: options.minConfinement ?? null,
    ...(options.confirm === undefined ? {} : { confirm: options.confirm }),
    ...(options.answerWithinMs === undefined ? {} : { answerWithinMs: options.answerWithinMs }),
  })
  let port = 0
  const { server, agentSockets } = buildServer(app, {
    ...options,
    hosts: () => listAllowedHosts({ host: '127.0.0.1', port, extra: [] }),
    prove: (nonce) => computeServerProof(stateDir, { url: `http://127.0.0.1:${port}`, nonce }),
    onFault: (error) => faults.push(error),
  })
  await server.listen({ port: 0, host: '127.0.0.1' })
  const address = server.server.address()
  port = typeof address === 'object' && address !== null ? address.port : 0
  const operator = readFileSync(join(stateDir, 'operator.token'), 'utf8').trim()
  const url = `http://127.0.0.1:${port}`
  const close = async () => {
    await server.close()
    await app.close()
  }
  const call: Running['call'] = async (method, path, token, body, headers = {}) => {
    const response = await fetch(
      path.startsWith('/') && !path.startsWith('/api') && !ROOT.has(path) ? `${url}/api/v1${path}` : `${url}${path}`,
      {
        method,
        headers: {
          ...(token === null ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      },
    )
    const text = await response.text()
    const answer = { status: response.status, body: parsed(text), headers: response.headers }
    const misfit = answerCheck().findMisfit(method, path, answer)
    if (misfit !== null)
      throw new Error(`${method} ${path} answers what its schema does not describe: ${misfit}\n${text}`)
    return answer
  }
  return Object.assign(running, {
    url,
    port,
    app,
    agentSockets,
    routes: server.printRoutes({ commonPrefix: false }),
    workspace,
    stateDir,
    operator,
    faults,
    call,
    ...makeShortcuts(call, operator),
    close,
    stop: async () => {
      await close()
      rmSync(dir, { recursive: true, force: true })
    },
    restart: async () => {
      await close()
      return start({ ...options, dir })
    },
  })
}

type Shortcuts = Pick<Running, 'addAgent' | 'addTask' | 'claim'>

export function makeShortcuts(
  call: (...request: Parameters<Running['call']>) => Promise<Pick<Answer, 'status' | 'body'>>,
  operator: string,
): Shortcuts {
  return {
    addAgent: async (id, capabilities) => {
      const added = await call('POST', '/agents', operator, {
        agent_id: id,
        ...(capabilities === undefined ? {} : { capabilities }),
      })
      return String(added.body.agent_token)
    },
    addTask: async (about = {}) =>
      String((await call('POST', '/tasks', operator, { title: 'A task', ...about })).body.id),
    claim: async (agentId, agentToken, taskId) => {
      const claimed = await call('POST', '/tasks/claim', agentToken, {
        agent_id: agentId,
        ...(taskId === undefined ? {} : { task_id: taskId }),
      })
      if (claimed.status !== 200) throw new Error(JSON.stringify(claimed.body))
      return String(claimed.body.phase_token)
    },
  }
}

let check: AnswerCheck | null = null

/** Every answer that a test gets is held against the OpenAPI document. */
function answerCheck(): AnswerCheck {
  check ??= new AnswerCheck(openApi(DESCRIBED) as never)
  return check
}

const ROOT = new Set([
  '/',
  '/health',
  '/ready',
  '/metrics',
  '/docs',
  '/docs/errors',
  '/style.css',
  '/schemas/agent_workflow.schema.json',
])

function parsed(text: string): Answer['body'] {
  try {
    return JSON.parse(text) as Answer['body']
  } catch {
    return { text }
  }
}

export const PLAN = {
  title: 'A plan that says enough',
  acceptance_criteria: [{ id: 'AC1', criterion: 'It adds', how_to_verify: 'a unit test' }],
  implementation_steps: ['write it'],
  scope: { in_scope: ['adding'], out_of_scope: ['everything else'] },
}
export const RED = { command: 'npm test', exit_code: 1, passed: 0, failed: 1, skipped: 0 }
export const GREEN = { command: 'npm test', exit_code: 0, passed: 1, failed: 0, skipped: 0 }
