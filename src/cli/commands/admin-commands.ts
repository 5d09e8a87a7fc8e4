import { type Command, Option } from 'commander'
import type { JsonObject } from '../../core/json.js'
import { compact, formatTime, listOf, toObject, toText } from '../client/answer-values.js'
import { Client, encodeSegment } from '../client/client.js'
import { addClientOptions, type ClientOptions } from '../client/connection.js'
import { collect, formatExamples } from '../options.js'
import { findProgramName } from '../program-name.js'
import { toPlainLine } from '../terminal/plain-text.js'
import { type Column, formatTable } from '../terminal/table.js'
import { paintText, print, printJson } from '../terminal/terminal.js'
import { formatDuration } from '../workflow/run-text.js'

/** Who may act: agents, operators, and the secret that signs. */
export function addAdminCommands(program: Command): void {
  addAgents(program)
  addOperators(program)
  const secret = program
    .command('secret')
    .description('manage the secret that signs tokens')
    .addHelpText('after', formatExamples([['phaselock secret rotate', '']]))
  addClientOptions(
    secret.command('rotate').description('sign new tokens with a new secret; existing tokens stay valid'),
  )
    .addHelpText('after', formatExamples([['phaselock secret rotate', '']]))
    .action(async (options: ClientOptions) => {
      const answer = await new Client(options).post('/secret/rotate')
      if (options.json === true) return printJson(answer)
      print(`New tokens are signed with the key ${toText(answer.kid)}. Older tokens stay valid until they expire.`)
    })
  addPauses(program)
}

function addAgents(program: Command): void {
  const agent = program
    .command('agent')
    .alias('agents')
    .description('add, list and revoke agents')
    .addHelpText(
      'after',
      formatExamples([
        ['phaselock agents', 'what each of them does'],
        ['phaselock agent add coder', 'let one in'],
      ]),
    )
  addClientOptions(agent.command('add').argument('<id>').description('register an agent and print its token once'))
    .option('--capability <name>', 'capability of the agent; repeatable', collect)
    .addHelpText('after', formatExamples([['phaselock agent add coder --capability python', '']]))
    .action(async (id: string, options: ClientOptions & { readonly capability?: readonly string[] }) => {
      const client = new Client(options)
      const answer = await client.post('/agents', compact({ agent_id: id, capabilities: options.capability }))
      if (options.json === true) return printJson(answer)
      const name = toPlainLine(toText(answer.agent_id))
      print(
        `Agent ${name} may claim tasks until ${formatTime(answer.expires_at)}.\nIt needs PHASELOCK_URL=${client.url}, PHASELOCK_AGENT_ID=${name}\nand PHASELOCK_TOKEN: its token, shown this once; an older one is dead now:\n\n${toText(answer.agent_token)}`,
      )
    })
  addClientOptions(
    agent.command('list', { isDefault: true }).alias('ls').description('list agents and what they work on'),
  )
    .addHelpText('after', formatExamples([['phaselock agent list', '']]))
    .action(async (options: ClientOptions) => {
      const answer = await new Client(options).get('/agents')
      if (options.json === true) return printJson(answer)
      const agents = listOf(answer.agents)
      const text = formatTable(agents, [
        { title: 'AGENT', text: (one) => toText(one.agent_id) },
        { title: 'STATE', text: formatState },
        { title: 'RESTARTS', text: (one) => toText(toObject(one.spawn).restarts) || '-' },
        { title: 'TASK', text: (one) => formatTask(one) || '-', isFlexible: true },
        { title: 'PHASE', text: (one) => toText(one.phase) || '-', isFlexible: true },
        { title: 'ACTIVE', text: (one) => formatAgo(toText(one.last_activity)) },
        ...(agents.some((one) => toText(one.capabilities) !== '') ? [CAPABILITIES] : []),
      ])
      print(agents.length === 0 ? formatNoAgents() : text)
    })
  addRevoke(agent, 'agent')
}

function formatNoAgents(): string {
  const program = findProgramName()
  return `No agents. Start one with \`${program} run AGENT "task"\`, or let one in\nthat you start yourself with \`${program} agent add NAME\`.`
}

const CAPABILITIES: Column<JsonObject> = {
  title: 'CAPABLE OF',
  text: (one) => toText(one.capabilities) || '-',
  isFlexible: true,
}

// Of agents that the server started: how that stands.
function formatState({ status, spawn }: JsonObject): string {
  const { state, outcome } = toObject(spawn)
  return toText(outcome) || toText(state) || toText(status)
}

