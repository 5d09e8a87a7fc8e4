import { randomUUID } from 'node:crypto'
import type { AgentGateways } from '../app/agent-gateway.js'
import type { ConfinedCommand, Job } from '../confinement/confinement.js'
import type { AgentEntry, Spawn } from '../core/contract/agent-programs.js'
import { type GatewaySocket, ORCHESTRATOR_URL } from '../gateway/gateway-ports.js'
import { buildInsideCommand } from '../gateway/inside-command.js'
import type { ModelRelay } from '../gateway/model-relay.js'
import { fillHome, type HarnessHome, makeHome } from '../participants/agent-cli/agent-cli-home.js'
import { makeComplaintReader, makeOutputReader } from '../participants/agent-cli/agent-cli-output.js'
import { findProgram } from '../participants/agent-cli/agent-cli-program.js'
import { RECIPES } from '../participants/agent-cli/agent-cli-recipes.js'
import { makeRedactor } from '../store/redaction/redact.js'
import { choosePlace, getProgramName, resolveCommand } from './agent-command.js'
import { buildSdkVariables, selectVariables } from './agent-environment.js'
import { Lines } from './agent-log.js'
import { type AgentReport, collectComplaints, Teller } from './agent-output.js'
import { openMeteredRelay } from './metered-relay.js'
import { findModelEndpoint, KEY_VARIABLES, type ModelEndpoint } from './model-gateway.js'
import { pumpLines } from './pump-lines.js'
import type { Start } from './start.js'

export interface Surroundings {
  readonly gateways: AgentGateways
  readonly environment: NodeJS.ProcessEnv
  readonly secretVariable: string
  /** The server's address without a sandbox. */
  readonly url: () => Promise<string>
  readonly lifeMs: number
  readonly now: () => number
  readonly onTold: (spawn: Spawn, told: AgentReport) => Promise<void>
  readonly onFault: (error: unknown) => void
}

export interface ProcessEnd {
  readonly exitCode: number | null
  readonly detail: string
}

export interface AgentProcess {
  /** Resolves when all its processes have ended and its sockets are closed. */
  readonly done: Promise<ProcessEnd>
  kill(): Promise<ProcessEnd>
}

/** Why the agent can never be started; null when it may. */
export function startProblem(
  { program, entry }: { readonly program: Spawn['program']; readonly entry: AgentEntry | null },
  around: Surroundings,
): string | null {
  const found = findProgram(getProgramName(program), program.args, around.environment.PATH ?? '')
  if (!found.ok) return found.detail
  const given = selectVariables(program, entry, around.environment, around.secretVariable)
  if (!given.ok) return given.detail
  const endpoint = findModelEndpoint(program.harness, mergeVariables(program.harness, given))
  return endpoint !== null && 'problem' in endpoint ? endpoint.problem : null
}

/** The home of an agent in the sandbox: private, and removed with it. */
const HOME_INSIDE = '/tmp/home'
/**
 * Holds the agent's NODE_OPTIONS until the agent starts. On the command line others could read it in the process list.
 */
const FOR_AGENT = 'PHASELOCK_NODE_OPTIONS'
// Filled from inside, by the account of the agent. NODE_OPTIONS is for the agent alone, not for its launcher.
const MOVE_IN = `
mkdir -p "$HOME" "$TMPDIR" && cp -R "$1/." "$HOME" || exit 126
[ -z "$${FOR_AGENT}" ] || export NODE_OPTIONS="$${FOR_AGENT}"
unset ${FOR_AGENT}
shift
exec "$@"`

/**
 * Starts an agent: in the sandbox with its sockets and nothing else, or outside if the contract does without a sandbox.
 */
