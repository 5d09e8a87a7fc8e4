import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { depth } from '../depth.js'
import { type Account, accounts, type Plain, type PlainOptions, plainly } from './account.js'
import type { Program } from './program.js'
import { isHere } from './providers.js'
import { startServer } from './server.js'

export const PROVIDERS = ['overlay+bubblewrap', 'bubblewrap', 'unshare'] as const
export type Provider = (typeof PROVIDERS)[number]

/** Not /tmp: commands have one of their own, and nothing that lies there could be reached anyway. */
const PLACE = '/var/tmp'

/** One phase as in test-driven work: everything may be run, and only tests may be changed. */
const CONTRACT = `name: wall
version: "1.0"
phases:
  - id: WORK
    name: Work
    description: Only tests may be changed.
    allowed_tools: [read_files, write_files, edit_files, grep, glob, search_codebase, bash, git_status, git_diff, git_log, git_commit]
    tool_constraints: { write_files: { allowed_patterns: ["tests/**", "**/*.spec.txt"] } }
  - { id: DONE, name: Done, description: Done., allowed_tools: [], writable: [] }
transitions: [{ from: WORK, to: DONE }]
enforcement: { mode: strict, denial_budget: 100000 }
`

export interface Setting {
  readonly name: string
  readonly provider: Provider
  readonly account: Account
}

/** Every sandbox provider and every account that this machine has. */
function allSettings(): readonly Setting[] {
  return accounts().flatMap((account) =>
    PROVIDERS.filter(isHere).map((provider) => ({ name: `${provider}, server of ${account.name}`, provider, account })),
  )
}

/**
 * The preferred provider under the account of the tests. All providers and accounts at full depth.
 */
export function someSettings(): readonly Setting[] {
  const all = allSettings()
  return depth(all.slice(0, 1), all)
}

/** What the server answered to a tool call. */
export interface Ran {
  readonly status: number
  readonly code: string | null
  readonly detail: string
  readonly exit: number | null
  readonly stdout: string
  readonly stderr: string
  /** The paths that a refusal lists. */
  readonly paths: readonly string[]
  readonly body: Readonly<Record<string, unknown>>
}

export interface Agent {
  readonly token: string
  readonly taskId: string
  tool(name: string, args: Readonly<Record<string, unknown>>): Promise<Ran>
  bash(command: string, timeout?: number): Promise<Ran>
}

/** A server behind one wall, run by one account, with things around it that nobody inside may reach. */
export interface Stage extends Setting {
  readonly dir: string
  readonly tree: string
  readonly home: string
  readonly stateDir: string
  readonly url: string
  readonly port: number
  readonly pid: number
  readonly operator: string
  /** Values that must be found nowhere, by their names. */
  readonly secrets: ReadonlyMap<string, string>
  /** Every answer of the server, as it was sent. */
  readonly answers: readonly string[]
  readonly output: () => string
  call(method: string, path: string, token: string | null, body?: unknown): Promise<Answer>
  /** An agent with a task of its own, in the tree of the stage or in another one. */
  agent(tree?: string): Promise<Agent>
  /** Makes another work tree that belongs to the account. */
  makeTree(name: string): string
  /** A plain process of the account that the server runs as. */
  outside(line: string, options?: Partial<PlainOptions>): Promise<Plain>
  kill(): Promise<void>
  stop(): Promise<void>
}

export interface Answer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

export interface StageOptions {
  /** Puts something around the command that starts the server. */
  readonly wrap?: (words: readonly string[]) => readonly string[]
  readonly prepare?: (places: Places) => Promise<void> | void
}

export interface Places {
  readonly dir: string
  readonly tree: string
  readonly home: string
  readonly stateDir: string
}

