import type { JsonObject } from '../../core/json.js'
import { plainLine } from '../../core/plain-text.js'
import { type CliCommand, serverCommand } from '../cli-command.js'
import { compact, formatTime } from '../client/answer-values.js'
import { openClient } from '../client/client.js'
import { type ClientOptions, readToken } from '../client/connection.js'
import { EXIT, Stop } from '../exit.js'
import { parseSeconds } from '../options.js'
import { readInput, readJsonObject } from '../read-input.js'
import { show } from '../terminal/terminal.js'

const REPORT_FORM = `
The token is read from --token-file, else from PHASELOCK_TOKEN; an
operator's is not used. A report:
  {"status": "completed" | "approved" | "changes_requested" | "in_progress",
   "summary"?, "comments"?: [{"text", "path"?, "line"?, "resolved"?}],
   "blocking_issues"?: [...]}`

/** `phaselock review`: sends the report of a reviewer. */
export function addReviewCommand(program: CliCommand): void {
  serverCommand(program, 'review <task>', 'send the report of a review, with the token of a reviewer')
    .requiredOption('--report <file>', 'report file, JSON (- for standard input)')
    .option('--subject <hash>', 'refuse the report if the work has changed since this hash')
    .examples(
      ['phaselock review task-1 --report report.json', 'with the token in PHASELOCK_TOKEN'],
      `echo '{"status": "completed"}' | phaselock review task-1 --report -`,
    )
    .notes(REPORT_FORM)
    .action(async (task: string, options: ReviewOptions) => {
      const client = await openClient({ ...options, token: reviewToken(options) })
      const body = compact({ report: readReport(options.report), subject: options.subject })
      const sent = await client.sendReview(task, body)
      const end = sent.finished ? 'It is finished, and the token is no longer valid.' : 'It can be sent again.'
      const what = `${plainLine(sent.reviewer)} of ${plainLine(sent.task_id)} is ${plainLine(sent.status)}`
      show(options, sent, `The review ${what}. ${end}`)
    })
}

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
  const report = readJsonObject(readInput(file, where))
  if (report !== null) return report
  throw new Stop(EXIT.usage, `${plainLine(where)} is not a JSON object such as {"status": "completed"}.`)
}

interface ReviewerOptions extends ClientOptions {
  readonly expires?: number
  readonly revoke?: boolean
  readonly reason?: string
}

/** `phaselock task reviewer`: adds a reviewer, or revokes one. */
export function addReviewer(task: CliCommand): void {
  serverCommand(task, 'reviewer <id>', 'add a reviewer to a task and print its token once')
    .argument('<name>', 'name of the review, such as security')
    .option('--expires <seconds>', 'lifetime of the token (default: the lifetime of a phase token)', parseSeconds)
    .option('--revoke', 'revoke the token of the reviewer; its report no longer counts')
    .option('--reason <text>', 'why it is revoked; kept in the ledger')
    .examples(
      'phaselock task reviewer task-1 security',
      'phaselock task reviewer task-1 security --revoke --reason "lost"',
    )
    .action((id: string, name: string, options: ReviewerOptions) =>
      options.revoke === true ? revoke(id, name, options) : letIn(id, name, options),
    )
}

async function letIn(id: string, name: string, options: ReviewerOptions): Promise<void> {
  if (options.reason !== undefined) throw new Stop(EXIT.usage, 'A --reason belongs to --revoke.')
  const client = await openClient(options)
  const added = await client.addReviewer(id, compact({ name, expires_seconds: options.expires }))
  show(
    options,
    added,
    `Reviewer ${plainLine(added.reviewer)} may look at ${plainLine(id)} until ${formatTime(added.expires_at)}, or until the phase is left.\nThe token is shown only once; an older one no longer works:\n\n${added.review_token}`,
  )
}

async function revoke(id: string, name: string, options: ReviewerOptions): Promise<void> {
  const { reason } = options
  if (reason === undefined) throw new Stop(EXIT.usage, 'Give the --reason why it is revoked.')
  const revoked = await (await openClient(options)).revokeReviewer(id, name, { reason })
  const who = `The token of reviewer ${plainLine(name)}`
  show(options, revoked, `${who} is refused from now on, and its report no longer counts.`)
}