export async function startAgent(start: Start, around: Surroundings): Promise<AgentProcess> {
  const { program, agentId } = start.spawn
  const given = selectVariables(program, start.entry, around.environment, around.secretVariable)
  if (!given.ok) throw new Error(given.detail)
  const isSandboxed = start.sandbox.provider !== 'none'
  const endpoint = findModelEndpoint(program.harness, mergeVariables(program.harness, given))
  if (endpoint !== null && 'problem' in endpoint) throw new Error(endpoint.problem)
  const opened = new OpenedParts()
  try {
    const socket = isSandboxed
      ? opened.keep(await around.gateways.open({ agentId, ...makeAllowed(start.spawn) }))
      : null
    const relay = isSandboxed && endpoint !== null ? opened.keep(await openRelay(start, endpoint, around)) : null
    const home = makeHome()
    opened.keep({ close: async () => home.remove() })
    const { command, copy } = await resolveCommand(start, home)
    const found = findProgram(command.name, command.args, around.environment.PATH ?? '', start.atStart?.tree ?? null)
    if (!found.ok) throw new Error(found.detail)
    const url = isSandboxed ? ORCHESTRATOR_URL : await around.url()
    const prepared = prepare(start, { home, url, isSandboxed, given, endpoint, relay, args: command.args })
    const about = { home, program: found, socket, relay, endpoint, copy, lifeMs: around.lifeMs }
    const job = buildJob(start, { ...prepared, ...about })
    const confined = await start.sandbox.start(job)
    confined.stdin.on('error', () => undefined)
    confined.stdin.end(start.prompt.toWellFormed())
    const secrets = [start.token, ...given.secrets, ...Object.values(endpoint?.headers ?? {})]
    return watchProcess({ start, around, confined, opened, redactor: makeRedactor(secrets), isMetered: relay !== null })
  } catch (error) {
    await opened.close()
    throw error
  }
}

function openRelay(
  { spawn, log }: Start,
  { baseUrl, headers }: ModelEndpoint,
  around: Surroundings,
): Promise<ModelRelay> {
  const record = (usages: AgentReport['usages']): Promise<void> =>
    around.onTold(spawn, { lines: [], usages, turnedAway: [] })
  const options = { baseUrl, headers, dir: around.gateways.dir, now: around.now }
  return openMeteredRelay(options, { record, log, onFault: around.onFault })
}

/** Resources of one process, closed with it. */
class OpenedParts {
  readonly #parts: { close(): Promise<void> }[] = []

  keep<T extends { close(): Promise<void> }>(part: T): T {
    this.#parts.push(part)
    return part
  }

