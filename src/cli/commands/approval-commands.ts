import type { Command } from 'commander'
import type { JsonObject } from '../../core/json.js'
import { given, listOf, objectOf, textOf } from '../client/answer-values.js'
import { Client, segment } from '../client/client.js'
import { type ClientOptions, clientOptions } from '../client/connection.js'
import { namedTask } from '../client/named-task.js'
import { EXIT, Stop } from '../exit.js'
import { examples } from '../options.js'
import { approvalTable, approvalText, decidedText, endedText } from '../terminal/approval-text.js'
import { plainLine } from '../terminal/plain-text.js'
import { canAsk, confirm, print, printJson, tell } from '../terminal/terminal.js'

const PAGE = 100

/** `approve`, `reject` and `approvals`. */
export function addApprovalCommands(program: Command): void {
  clientOptions(
    program.command('approvals').argument('[id]', 'show this approval in full').description('list pending approvals'),
  )
    .addHelpText('after', examples([['phaselock approvals apr-1-task-1', 'what exactly is to be approved']]))
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
  const command = clientOptions(
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
    .addHelpText('after', examples([[example, 'shows what it is about, then asks']]))
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
  const approval = await client.get(`/approvals/${segment(await approvalId(client, asked.id))}`)
  const digest = textOf(approval.digest)
  if (options.digest !== undefined && options.digest !== digest)
    throw new Stop(EXIT.refused, `What is to be approved now has the digest ${plainLine(digest)}, not the one given.`)
  if (approval.status !== 'pending')
    throw new Stop(EXIT.refused, `Approval ${plainLine(textOf(approval.id))} ${endedText(approval)}.`)
  if (options.json !== true) print(approvalText(approval))
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
    `/approvals/${segment(textOf(approval.id))}/decision`,
    given({ decision, digest, comment: options.comment }),
  )
  if (options.json === true) return printJson(decided)
  print(`${plainLine(textOf(decided.id))} ${decidedText(decided)}.`)
}

/** The id of an approval, where a task was named: of the one it waits for. */
async function approvalId(client: Client, id: string): Promise<string> {
  if (/^apr-\d+-/.test(id)) return id
  const task = await namedTask(client, id, 'approval')
  const pending = objectOf(task.pending_approval)
  if (typeof pending.id !== 'string')
    throw new Stop(
      EXIT.refused,
      `Task ${plainLine(id)} waits for no approval; it is ${plainLine(textOf(task.status))}.`,
    )
  return pending.id
}

async function list(client: Client, id: string | undefined, options: ClientOptions): Promise<void> {
  if (id !== undefined) {
    const approval = await client.get(`/approvals/${segment(await approvalId(client, id))}`)
    return options.json === true ? printJson(approval) : print(approvalText(approval))
  }
  const answer: JsonObject = await client.get('/approvals', { limit: PAGE })
  if (options.json === true) return printJson(answer)
  const approvals = listOf(answer.approvals)
  if (approvals.length === 0) return print('Nothing waits for an approval.')
  print(approvalTable(approvals))
  if (typeof answer.next_cursor === 'string') print(`Only the first ${approvals.length} are shown.`)
  print('Look and answer: phaselock approve ID, phaselock reject ID --comment TEXT')
}