export async function openStage(program: Program, setting: Setting, options: StageOptions = {}): Promise<Stage> {
  const { account } = setting
  const dir = realpathSync(mkdtempSync(join(PLACE, 'phaselock-wall-')))
  chmodSync(dir, 0o755)
  const places: Places = { dir, tree: join(dir, 'tree'), home: join(dir, 'home'), stateDir: join(dir, 'state') }
  const makeFolder = (path: string, mode: number): string => {
    mkdirSync(path, { mode })
    chownSync(path, account.uid, account.gid)
    return path
  }
  makeFolder(places.tree, 0o755)
  makeFolder(places.home, 0o700)
  makeFolder(places.stateDir, 0o700)
  const secrets = new Map(
    ['ORCHESTRATOR_JWT_SECRET', 'AWS_SECRET_ACCESS_KEY', 'NPM_TOKEN', 'DATABASE_PASSWORD'].map((name) => [
      name,
      planted(name),
    ]),
  )
  const environment = Object.fromEntries(secrets)
  const giveFile = (path: string, content: string): void => {
    writeFileSync(path, content, { mode: 0o600 })
    chownSync(path, account.uid, account.gid)
  }
  for (const [name, path] of [
    ['descriptor', join(dir, 'descriptor')],
    ['signing.secret', join(places.stateDir, 'signing.secret')],
  ] as const) {
    secrets.set(name, planted(name))
    giveFile(path, `${secrets.get(name)}\n`)
  }
  writeFileSync(join(dir, 'contract.yaml'), CONTRACT)
  await options.prepare?.(places)
  const server = await startServer(program, {
    ...setting,
    ...places,
    contract: join(dir, 'contract.yaml'),
    descriptor: join(dir, 'descriptor'),
    environment,
    wrap: options.wrap ?? ((words) => words),
  }).catch((error: unknown) => {
    rmSync(dir, { recursive: true, force: true })
    throw error
  })
  const operator = readFileSync(join(places.stateDir, 'operator.token'), 'utf8').trim()
  secrets.set('operator token', operator)
  const answers: string[] = []
  const call: Stage['call'] = async (method, path, token, body) => {
    const response = await fetch(`${server.url}${path === '/health' ? '' : '/api/v1'}${path}`, {
      method,
      headers: {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    answers.push(text)
    return { status: response.status, body: parsed(text) }
  }
  let count = 0
  // Two tasks never hold one tree: whoever names none is the one agent of the common tree.
  let common: Promise<Agent> | null = null
  const agentIn = (tree: string): Promise<Agent> => {
    count += 1
    return newAgent({ call, operator }, `agent-${count}`, tree)
  }
  return {
    ...setting,
    ...places,
    ...server,
    operator,
    secrets,
    answers,
    call,
    makeTree: (name) => makeFolder(join(dir, name), 0o755),
    agent: (tree) => {
      if (tree !== undefined) return agentIn(tree)
      common ??= agentIn(places.tree)
      return common
    },
    outside: (line, more = {}) =>
      plainly(line, { account, cwd: places.tree, ...more, env: { HOME: places.home, ...more.env } }),
    stop: async () => {
      await server.stop()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

function planted(name: string): string {
  return `planted-${name.toLowerCase().replaceAll(/\W/g, '-')}-${randomBytes(24).toString('hex')}`
}

async function newAgent(at: Pick<Stage, 'call' | 'operator'>, id: string, workspace: string): Promise<Agent> {
  const added = await at.call('POST', '/agents', at.operator, { agent_id: id })
  const task = await at.call('POST', '/tasks', at.operator, { title: `Task of ${id}`, workspace })
  const claimed = await at.call('POST', '/tasks/claim', String(added.body.agent_token), {
    agent_id: id,
    task_id: task.body.id,
  })
  if (claimed.status !== 200) throw new Error(JSON.stringify([task.body, claimed.body]))
  const token = String(claimed.body.phase_token)
  const task_id = String(task.body.id)
  const tool: Agent['tool'] = async (tool_name, args) =>
    ranOf(await at.call('POST', '/tools/execute', token, { task_id, tool_name, args }))
  return {
    token,
    taskId: task_id,
    tool,
    bash: (command, timeout) => tool('bash', { command, ...(timeout === undefined ? {} : { timeout }) }),
  }
}

function ranOf({ status, body }: Answer): Ran {
  const result = (status === 200 ? (body.result ?? {}) : body) as Record<string, unknown>
  const text = (value: unknown): string => (typeof value === 'string' ? value : '')
  return {
    status,
    code: typeof body.code === 'string' ? body.code : null,
    detail: text(body.detail),
    exit: typeof result.exit_code === 'number' ? result.exit_code : null,
    stdout: text(result.stdout),
    stderr: text(result.stderr),
    paths: Array.isArray(body.paths) ? (body.paths as string[]) : [],
    body,
  }
}

function parsed(text: string): Answer['body'] {
  try {
    return JSON.parse(text) as Answer['body']
  } catch {
    return { text }
  }
}
