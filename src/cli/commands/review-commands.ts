import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import type { JsonObject } from '../../core/json.js'
import { compact, formatTime, toText } from '../client/answer-values.js'
import { Client, encodeSegment } from '../client/client.js'
import { addClientOptions, type ClientOptions, readToken } from '../client/connection.js'
import { EXIT, Stop } from '../exit.js'
import { formatExamples, parseSeconds } from '../options.js'
import { toPlainLine } from '../terminal/plain-text.js'
import { print, printJson } from '../terminal/terminal.js'

/** `phaselock review`: what somebody who was let in as a reviewer does. */
export function addReviewCommand(program: Command): void {
  addClientOptions(
    program
      .command('review')
      .argument('<task>')
      .description('send the report of a review, with the token of a reviewer'),
  )
    .requiredOption('--report <file>', 'report file, JSON (- for standard input)')
    .option('--subject <hash>', 'refuse the report if the work has changed since this hash')
    .addHelpText(
      'after',
      `${formatExamples([
        ['phaselock review task-1 --report report.json', 'with the token in PHASELOCK_TOKEN'],
        [`echo '{"status": "completed"}' | phaselock review task-1 --report -`, ''],
      ])}\n\nThe token is read from --token-file, else from PHASELOCK_TOKEN; an\noperator's is not used. A report:\n  {"status": "completed" | "approved" | "changes_requested" | "in_progress",\n   "summary"?, "comments"?: [{"text", "path"?, "line"?, "resolved"?}],\n   "blocking_issues"?: [...]}`,
    )
    .action(async (task: string, options: ReviewOptions) => {
      const client = new Client({ ...options, token: reviewToken(options) })
      const body = compact({ report: readReport(options.report), subject: options.subject })
      const answer = await client.post(`/tasks/${encodeSegment(task)}/reviews`, body, REVIEW_MS_MAX)
      if (options.json === true) return printJson(answer)
      const end = answer.finished === true ? 'It is finished, and the token with it.' : 'It can be sent again.'
      const line = (key: string): string => toPlainLine(toText(answer[key]))
      print(`The review ${line('reviewer')} of ${line('task_id')} is ${line('status')}. ${end}`)
    })
}

// The report may open a gate, which the server waits for up to 40 seconds.
const REVIEW_MS_MAX = 60_000

interface ReviewOptions extends ClientOptions {
  readonly report: string
  readonly subject?: string
}

function reviewToken(options: ReviewOptions): string {
  if (options.tokenFile !== undefined) return readToken(options.tokenFile)
  const named = process.env.PHASELOCK_TOKEN?.trim()
  if (named !== undefined && named !== '') return named
  throw new Stop(EXIT.usage, 'Give the review token: --token-file FILE, or set PHASELOCK_TOKEN.')
}

function readReport(file: string): JsonObject {
  const where = file === '-' ? 'standard input' : file
  const text = readText(file, where)
  try {
    const report: unknown = JSON.parse(text)
    if (typeof report === 'object' && report !== null && !Array.isArray(report)) return report as JsonObject
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  throw new Stop(EXIT.usage, `${toPlainLine(where)} is not a JSON object such as {"status": "completed"}.`)
}

function readText(file: string, where: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8')
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'fault'
    throw new Stop(EXIT.usage, `${toPlainLine(where)} cannot be read (${code}).`)
  }
}

interface ReviewerOptions extends ClientOptions {
  readonly expires?: number
  readonly revoke?: boolean
  readonly reason?: string
}

/** `phaselock task reviewer`: lets somebody in, or ends that. */
export function addReviewer(task: Command): void {
  addClientOptions(
    task
      .command('reviewer')
      .argument('<id>')
      .argument('<name>', 'name of the review, such as security')
      .description('add a reviewer to a task and print its token once'),
  )
    .option('--expires <seconds>', 'lifetime of the token (default: the lifetime of a phase token)', parseSeconds)
    .option('--revoke', 'revoke the token of the reviewer; its report no longer counts')
    .option('--reason <text>', 'why it is revoked; kept in the ledger')
    .addHelpText(
      'after',
      formatExamples([
        ['phaselock task reviewer task-1 security', ''],
        ['phaselock task reviewer task-1 security --revoke --reason "lost"', ''],
      ]),
    )
    .action((id: string, name: string, options: ReviewerOptions) =>
      options.revoke === true ? revoke(id, name, options) : letIn(id, name, options),
    )
}

async function letIn(id: string, name: string, options: ReviewerOptions): Promise<void> {
  if (options.reason !== undefined) throw new Stop(EXIT.usage, 'A --reason belongs to --revoke.')
  const body = compact({ name, expires_seconds: options.expires })
  const answer = await new Client(options).post(`/tasks/${encodeSegment(id)}/reviewers`, body)
  if (options.json === true) return printJson(answer)
  print(
    `Reviewer ${toPlainLine(toText(answer.reviewer))} may look at ${toPlainLine(id)} until ${formatTime(answer.expires_at)}, or until the phase is left.\nThe token is shown this once; an older one is dead now:\n\n${toText(answer.review_token)}`,
  )
}

async function revoke(id: string, name: string, options: ReviewerOptions): Promise<void> {
  if (options.reason === undefined) throw new Stop(EXIT.usage, 'Give the --reason why it is revoked.')
  const path = `/tasks/${encodeSegment(id)}/reviewers/${encodeSegment(name)}/revoke`
  const answer = await new Client(options).post(path, { reason: options.reason })
  if (options.json === true) return printJson(answer)
  print(`The token of reviewer ${toPlainLine(name)} is refused from now on, and what it reported counts no more.`)
}
