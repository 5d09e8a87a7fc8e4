import { resolve } from 'node:path'
import { type Command, InvalidArgumentError } from 'commander'
import type { JsonObject } from '../../core/json.js'
import { compact, listOf, toObject, toText } from '../client/answer-values.js'
import { Client, encodeSegment } from '../client/client.js'
import { addClientOptions, type ClientOptions } from '../client/connection.js'
import { collect, formatExamples, parseInteger, parsePositiveNumber } from '../options.js'
import { toPlainLine } from '../terminal/plain-text.js'
import { formatReviewLines } from '../terminal/review-text.js'
import { formatTaskTable, showTask } from '../terminal/task-text.js'
import { print, printJson } from '../terminal/terminal.js'
import { tellTree } from '../terminal/tree-text.js'
import { formatHeldOutLines, readHeldOutFile, refuseInsideTree } from '../workflow/held-out-file.js'
import { addMergeCommands } from './merge-commands.js'
import { addReviewer } from './review-commands.js'

/** `phaselock task …` */
export function addTaskCommands(program: Command): void {
  const task = program
    .command('task')
    .description('add, show and manage tasks')
    .addHelpText(
      'after',
      formatExamples([
        ['phaselock task list', ''],
        ['phaselock task show task-1', ''],
      ]),
    )
  addAdd(task)
  addList(task)
  addShow(task)
  addSteering(task)
  addMergeCommands(task)
  addAcceptTools(task)
  addReviewer(task)
}

interface AddOptions extends ClientOptions {
  readonly id?: string
  readonly description?: string
  readonly contract?: string
  readonly dependsOn?: readonly string[]
  readonly requires?: readonly string[]
  readonly workspace?: string
  readonly worktree?: boolean
  readonly take?: readonly string[]
  readonly mode?: string
  readonly priority?: number
  readonly metadata?: JsonObject
  readonly heldOut?: string
}

function addAdd(task: Command): void {
  addClientOptions(task.command('add').argument('<title>', 'what the task will change').description('add a task'))
    .option('--id <id>', 'id: letters, digits, _ . -; at most 64 characters (default: generated)')
    .option('--description <text>', 'description for the agent')
    .option('--contract <name|hash>', "a contract the server knows (default: the server's)")
    .option('--depends-on <id>', 'task that must be completed first; repeatable', collect)
    .option('--requires <capability>', 'capability that the agent must have; repeatable', collect)
    .option('--workspace <dir>', "work tree (default: the server's)")
    .option('--worktree', 'create a separate git work tree for this task')
    .option('--take <path>', 'with --worktree: copy this ignored path, such as node_modules; repeatable', collect)
    .option('--mode <mode>', 'enforcement mode of this task: strict, permissive or advisory')
    .option('--priority <number>', 'tasks with a higher priority are claimed first (default: 0)', parseInteger)
    .option('--metadata <json>', 'JSON object to store with the task', parseJsonObject)
    .option('--held-out <file>', 'YAML or JSON file of examples that no agent sees, run once the tests pass')
    .addHelpText(
      'after',
      formatExamples([
        ['phaselock task add "Add a health endpoint"', ''],
        ['phaselock task add "Write the docs" --depends-on api --priority 5', ''],
        ['phaselock task add "Add a parser" --held-out ../held-out.yaml', 'with examples that the agent never sees'],
      ]),
    )
    .action(async (title: string, options: AddOptions) => {
      const { id, description, contract, dependsOn, requires, workspace, mode, priority, metadata } = options
      const { worktree, take, heldOut } = options
      const body = compact({
        ...{ title, id, description, contract, mode, priority, metadata, requires, worktree, take },
        depends_on: dependsOn,
        workspace: workspace === undefined ? undefined : resolve(workspace),
        held_out: heldOut === undefined ? undefined : await readHeldOutFile(heldOut),
      })
      const client = new Client(options)
      const added = await client.post('/tasks', body)
      if (heldOut !== undefined) await refuseInsideTree(client, added, heldOut)
      if (options.json === true) return printJson(added)
      print(
        `Added ${toLine(added.id)}: ${toLine(added.title)} (${toLine(added.status)}, starts in ${toLine(added.phase)})`,
      )
      if (worktree === true) tellTree(added)
    })
}

interface ListOptions extends ClientOptions {
  readonly status?: string
  readonly phase?: string
  readonly agent?: string
  readonly limit: number
  readonly cursor?: string
}

function addList(task: Command): void {
  addClientOptions(task.command('list').alias('ls').description('list tasks, newest first'))
    .option('--status <status>', 'queued, active, awaiting_approval, interrupted, parked, completed or cancelled')
    .option('--phase <id>', 'only tasks in this phase')
    .option('--agent <id>', 'only tasks of this agent')
    .option('--limit <number>', 'maximum number to print', parsePositiveNumber, 50)
    .option('--cursor <cursor>', 'continue after the previous page')
    .addHelpText('after', formatExamples([['phaselock task list --status active', 'what is being worked on']]))
    .action(async (options: ListOptions) => {
      const { status, phase, agent, limit, cursor } = options
      const answer = await new Client(options).get('/tasks', { status, phase, agent_id: agent, limit, cursor })
      if (options.json === true) return printJson(answer)
      const tasks = listOf(answer.tasks)
      print(tasks.length === 0 ? 'No tasks.' : formatTaskTable(tasks))
      if (answer.next_cursor !== null) print(`There are more: add --cursor ${toLine(answer.next_cursor)}`)
    })
}

