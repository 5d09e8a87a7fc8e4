import { plainText } from '../../core/plain-text.js'
import { type Client, openClient } from '../client/client.js'
import { type ClientOptions, findServer } from '../client/connection.js'
import { codeOf, EXIT, problemOf, Stop } from '../exit.js'
import { type Run, readRun, runFile } from './run-file.js'

const OPERATOR_PREFIX = 'plop_'

/** The context of the workflow commands: the run of this server, and the caller. */
export interface Session {
  readonly options: ClientOptions
  /** Where runs are stored; null: the state directory of the server is not on this machine. */
  readonly stateDir: string | null
  readonly run: Run | null
  /** The agent's token from the environment: then everything is called as that agent. */
  readonly agentToken: string | null
}

export function openSession(options: ClientOptions): Session {
  const agentToken = readTokenFromEnvironment()
  const { stateDir } = findServer(options)
  return { options, stateDir, run: stateDir === null ? null : readRunIfAllowed(stateDir, agentToken), agentToken }
}

/**
 * For calls that only operators may make. An agent's token is sent anyway: the server refuses it, and records it in the
 * ledger.
 */
export function makeSteeringClient({ options, agentToken }: Session): Promise<Client> {
  return openClient(agentToken === null ? options : { ...options, token: agentToken })
}

/** Calls as the agent. A task whose lease expired is claimed again first. */
export async function askAsAgent<Answer>(session: Session, send: (client: Client) => Promise<Answer>): Promise<Answer> {
  const { run } = session
  const token = session.agentToken ?? run?.agentToken
  if (token === undefined) return stopWithoutRun(session)
  const client = await openClient({ ...session.options, token })
  try {
    return await send(client)
  } catch (error) {
    if (run === null || token !== run.agentToken || codeOf(error) !== 'no_active_task') throw error
  }
  await claimAgain(client, run)
  return send(client)
}

async function claimAgain(client: Client, run: Run): Promise<void> {
  try {
    await client.claim({ agent_id: run.agentId, task_id: run.taskId })
  } catch (error) {
    if (codeOf(error) !== 'task_not_active' || !(error instanceof Stop)) throw error
    const problem = problemOf(error)
    const message = `${plainText(String(problem?.detail))} [task_not_active]\n\`phaselock status\` shows the run, \`phaselock done\` closes a finished one.`
    throw new Stop(error.exit, message, { problem })
  }
}

/** The task that is meant: the calling agent's, else the run's. */
export async function findTask(session: Session): Promise<string> {
  if (session.run !== null) return session.run.taskId
  if (session.agentToken === null) return stopWithoutRun(session)
  const { task } = await askAsAgent(session, (client) => client.snapshot())
  return task?.id ?? stopWithoutRun(session)
}

export async function stopWithoutRun({ options, stateDir }: Session): Promise<never> {
  // Nothing started, or started elsewhere: the user has to do different things.
  await (await openClient(options)).health()
  const where =
    stateDir === null ? 'the state directory of this server is not on this machine' : `there is no ${runFile(stateDir)}`
  throw new Stop(
    EXIT.refused,
    `No run is active: ${where}. [no_active_task]\nStart one with \`phaselock start\`, or set PHASELOCK_TOKEN to an agent's token.`,
    { problem: { code: 'no_active_task', detail: 'No run is active.' } },
  )
}

function readTokenFromEnvironment(): string | null {
  const token = process.env.PHASELOCK_TOKEN?.trim() ?? ''
  return token === '' || token.startsWith(OPERATOR_PREFIX) ? null : token
}

// An agent of another user cannot read the state directory, and does not need to.
function readRunIfAllowed(stateDir: string, agentToken: string | null): Run | null {
  try {
    return readRun(stateDir)
  } catch (error) {
    if (agentToken === null || !(error instanceof Stop)) throw error
    return null
  }
}
