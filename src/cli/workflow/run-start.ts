import { randomBytes } from 'node:crypto'
import type { ClaimAnswer, Step } from 'phaselock/sdk'
import type { JsonObject } from '../../core/json.js'
import { plainLine } from '../../core/plain-text.js'
import { compact } from '../client/answer-values.js'
import { type Client, openClient } from '../client/client.js'
import type { ClientOptions } from '../client/connection.js'
import { chooseStartContract, resolveContractHash } from '../contracts/start-contract.js'
import { codeOf, EXIT, Stop } from '../exit.js'
import { tell } from '../terminal/terminal.js'
import { createRun, forgetRun, type Run, readRun, runFile } from './run-file.js'
import { askAsAgent, makeSteeringClient, openSession, type Session } from './run-session.js'
import { showAnswer } from './run-steps.js'
import { putAway } from './run-totals.js'

const TITLE_CHARS_MAX = 200
const FINISHED: ReadonlySet<string> = new Set(['completed', 'cancelled', 'unknown'])

export interface StartOptions extends ClientOptions {
  readonly task?: string
  readonly force?: boolean
  readonly reason: string
}

/** Starts a run: a task, a new agent for it, and the prompt of the first phase. */
export async function start(named: string | undefined, options: StartOptions): Promise<void> {
  const session = openSession(options)
  const client = await makeSteeringClient(session)
  if (session.agentToken !== null) return startAsAgent(session, client, options)
  const { stateDir } = session
  if (stateDir === null) return stopWithoutPlace(session)
  const choice = named === undefined ? null : await chooseStartContract(client, named, options.task)
  await clearTheWay({ ...session, stateDir }, client, options)
  const contract = choice === null ? undefined : await resolveContractHash(client, choice)
  const run = await begin(client, stateDir, buildTaskBody(options, contract, named))
  const claimed = await claim({ ...session, run }, client, stateDir)
  const { name, version, hash } = claimed.task.contract
  tell(plainLine(`Started ${run.taskId} under ${name} ${version}, agent ${run.agentId}.`))
  tell(
    'Work in the tree as the prompt says, then hand in what it asks for:\n  phaselock next --artifact NAME=FILE     with FILE outside of the work tree\nWhat is missing is named. Where the prompt says git_commit, commit with git.',
  )
  const answer: Step =
    claimed.task.status === 'completed'
      ? { kind: 'prompt', text: `Task ${run.taskId} is completed.`, phase: claimed.phase }
      : await askAsAgent({ ...session, run }, (agent) => agent.prompt())
  const about = { task_id: run.taskId, agent_id: run.agentId, run_file: runFile(stateDir), contract: hash }
  return showAnswer(options.json === true ? { ...about, ...answer } : answer, options)
}

// If its agent could not claim the task, there is no run.
async function claim(session: Session & { readonly run: Run }, client: Client, stateDir: string): Promise<ClaimAnswer> {
  const { run } = session
  try {
    return await askAsAgent(session, (agent) => agent.claim({ agent_id: run.agentId, task_id: run.taskId }))
  } catch (error) {
    await undoStart(client, run, 'start: the task could not be claimed')
    forgetRun(stateDir, run)
    throw error
  }
}

async function undoStart(client: Client, run: Run, reason: string): Promise<void> {
  await client.cancelTask(run.taskId, { reason })
  await client.revokeAgent(run.agentId, { reason })
}

// Only operators start runs. An agent's attempt is sent, so that the ledger records it.
async function startAsAgent(session: Session, client: Client, options: StartOptions): Promise<void> {
  const { run } = session
  if (options.force === true && run !== null) await client.cancelTask(run.taskId, { reason: options.reason })
  await client.addTask(buildTaskBody(options, undefined, undefined))
  throw new Stop(EXIT.refused, 'PHASELOCK_TOKEN is set: take it out of the environment to start a run.')
}

async function stopWithoutPlace({ options }: Session): Promise<never> {
  await (await openClient(options)).health()
  throw new Stop(
    EXIT.usage,
    'The state directory of this server is not on this machine, and runs are kept there.\nName a directory for it with --state-dir.',
  )
}

async function clearTheWay(
  session: Session & { readonly stateDir: string },
  client: Client,
  options: StartOptions,
): Promise<void> {
  const { run, stateDir } = session
  if (run === null) return
  const status = await readStatus(client, run)
  if (!FINISHED.has(status)) {
    if (options.force !== true)
      throw new Stop(
        EXIT.refused,
        `A run is active: ${run.taskId} (${plainLine(status)}).\nGo on with \`phaselock prompt\` or \`phaselock next\`, end it with\n\`phaselock abort\`, or start over with --force.`,
        { problem: { code: 'conflict', detail: `A run is active: ${run.taskId}`, task_id: run.taskId } },
      )
    await client.cancelTask(run.taskId, { reason: options.reason })
    tell(`Aborted ${run.taskId}.`)
  }
  await putAway(stateDir, run, client)
}

/** The status of the run's task; `unknown` if the server has no such task. */
async function readStatus(client: Client, run: Run): Promise<string> {
  try {
    return (await client.task(run.taskId)).status
  } catch (error) {
    if (codeOf(error) !== 'not_found') throw error
    return 'unknown'
  }
}

async function begin(client: Client, stateDir: string, body: JsonObject): Promise<Run> {
  const id = randomBytes(6).toString('hex')
  const task = await client.addTask({ ...body, id: `run-${id}` })
  const { agent_id: agentId, agent_token: agentToken } = await client.addAgent({ agent_id: `runner-${id}` })
  const run: Run = { taskId: task.id, agentId, agentToken, startedAt: task.created_at }
  if (createRun(stateDir, run)) return run
  await undoStart(client, run, 'start: another run was started at the same time')
  const other = readRun(stateDir)?.taskId ?? 'another one'
  throw new Stop(EXIT.refused, `A run was started at the same time: ${other}. This one is cancelled.`)
}

function buildTaskBody(options: StartOptions, contract: string | undefined, named: string | undefined): JsonObject {
  const text = options.task?.trim() ?? ''
  const [first = ''] = text.split('\n')
  const title = plainLine(first).slice(0, TITLE_CHARS_MAX)
  const fallback = named === undefined ? 'A run' : `A run of ${plainLine(named)}`.slice(0, TITLE_CHARS_MAX)
  return compact({
    title: title === '' ? fallback : title,
    description: title === text ? undefined : text,
    contract,
  })
}
