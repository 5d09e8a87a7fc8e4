import type { Coordination } from 'phaselock/sdk'
import type { JsonObject } from '../../core/json.js'
import { plainJson, plainLine } from '../../core/plain-text.js'
import { openClient } from '../client/client.js'
import type { ClientOptions } from '../client/connection.js'
import { EXIT, type ExitCode, Stop } from '../exit.js'
import { readInput } from '../read-input.js'
import { tell } from '../terminal/terminal.js'
import { toExitCode } from './council-end.js'
import { type Door, openDoor } from './council-server.js'
import { applyEvent, applyPart, type Live, NOTHING_YET } from './live-council.js'
import { type Council, explainCouncilStop, readCouncil } from './read-council.js'
import {
  makeJsonLinesShow,
  makeJsonShow,
  makeLanesShow,
  makePlainShow,
  makeQuietShow,
  type Show,
} from './show-council.js'
import { Signals } from './signals.js'
import { watchRun } from './watch-council.js'

const CANCELLED = 'the operator interrupted it'

export interface CoordinateOptions extends ClientOptions {
  readonly config: string
  readonly questionFile?: string
  readonly option?: JsonObject
  readonly timeout?: number
  readonly jsonl?: boolean
  readonly events?: boolean
  readonly quiet?: boolean
}

/** Runs a council on a question and shows its progress; sets the exit code. */
export async function runCouncil(question: string | undefined, options: CoordinateOptions): Promise<void> {
  const council = readCouncil(options.config)
  const asked = readQuestionText(question, options)
  const door = await openDoor(options)
  const signals = new Signals()
  try {
    const started = await startRun(door, council, { asked, options })
    const show = showOf(started, options)
    signals.onFirst(() => cancel(door, started.id, show))
    process.exitCode = await follow(door, started, { options, show })
  } finally {
    signals.close()
    await door.close()
  }
}

interface StartedCouncil {
  readonly id: string
  readonly answer: Coordination
  readonly url: string
}

async function startRun(
  door: Door,
  council: Council,
  { asked, options }: { readonly asked: string; readonly options: CoordinateOptions },
): Promise<StartedCouncil> {
  const client = await openClient(door.client)
  const limit: JsonObject = options.timeout === undefined ? {} : { timeout_seconds: options.timeout }
  const body: JsonObject = {
    question: asked,
    agents: council.agents,
    options: { ...council.options, ...options.option, ...limit },
  }
  try {
    const answer = await client.coordinate(body)
    return { id: answer.id, answer, url: client.url }
  } catch (error) {
    throw error instanceof Stop ? (explainCouncilStop(council, error) ?? error) : error
  }
}

async function follow(
  door: Door,
  started: StartedCouncil,
  { options, show }: { readonly options: CoordinateOptions; readonly show: Show },
): Promise<ExitCode> {
  let live: Live = NOTHING_YET
  try {
    showInvitations(started, options, show)
    for await (const seen of watchRun(door.client, started.id)) {
      if (seen.kind === 'part') live = applyPart(live, seen.part)
      else if (seen.event !== null) live = applyEvent(live, seen.event)
      show.see(seen, live)
    }
    const { run } = live
    if (run === null) throw new Stop(EXIT.refused, `The server sent no events of council ${started.id}.`)
    show.end(run, live)
    return toExitCode(run)
  } finally {
    show.close()
  }
}

function showOf({ answer, id, url }: StartedCouncil, options: CoordinateOptions): Show {
  if (options.jsonl === true || options.events === true) return makeJsonLinesShow({ ...answer, id, url })
  if (options.json === true) return makeJsonShow()
  if (options.quiet === true) return makeQuietShow()
  return process.stdout.isTTY === true && process.env.TERM !== 'dumb' ? makeLanesShow() : makePlainShow()
}

/** Requests the end of the council, which then arrives like every other event. */
function cancel(door: Door, id: string, show: Show): void {
  show.say('Cancelling. Press Ctrl-C again to leave immediately.')
  openClient(door.client)
    .then((client) => client.cancelCoordination(id, { reason: CANCELLED }))
    .catch((error) => {
      // It may have ended at the same moment: then its end is shown.
      tell(plainLine(`It could not be cancelled: ${error instanceof Error ? error.message : String(error)}`))
    })
}

/** How remote agents take part. Their tokens are shown once, and only here. */
function showInvitations({ answer, id, url }: StartedCouncil, options: CoordinateOptions, show: Show): void {
  const guests = answer.agents.filter(({ token = '' }) => token !== '')
  if (guests.length === 0 || options.jsonl === true || options.events === true) return
  const at = `${url}/api/v1/coordinations/${encodeURIComponent(id)}`
  if (options.json === true) {
    tell(plainJson({ event: 'invited', url: at, mcp: `${url}/mcp`, agents: guests }))
    return
  }
  const lines = guests.flatMap((guest) => [
    plainLine(`${guest.anonymous_id} ${guest.id} takes part remotely, with the token`),
    `  ${plainLine(guest.token)}`,
  ])
  const how = [
    `  over REST: GET ${at} says what it must do, POST ${at}/respond takes`,
    '    {"tool_calls": [{"name": "new_answer", "arguments": {"content": "…"}}]}',
    `  over MCP: ${url}/mcp; both with Authorization: Bearer TOKEN`,
  ]
  const text = [...lines, ...how].join('\n')
  if (options.quiet === true) tell(text)
  else show.say(text)
}

function readQuestionText(question: string | undefined, options: CoordinateOptions): string {
  const { questionFile: file } = options
  if ((question === undefined) === (file === undefined))
    throw new Stop(EXIT.usage, 'Give either the question or --question-file FILE.')
  const text = file === undefined ? (question ?? '') : readInput(file, `The question file ${file}`).trim()
  if (text.trim() === '') throw new Stop(EXIT.usage, 'The question is empty.')
  return text
}
