import type { Approval } from 'phaselock/sdk'
import { plainLine } from '../../core/plain-text.js'
import { type CliCommand, serverCommand } from '../cli-command.js'
import { compact } from '../client/answer-values.js'
import { type Client, openClient } from '../client/client.js'
import type { ClientOptions } from '../client/connection.js'
import { findNamedTask } from '../client/named-task.js'
import { EXIT, Stop } from '../exit.js'
import { formatApproval, formatApprovalTable, formatDecided, formatEnded } from '../terminal/approval-text.js'
import { printPaged } from '../terminal/pager.js'
import { canAsk, confirm, print, printJson, show, tell } from '../terminal/terminal.js'

const PAGE = 100

/** `approve`, `reject` and `approvals`. */
export function addApprovalCommands(program: CliCommand): void {
  serverCommand(program, 'approvals', 'list pending approvals')
    .argument('[id]', 'show this approval in full')
    .option('--stat', 'of the diff only the files and how many lines changed')
    .option('--no-pager', 'print everything at once')
    .examples(['phaselock approvals apr-1-task-1', 'what exactly is to be approved'])
    .asks((client, options, id: string | undefined) => list(client, id, options))
  addAnswer(program, 'approve')
  addAnswer(program, 'reject')
}

interface LookOptions extends ClientOptions {
  readonly stat?: boolean
  readonly pager?: boolean
}

interface AnswerOptions extends LookOptions {
  readonly comment?: string
  readonly yes?: boolean
  readonly digest?: string
}

function addAnswer(program: CliCommand, decision: 'approve' | 'reject'): void {
  const isRejection = decision === 'reject'
  serverCommand(program, decision, `${decision} the step that a task waits for`)
    .argument(
      '[id]',
      isRejection
        ? 'id of an approval, or of a task that waits for one (default: list the pending approvals)'
        : 'id of an approval, or of a task that waits for one (default: the only one that waits, else a list)',
    )
    .option('--comment <text>', isRejection ? 'what must change (required)' : 'kept in the ledger')
    .option('--digest <sha256>', `${decision} only if the content still has this digest`)
    .option('-y, --yes', 'do not ask for confirmation')
    .option('--stat', 'of the diff only the files and how many lines changed')
    .option('--no-pager', 'print everything at once')
    .examples([
      `phaselock ${decision} apr-1-task-1${isRejection ? ' --comment "no error cases"' : ''}`,
      'shows what it is about, then asks',
    ])
    .action(async (id: string | undefined, options: AnswerOptions) => {
      if (id !== undefined && isRejection && (options.comment ?? '').trim() === '')
        throw new Stop(EXIT.usage, 'A rejection needs --comment TEXT, which tells the agent what must change.')
      const client = await openClient(options)
      const meant = id ?? (isRejection ? null : await findOnlyOne(client, options))
      const decides = options.yes === true || options.comment !== undefined || options.digest !== undefined
      // A list with exit code 0 would look like a decision to a script.
      if (meant === null && decides)
        throw new Stop(
          EXIT.usage,
          `Nothing was decided: name what you mean, phaselock ${decision} ID. phaselock approvals lists the ids.`,
        )
      await (meant === null ? list(client, undefined, options) : answer(client, { id: meant, decision, options }))
    })
}

async function answer(
  client: Client,
  asked: { readonly id: string; readonly decision: 'approve' | 'reject'; readonly options: AnswerOptions },
): Promise<void> {
  const { decision, options } = asked
  const approval = await client.approval(await findApprovalId(client, asked.id))
  const { id, digest } = approval
  if (options.digest !== undefined && options.digest !== digest)
    throw new Stop(EXIT.refused, `The content to approve now has the digest ${plainLine(digest)}, not the given one.`)
  if (approval.status !== 'pending') throw new Stop(EXIT.refused, `Approval ${plainLine(id)} ${formatEnded(approval)}.`)
  if (options.json !== true) await printApproval(client, approval, { ...options, hint: 'q goes on to the question' })
  if (options.yes !== true) {
    if (!canAsk()) throw new Stop(EXIT.usage, 'There is no terminal to ask on: add --yes.')
    if (decision === 'approve') print(`To send it back: phaselock reject ${plainLine(id)} --comment "what must change"`)
    const sure = await confirm(`${decision === 'approve' ? 'Approve' : 'Reject'} exactly this? (n leaves it open)`)
    if (!sure) {
      tell('Nothing was decided.')
      throw new Stop(EXIT.refused, '')
    }
  }
  // The digest of the content that was shown: if it changes meanwhile, the server refuses.
  const decided = await client.decide(id, compact({ decision, digest, comment: options.comment, channel: 'cli' }))
  const next = decided.status === 'pending' ? '' : ' An agent that waits for it goes on by itself.'
  show(options, decided, `${plainLine(decided.id)} ${formatDecided(decided)}.${next}`)
}

async function printApproval(
  client: Client,
  approval: Approval,
  options: LookOptions & { readonly hint?: string },
): Promise<void> {
  // Reviewers may answer approvals and not read the past of a task.
  const state = await client.taskState(approval.task_id).catch(() => null)
  printPaged(formatApproval(approval, { ...options, gates: state?.gates ?? [] }), options)
}

/** The approval that a person at a terminal means without naming it: the only one. It is shown before it is asked about. */
async function findOnlyOne(client: Client, { yes, json }: AnswerOptions): Promise<string | null> {
  if (yes === true || json === true || !canAsk()) return null
  const [first, ...others] = (await client.approvals({ limit: 2 })).approvals
  return first === undefined || others.length > 0 ? null : first.id
}

/** The id of an approval; for a task, of the approval it waits for. */
async function findApprovalId(client: Client, id: string): Promise<string> {
  if (/^apr-\d+-/.test(id)) return id
  const task = await findNamedTask(client, id, 'approval')
  if (task.pending_approval !== null) return task.pending_approval.id
  throw new Stop(EXIT.refused, `Task ${plainLine(id)} waits for no approval; it is ${plainLine(task.status)}.`)
}

async function list(client: Client, id: string | undefined, options: LookOptions): Promise<void> {
  if (id !== undefined) {
    const approval = await client.approval(await findApprovalId(client, id))
    if (options.json === true) return printJson(approval)
    return printApproval(client, approval, options)
  }
  const found = await client.approvals({ limit: PAGE })
  const { approvals, next_cursor } = found
  if (options.json === true) return printJson(found)
  if (approvals.length === 0) return print('Nothing waits for an approval.')
  print(formatApprovalTable(approvals))
  if (next_cursor !== null) print(`Only the first ${approvals.length} are shown.`)
  print('Look and answer: phaselock approve ID, phaselock reject ID --comment TEXT')
}
