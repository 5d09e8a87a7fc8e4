import { resolve } from 'node:path'
import { InvalidArgumentError } from 'commander'
import type { LedgerEvent } from 'phaselock/sdk'
import type { JsonObject } from '../../core/json.js'
import { plainLine } from '../../core/plain-text.js'
import { type CliCommand, serverCommand } from '../cli-command.js'
import { compact } from '../client/answer-values.js'
import { type Client, openClient } from '../client/client.js'
import type { ClientOptions } from '../client/connection.js'
import { toTaskRequest } from '../client/task-request.js'
import { collect, parseInteger, parsePositiveNumber } from '../options.js'
import { readJsonObject } from '../read-input.js'
import { formatReviewLines } from '../terminal/review-text.js'
import { formatTaskTable, showTask } from '../terminal/task-text.js'
import { print, printJson, show } from '../terminal/terminal.js'
import { tellTree } from '../terminal/tree-text.js'
import { formatHeldOutLines, readHeldOutFile, refuseInsideTree } from '../workflow/held-out-file.js'
import { addMergeCommands } from './merge-commands.js'
import { addReviewer } from './review-commands.js'

/** `phaselock task …` */
export function addTaskCommands(program: CliCommand): void {
  const task = program
    .command('task')
    .description('add, show and manage tasks')
    .examples('phaselock task list', 'phaselock task show task-1')
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

function addAdd(task: CliCommand): void {
  serverCommand(task, 'add', 'add a task')
    .argument('<title>', 'what the task will change')
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
    .examples(
      'phaselock task add "Add a health endpoint"',
      'phaselock task add "Write the docs" --depends-on api --priority 5',
      ['phaselock task add "Add a parser" --held-out ../held-out.yaml', 'with examples that the agent never sees'],
    )
    .action(async (title: string, options: AddOptions) => {
      const { id, description, contract, dependsOn, requires, workspace, mode, priority, metadata } = options
      const { worktree, take, heldOut } = options
      const body = compact({
        ...{ id, contract, mode, priority, metadata, requires, worktree, take },
        ...(description === undefined ? toTaskRequest(title) : { title, description }),
        depends_on: dependsOn,
        workspace: workspace === undefined ? undefined : resolve(workspace),
        held_out: heldOut === undefined ? undefined : await readHeldOutFile(heldOut),
      })
      const client = await openClient(options)
      const added = await client.addTask(body)
      if (heldOut !== undefined) await refuseInsideTree(client, added, heldOut)
      const state = `${plainLine(added.status)}, starts in ${plainLine(added.phase)}`
      show(options, added, `Added ${plainLine(added.id)}: ${plainLine(added.title)} (${state})`)
      if (worktree === true && options.json !== true) tellTree(added)
    })
}

interface ListOptions extends ClientOptions {
  readonly status?: string
  readonly phase?: string
  readonly agent?: string
  readonly limit: number
  readonly cursor?: string
}

function addList(task: CliCommand): void {
  serverCommand(task, 'list', 'list tasks, newest first')
    .alias('ls')
    .option('--status <status>', 'queued, active, awaiting_approval, interrupted, parked, completed or cancelled')
    .option('--phase <id>', 'only tasks in this phase')
    .option('--agent <id>', 'only tasks of this agent')
    .option('--limit <number>', 'maximum number to print', parsePositiveNumber, 50)
    .option('--cursor <cursor>', 'continue after the previous page')
    .examples(['phaselock task list --status active', 'what is being worked on'])
    .asks(async (client, options: ListOptions) => {
      const { status, phase, agent, limit, cursor } = options
      const found = await client.tasks({ status, phase, agent_id: agent, limit, cursor })
      if (options.json === true) return printJson(found)
      print(found.tasks.length === 0 ? 'No tasks.' : formatTaskTable(found.tasks))
      if (found.next_cursor !== null) print(`There are more: add --cursor ${plainLine(found.next_cursor)}`)
    })
}

function addShow(task: CliCommand): void {
  serverCommand(task, 'show <id>', 'show one task and what happened to it')
    .option('--limit <number>', 'number of recent events to print', parsePositiveNumber, 30)
    .examples(['phaselock task show task-1 --json', 'with the whole timeline'])
    .asks(async (client, options: ClientOptions & { readonly limit: number }, id: string) => {
      const shown = await client.task(id)
      const reviews = await client.reviews(id)
      const events = await readTimeline(client, id)
      const held_out = shown.held_out === undefined ? null : await client.heldOut(id)
      const answer = { task: shown, reviews: reviews.reviews, events, ...(held_out === null ? {} : { held_out }) }
      const lines = [...(held_out === null ? [] : formatHeldOutLines(held_out)), ...formatReviewLines(reviews)]
      show(options, answer, showTask(shown, { events, reviews: lines }, options.limit))
    })
}

const TIMELINE_PAGE = 500
const TIMELINE_PAGES_MAX = 40

/** Every event of the task, oldest first, up to a maximum. */
export async function readTimeline(client: Client, id: string): Promise<readonly LedgerEvent[]> {
  const events: LedgerEvent[] = []
  let after: number | null = 0
  for (let page = 0; page < TIMELINE_PAGES_MAX && after !== null; page++) {
    const found = await client.timeline(id, { after, limit: TIMELINE_PAGE })
    events.push(...found.events)
    after = found.next_after
  }
  return events
}

const STEERING = {
  cancel: ['cancel a task permanently', 'phaselock task cancel task-1 --reason "not needed any more"'],
  resume: ['resume a parked task', 'phaselock task resume task-1 --reason "the database is back"'],
  rewind: ['return a task to an earlier phase', 'phaselock task rewind task-1 --to PLAN --reason "wrong plan"'],
  reassign: ['take a task from its agent', 'phaselock task reassign task-1 --agent other --reason "stuck"'],
} as const

const CHANGES_STAY = 'What it changed in the work tree stays there: git status shows it, git restore undoes it.'

interface Steering {
  readonly reason: string
  readonly to?: string
  readonly agent?: string
  readonly restoreTree?: boolean
}

function addSteering(task: CliCommand): void {
  for (const name of ['cancel', 'resume', 'rewind', 'reassign'] as const) {
    const [text, example] = STEERING[name]
    const command = serverCommand(task, `${name} <id>`, text)
    command.requiredOption('--reason <text>', 'why; kept in the ledger')
    if (name === 'rewind')
      command.requiredOption('--to <phase>', 'phase to return to').option('--restore-tree', 'restore the work tree too')
    if (name === 'reassign') command.option('--agent <id>', 'reserve the task for this agent')
    command.examples(example).asks(async (client, options: ClientOptions & Steering, id: string) => {
      const { reason, to, agent, restoreTree } = options
      const body = compact({ reason, to_phase: to, agent_id: agent, restore_tree: restoreTree })
      const changed = await client.changeTask(id, name, body)
      const { status, phase } = changed
      const stays = name === 'cancel' && (changed.worktree ?? null) === null ? `\n${CHANGES_STAY}` : ''
      show(options, changed, `${plainLine(changed.id)} is ${plainLine(status)} in ${plainLine(phase)}.${stays}`)
    })
  }
}

function addAcceptTools(task: CliCommand): void {
  serverCommand(task, 'accept-tools <id>', 'accept the tools that upstream MCP servers list now')
    .requiredOption('--reason <text>', 'why; kept in the ledger')
    .examples('phaselock task accept-tools task-1 --reason "looked at it"')
    .asks(async (client, options: ClientOptions & { reason: string }, id: string) => {
      const accepted = await client.acceptTools(id, { reason: options.reason })
      const tools = Object.entries(accepted.accepted_tools)
      const lines = tools.map(([name, sha256]) => `  ${plainLine(name)}  ${plainLine(sha256)}`)
      show(
        options,
        accepted,
        [`${plainLine(accepted.id)} accepts ${tools.length} upstream tools:`, ...lines].join('\n'),
      )
    })
}

function parseJsonObject(text: string): JsonObject {
  const value = readJsonObject(text)
  if (value !== null) return value
  throw new InvalidArgumentError('Give a JSON object, such as {"ticket": 7}.')
}
