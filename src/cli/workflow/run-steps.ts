import type { AgentSnapshot, Step } from 'phaselock/sdk'
import { isObject, type Json, type JsonObject } from '../../core/json.js'
import type { ClientOptions } from '../client/connection.js'
import { EXIT, Stop } from '../exit.js'
import { parseJson, readRegularFile } from '../read-input.js'
import { print, printJson, tell } from '../terminal/terminal.js'
import { askAsAgent, openSession } from './run-session.js'
import { formatAnswer, formatWarningLines, isBlocked, isInterrupt, rewordForCommandLine } from './run-text.js'

const PROGRESS_MS = 1000

export interface NextOptions extends ClientOptions {
  readonly artifact?: readonly string[]
  readonly evidence?: string
}

/** The prompt of the phase, or the interrupt instead. */
export async function showPrompt(options: ClientOptions): Promise<void> {
  const session = openSession(options)
  return showAnswer(await askAsAgent(session, (client) => client.prompt()), options)
}

/** Acknowledges the interrupt that was shown. */
export async function goOn(options: ClientOptions): Promise<void> {
  const session = openSession(options)
  return showAnswer(await askAsAgent(session, (client) => client.continue()), options)
}

/** Claims that something is done, and requests the transition that the claim leads to. */
export async function next(claim: string | undefined, options: NextOptions): Promise<void> {
  const artifacts = Object.fromEntries((options.artifact ?? []).map(readArtifact))
  const evidence = options.evidence === undefined ? undefined : readEvidence(options.evidence)
  const named = claim === undefined ? null : parseStatements(claim)
  const session = openSession(options)
  const begun = performance.now()
  const waiting = setTimeout(() => process.stderr.isTTY && tell('Waiting for the gates …'), PROGRESS_MS)
  try {
    const answer = await askAsAgent(session, async (client) => {
      const claims = named ?? makeBareStatements(await client.snapshot())
      const body = { claims, artifacts, ...(evidence === undefined ? {} : { evidence }) }
      let answered = await client.next(body)
      // The same request joins the one whose gates are still being checked.
      while (answered.checking === true) {
        tell(`The gates of ${answered.phase} are still being checked (${countSecondsSince(begun)} s) …`)
        answered = await client.next(body)
      }
      return answered
    })
    if (options.json !== true && answer.allowed === undefined && !isInterrupt(answer))
      tell(`The claims lead to no transition. ${answer.next_step ?? ''}`)
    return showAnswer(answer, options)
  } finally {
    clearTimeout(waiting)
  }
}

function countSecondsSince(begun: number): number {
  return Math.round((performance.now() - begun) / 1000)
}

/** Prints the answer for the agent. An interrupt and a closed gate are not a success. */
export function showAnswer(answer: Step, options: ClientOptions): void {
  const shown = rewordForCommandLine(answer)
  if (options.json === true) printJson(shown)
  else {
    for (const line of formatWarningLines(shown)) tell(line)
    print(formatAnswer(shown))
  }
  if (isInterrupt(shown)) throw new Stop(EXIT.interrupted, '', { problem: { code: 'rule_interrupt' } })
  if (isBlocked(shown)) throw new Stop(EXIT.refused, '', { problem: { code: 'gate_blocked' } })
}

// Without a claim the phase itself is claimed to be complete; contracts write it in either case.
function makeBareStatements({ task }: AgentSnapshot): JsonObject {
  if (task !== null) return { [`${task.phase}_complete`]: true, [`${task.phase.toLowerCase()}_complete`]: true }
  throw new Stop(EXIT.refused, 'The agent holds no task. [no_active_task]\nClaim a task first.', {
    problem: { code: 'no_active_task' },
  })
}

function parseStatements(text: string): JsonObject {
  if (!text.trimStart().startsWith('{')) return { [text]: true }
  const claims = parseJson(text, 'The claims')
  if (isObject(claims) && Object.values(claims).every((one) => typeof one === 'boolean')) return claims
  throw new Stop(EXIT.usage, 'Claims are a JSON object of true and false, such as {"code_complete": true}.')
}

function readArtifact(text: string): readonly [string, Json] {
  const at = text.indexOf('=')
  if (at < 1 || at === text.length - 1)
    throw new Stop(EXIT.usage, `'${text}' is not NAME=FILE, such as plan_document=plan.json.`)
  const file = text.slice(at + 1)
  const content = readRegularFile(file)
  return [text.slice(0, at), file.endsWith('.json') ? parseJson(content, file) : content]
}

function readEvidence(file: string): JsonObject {
  const value = parseJson(readRegularFile(file), file)
  if (isObject(value)) return value
  throw new Stop(EXIT.usage, `${file} does not hold a JSON object.`)
}