// One that waits to be started again holds nothing, and has its task all the same.
function formatTask({ task_id: held, spawn }: JsonObject): string {
  const { task_id: own, outcome } = toObject(spawn)
  return toText(held) || (toText(outcome) === '' ? toText(own) : '')
}

function formatAgo(time: string): string {
  const seconds = Math.round((Date.now() - Date.parse(time)) / 1000)
  return Number.isFinite(seconds) ? `${formatDuration(Math.max(0, seconds))} ago` : '-'
}

function addOperators(program: Command): void {
  const operator = program
    .command('operator')
    .alias('operators')
    .description('add, list and revoke operators')
    .addHelpText('after', formatExamples([['phaselock operator list', '']]))
  addClientOptions(operator.command('add').argument('<name>').description('add an operator and print the token once'))
    .option('--role <role>', 'role that approval gates can require, such as lead or ci')
    .addHelpText('after', formatExamples([['phaselock operator add ada --role lead', '']]))
    .action(async (name: string, options: ClientOptions & { readonly role?: string }) => {
      const answer = await new Client(options).post('/operators', compact({ name, role: options.role }))
      if (options.json === true) return printJson(answer)
      const role = answer.role === null ? '' : ` as ${toPlainLine(toText(answer.role))}`
      print(
        `Operator ${toPlainLine(toText(answer.name))} is added${role}. The token is shown this once:\n\n${toText(answer.operator_token)}`,
      )
    })
  addClientOptions(operator.command('list').alias('ls').description('list operators'))
    .addHelpText('after', formatExamples([['phaselock operator list', '']]))
    .action(async (options: ClientOptions) => {
      const answer = await new Client(options).get('/operators')
      if (options.json === true) return printJson(answer)
      print(
        formatTable(listOf(answer.operators), [
          { title: 'NAME', text: (one) => toText(one.name) },
          { title: 'ROLE', text: (one) => toText(one.role) || '-' },
          { title: 'ADDED', text: (one) => formatTime(one.added_at) },
          { title: 'REVOKED', text: (one) => formatTime(one.revoked_at) || '-' },
        ]),
      )
    })
  addRevoke(operator, 'operator')
}

function addRevoke(parent: Command, kind: 'agent' | 'operator'): void {
  const name = kind === 'agent' ? 'id' : 'name'
  addClientOptions(parent.command('revoke').argument(`<${name}>`).description('revoke its tokens immediately'))
    .option('--reason <text>', 'why')
    .addHelpText('after', formatExamples([[`phaselock ${kind} revoke ${kind === 'agent' ? 'coder' : 'ada'}`, '']]))
    .action(async (id: string, options: ClientOptions & { readonly reason?: string }) => {
      const path = `/${kind}s/${encodeSegment(id)}/revoke`
      const client = new Client(options)
      const answer = await client.post(path, compact({ reason: options.reason }))
      if (options.json === true) return printJson(answer)
      print(`The tokens of ${kind} ${toPlainLine(id)} are refused from now on.`)
      if (kind === 'agent') await tellHeld(client, id)
    })
}

// Its task stays its own until the lease lapses; those that the server started are ended, and give theirs back.
async function tellHeld(client: Client, id: string): Promise<void> {
  const agent = listOf((await client.get('/agents')).agents).find((one) => one.agent_id === id)
  const task = toPlainLine(toText(agent?.task_id))
  if (task === '' || Object.keys(toObject(agent?.spawn)).length > 0) return
  print(`It holds task ${task} until its lease lapses. To free it now: phaselock task reassign ${task} --reason TEXT`)
}

function addPauses(program: Command): void {
  const texts = {
    pause: ['pause all agents: refuse their calls until unpause', 'All agents are paused.'],
    unpause: ['resume all agents', 'Agents go on.'],
  } as const
  for (const [name, [description, done]] of Object.entries(texts)) {
    addClientOptions(program.command(name).description(description))
      .addOption(new Option('--reason <text>', 'why; kept in the ledger'))
      .addHelpText('after', formatExamples([[`phaselock ${name} --reason "looking at a leak"`, '']]))
      .action(async (options: ClientOptions & { readonly reason?: string }) => {
        const answer = await new Client(options).post(`/${name}`, compact({ reason: options.reason }))
        if (options.json === true) return printJson(answer)
        print(paintText('bold', done))
      })
  }
}
