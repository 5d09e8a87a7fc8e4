import type { Command } from 'commander'
import type { JsonObject } from '../../core/json.js'
import { compact, listOf, toObject, toText } from '../client/answer-values.js'
import { Client, encodeSegment } from '../client/client.js'
import { addClientOptions, type ClientOptions } from '../client/connection.js'
import { findNamedTask } from '../client/named-task.js'
import { EXIT, Stop } from '../exit.js'
import { formatExamples } from '../options.js'
import { formatApproval, formatApprovalTable, formatDecided, formatEnded } from '../terminal/approval-text.js'
import { toPlainLine } from '../terminal/plain-text.js'
import { canAsk, confirm, print, printJson, tell } from '../terminal/terminal.js'

const PAGE = 100

/** `approve`, `reject` and `approvals`. */
export function addApprovalCommands(program: Command): void {
  addClientOptions(
    program.command('approvals').argument('[id]', 'show this approval in full').description('list pending approvals'),
  )
    .addHelpText('after', formatExamples([['phaselock approvals apr-1-task-1', 'what exactly is to be approved']]))
    .action((id: string | undefined, options: ClientOptions) => list(new Client(options), id, options))
  addAnswer(program, 'approve')
  addAnswer(program, 'reject')
}

interface AnswerOptions extends ClientOptions {
  readonly comment?: string
  readonly yes?: boolean
  readonly digest?: string
}

function addAnswer(program: Command, decision: 'approve' | 'reject'): void {
  const command = addClientOptions(
    program
      .command(decision)
      .argument('[id]', 'id of an approval, or of a task that waits for one (default: list the pending approvals)')
      .description(`${decision} the step that a task waits for`),
  )
    .option('--comment <text>', decision === 'reject' ? 'what must change (required)' : 'kept in the ledger')
    .option('--digest <sha256>', `${decision} only if this is still what is to be approved`)
    .option('-y, --yes', 'do not ask for confirmation')
  const example =
    decision === 'approve'
      ? 'phaselock approve apr-1-task-1'
      : 'phaselock reject apr-1-task-1 --comment "no error cases"'
  command
    .addHelpText('after', formatExamples([[example, 'shows what it is about, then asks']]))
    .action(async (id: string | undefined, options: AnswerOptions) => {
      const client = new Client(options)
      if (id === undefined) return list(client, undefined, options)
      if (decision === 'reject' && (options.comment ?? '').trim() === '')
        throw new Stop(EXIT.usage, 'A rejection needs --comment TEXT, which tells the agent what must change.')
      await answer(client, { id, decision, options })
    })
}

async function answer(
  client: Client,
  asked: { readonly id: string; readonly decision: 'approve' | 'reject'; readonly options: AnswerOptions },
): Promise<void> {
  const { decision, options } = asked
  const approval = await client.get(`/approvals/${encodeSegment(await findApprovalId(client, asked.id))}`)
  const digest = toText(approval.digest)
  if (options.digest !== undefined && options.digest !== digest)
    throw new Stop(EXIT.refused, `What is to be approved now has the digest ${toPlainLine(digest)}, not the one given.`)
  if (approval.status !== 'pending')
    throw new Stop(EXIT.refused, `Approval ${toPlainLine(toText(approval.id))} ${formatEnded(approval)}.`)
  if (options.json !== true) print(formatApproval(approval))
  if (options.yes !== true) {
    if (!canAsk()) throw new Stop(EXIT.usage, 'There is no terminal to ask on: add --yes.')
    const sure = await confirm(`${decision === 'approve' ? 'Approve' : 'Reject'} exactly this?`)
    if (!sure) {
      tell('Nothing was decided.')
      throw new Stop(EXIT.refused, '')
    }
  }
  // The digest of what was shown: if it changes in between, the server refuses.
  const decided = await client.post(
    `/approvals/${encodeSegment(toText(approval.id))}/decision`,
    compact({ decision, digest, comment: options.comment }),
  )
  if (options.json === true) return printJson(decided)
  print(`${toPlainLine(toText(decided.id))} ${formatDecided(decided)}.`)
}

/** The id of an approval, where a task was named: of the one it waits for. */
async function findApprovalId(client: Client, id: string): Promise<string> {
  if (/^apr-\d+-/.test(id)) return id
  const task = await findNamedTask(client, id, 'approval')
  const pending = toObject(task.pending_approval)
  if (typeof pending.id !== 'string')
    throw new Stop(
      EXIT.refused,
      `Task ${toPlainLine(id)} waits for no approval; it is ${toPlainLine(toText(task.status))}.`,
    )
  return pending.id
}

async function list(client: Client, id: string | undefined, options: ClientOptions): Promise<void> {
  if (id !== undefined) {
    const approval = await client.get(`/approvals/${encodeSegment(await findApprovalId(client, id))}`)
    return options.json === true ? printJson(approval) : print(formatApproval(approval))
  }
  const answer: JsonObject = await client.get('/approvals', { limit: PAGE })
  if (options.json === true) return printJson(answer)
  const approvals = listOf(answer.approvals)
  if (approvals.length === 0) return print('Nothing waits for an approval.')
  print(formatApprovalTable(approvals))
  if (typeof answer.next_cursor === 'string') print(`Only the first ${approvals.length} are shown.`)
  print('Look and answer: phaselock approve ID, phaselock reject ID --comment TEXT')
}