  async close(): Promise<void> {
    for (const part of this.#parts.splice(0).reverse()) await part.close()
  }
}

type Variables = Readonly<Record<string, string>>
type GivenOk = Extract<ReturnType<typeof selectVariables>, { ok: true }>

function mergeVariables(harness: string, given: GivenOk): Variables {
  return harness === 'command' ? given.own : { ...given.passed, ...given.own }
}

function makeAllowed({ review, taskId }: Spawn): Pick<Parameters<AgentGateways['open']>[0], 'allowed'> {
  if (review === null) return {}
  return {
    allowed: (principal) =>
      principal.kind === 'reviewer' &&
      principal.bearer.reviewer === review.name &&
      principal.bearer.taskId === taskId &&
      principal.bearer.visit === review.visit,
  }
}

interface PreparedStart {
  readonly args: readonly string[]
  readonly env: Variables
  readonly shown: readonly string[]
}

function prepare(
  start: Start,
  about: {
    readonly home: HarnessHome
    readonly url: string
    readonly isSandboxed: boolean
    readonly given: GivenOk
    readonly endpoint: ModelEndpoint | null
    readonly relay: ModelRelay | null
    readonly args: readonly string[]
  },
): PreparedStart {
  const { home, url, isSandboxed, given, endpoint, relay } = about
  const { program, agentId, taskId, review } = start.spawn
  const at = isSandboxed ? HOME_INSIDE : home.home
  const address = relay === null ? {} : Object.fromEntries((endpoint?.variables ?? []).map((name) => [name, relay.url]))
  // In the sandbox the agent never has the keys, so there is nothing worth stealing.
  const keys = isSandboxed ? omitKeys({ ...given.passed, ...given.own }) : { ...given.passed, ...given.own }
  const passed = { ...keys, ...(isSandboxed ? { ...endpoint?.stands, ...address } : {}) }
  const made = RECIPES[program.harness].prepare({
    home: at,
    mcp: { url: `${url}/mcp`, token: start.token },
    model: program.model,
    passed,
    readsProject: review === null,
  })
  const own = { 'prompt.md': start.prompt.toWellFormed(), 'contract.json': JSON.stringify(start.contract, null, 2) }
  fillHome(home.home, { ...made.files, ...own })
  const sdk = buildSdkVariables(program.harness)
  const env = {
    ...{ HOME: at, TMPDIR: isSandboxed ? '/tmp/tmp' : home.temporary, ...sdk.env, ...made.env, ...passed },
    ...{ PHASELOCK_URL: url, PHASELOCK_TOKEN: start.token, PHASELOCK_AGENT_ID: review?.name ?? agentId },
    ...{ PHASELOCK_TASK_ID: taskId, PHASELOCK_PROMPT_FILE: `${at}/prompt.md` },
    ...{ PHASELOCK_CONTRACT_FILE: `${at}/contract.json` },
  }
  return { args: [...made.args, ...about.args], env, shown: sdk.shown }
}

function omitKeys(variables: Variables): Variables {
  return Object.fromEntries(Object.entries(variables).filter(([name]) => !KEY_VARIABLES.includes(name)))
}

function buildJob(
  start: Start,
  about: PreparedStart & {
    readonly home: HarnessHome
    readonly program: { readonly path: string; readonly shown: readonly string[] }
    readonly socket: GatewaySocket | null
    readonly relay: ModelRelay | null
    readonly endpoint: ModelEndpoint | null
    /** The tree at the start of the task, if the command names files of it. */
    readonly copy: string | null
    readonly lifeMs: number
  },
): Job {
  const { socket, relay, endpoint, home, program } = about
  const argv = [program.path, ...about.args]
  const common = {
    ...choosePlace(start, home),
    ...({ cwd: '.', writes: 'read', git: 'read' } as const),
    ...{ signal: new AbortController().signal, timeoutMs: about.lifeMs },
  }
  if (socket === null) return { ...common, argv, env: about.env, network: true }
  const model = relay === null || endpoint === null ? {} : { model: { ...relay, variables: endpoint.variables } }
  const { NODE_OPTIONS: forNode = '', ...env } = about.env
  const inside = buildInsideCommand({
    ...{ sockets: { orchestrator: socket.path, ...model }, env: { ...env, [FOR_AGENT]: forNode } },
    argv: ['/bin/sh', '-c', MOVE_IN, 'sh', home.home, ...argv],
  })
  const copy = about.copy === null ? [] : [about.copy]
  return { ...common, ...inside, shown: [...inside.shown, home.home, ...copy, ...program.shown, ...about.shown] }
}

interface WatchedStart {
  readonly start: Start
  readonly around: Surroundings
  readonly confined: ConfinedCommand
  readonly opened: OpenedParts
  readonly redactor: ReturnType<typeof makeRedactor>
  /** The relay counts the usage of its model. */
  readonly isMetered: boolean
}

function watchProcess({ start, around, confined, opened, redactor, isMetered }: WatchedStart): AgentProcess {
  const { log, spawn } = start
  const write = (lines: readonly string[]): Promise<void> => log.writeSaid(lines, (text) => String(redactor(text)))
  // The usage that the agent reports itself is not counted a second time.
  const tell = (told: AgentReport): Promise<void> => around.onTold(spawn, isMetered ? { ...told, usages: [] } : told)
  const teller = new Teller(makeOutputReader(spawn.program.harness))
  const isPlain = spawn.program.harness === 'command'
  const said = pumpLines(confined.stdout, isPlain ? new Lines() : new Lines(HARNESS_LINE_CHARS_MAX), async (lines) => {
    if (isPlain) return write(lines)
    const told = teller.take(lines)
    await tell(told)
    return write(told.lines)
  })
  const complains = makeComplaintReader(spawn.program.harness)
  const besides = pumpLines(confined.stderr, new Lines(), async (lines) => {
    await tell(collectComplaints(complains, lines))
    return write(lines)
  })
  const ended = confined.done.then(
    ({ exitCode, stopped }): ProcessEnd => ({
      exitCode,
      detail: stopped === 'timeout' ? 'it ran longer than an agent may' : `it ended with code ${exitCode}`,
    }),
    (error: unknown): ProcessEnd => ({
      exitCode: null,
      detail: `it could not be run (${error instanceof Error ? error.message : String(error)})`,
    }),
  )
  const done = ended.then(async (end) => {
    await Promise.all([said, besides])
    await tell(teller.end())
    await opened.close()
    return end
  })
  return {
    done,
    kill: () => {
      confined.kill()
      return done
    },
  }
}

const HARNESS_LINE_CHARS_MAX = 4 * 1024 * 1024

/** A name that no other started agent has. */
export function makeAgentId(kind: string): string {
  const stem = kind
    .replace(/[^A-Za-z0-9_.-]/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 50)
  return `${stem === '' ? 'agent' : stem}-${randomUUID().slice(0, 6)}`
}