function addShow(task: Command): void {
  addClientOptions(task.command('show').argument('<id>').description('show one task and what happened to it'))
    .option('--limit <number>', 'number of recent events to print', parsePositiveNumber, 30)
    .addHelpText('after', formatExamples([['phaselock task show task-1 --json', 'with the whole timeline']]))
    .action(async (id: string, options: ClientOptions & { readonly limit: number }) => {
      const client = new Client(options)
      const shown = await client.get(`/tasks/${encodeSegment(id)}`)
      const reviews = await client.get(`/tasks/${encodeSegment(id)}/reviews`)
      const events = await readTimeline(client, id)
      const heldOut = shown.held_out === undefined ? {} : await client.get(`/tasks/${encodeSegment(id)}/held-out`)
      const more = shown.held_out === undefined ? {} : { held_out: heldOut }
      if (options.json === true) return printJson({ task: shown, reviews: reviews.reviews ?? [], events, ...more })
      const lines = [...formatHeldOutLines(heldOut), ...formatReviewLines(reviews)]
      print(showTask(shown, { events, reviews: lines }, options.limit))
    })
}

const TIMELINE_PAGE = 500
const TIMELINE_PAGES_MAX = 40

/** Every event of the task, oldest first, up to a maximum. */
export async function readTimeline(client: Client, id: string): Promise<readonly JsonObject[]> {
  const events: JsonObject[] = []
  let after = 0
  for (let page = 0; page < TIMELINE_PAGES_MAX; page++) {
    const answer = await client.get(`/tasks/${encodeSegment(id)}/timeline`, { after, limit: TIMELINE_PAGE })
    events.push(...listOf(answer.events))
    if (typeof answer.next_after !== 'number') break
    after = answer.next_after
  }
  return events
}

const STEERING = {
  cancel: ['cancel a task permanently', 'phaselock task cancel task-1 --reason "not needed any more"'],
  resume: ['resume a parked task', 'phaselock task resume task-1 --reason "the database is back"'],
  rewind: ['return a task to an earlier phase', 'phaselock task rewind task-1 --to PLAN --reason "wrong plan"'],
  reassign: ['take a task from its agent', 'phaselock task reassign task-1 --agent other --reason "stuck"'],
} as const

interface Steering {
  readonly reason: string
  readonly to?: string
  readonly agent?: string
  readonly restoreTree?: boolean
}

function addSteering(task: Command): void {
  for (const [name, [text, example]] of Object.entries(STEERING)) {
    const command = addClientOptions(task.command(name).argument('<id>').description(text)).requiredOption(
      '--reason <text>',
      'why; kept in the ledger',
    )
    if (name === 'rewind')
      command.requiredOption('--to <phase>', 'phase to return to').option('--restore-tree', 'restore the work tree too')
    if (name === 'reassign') command.option('--agent <id>', 'reserve the task for this agent')
    command
      .addHelpText('after', formatExamples([[example, '']]))
      .action(async (id: string, options: ClientOptions & Steering) => {
        const { reason, to, agent, restoreTree } = options
        const body = compact({ reason, to_phase: to, agent_id: agent, restore_tree: restoreTree })
        const changed = await new Client(options).post(`/tasks/${encodeSegment(id)}/${name}`, body)
        if (options.json === true) return printJson(changed)
        print(`${toLine(changed.id)} is ${toLine(changed.status)} in ${toLine(changed.phase)}.`)
      })
  }
}

function addAcceptTools(task: Command): void {
  addClientOptions(
    task.command('accept-tools').argument('<id>').description('accept the tools that upstream MCP servers list now'),
  )
    .requiredOption('--reason <text>', 'why; kept in the ledger')
    .addHelpText('after', formatExamples([['phaselock task accept-tools task-1 --reason "looked at it"', '']]))
    .action(async (id: string, options: ClientOptions & { reason: string }) => {
      const accepted = await new Client(options).post(`/tasks/${encodeSegment(id)}/tools/accept`, {
        reason: options.reason,
      })
      if (options.json === true) return printJson(accepted)
      const tools = Object.entries(toObject(accepted.accepted_tools))
      print([`${toLine(accepted.id)} accepts ${tools.length} upstream tools:`, ...tools.map(formatToolLine)].join('\n'))
    })
}

function formatToolLine([name, sha256]: readonly [string, JsonObject[string]]): string {
  return `  ${toLine(name)}  ${toLine(sha256)}`
}

function toLine(value: JsonObject[string] | undefined): string {
  return toPlainLine(toText(value))
}

function parseJsonObject(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  throw new InvalidArgumentError('Give a JSON object, such as {"ticket": 7}.')
}
