import { type Command, Option } from 'commander'
import type { JsonObject } from '../../core/json.js'
import { given, listOf, objectOf, textOf, timeOf } from '../client/answer-values.js'
import { Client, segment } from '../client/client.js'
import { type ClientOptions, clientOptions } from '../client/connection.js'
import { collect, examples } from '../options.js'
import { programName } from '../program-name.js'
import { plainLine } from '../terminal/plain-text.js'
import { type Column, table } from '../terminal/table.js'
import { paint, print, printJson } from '../terminal/terminal.js'
import { durationText } from '../workflow/run-text.js'

/** Who may act: agents, operators, and the secret that signs. */
export function addAdminCommands(program: Command): void {
  addAgents(program)
  addOperators(program)
  const secret = program
    .command('secret')
    .description('manage the secret that signs tokens')
    .addHelpText('after', examples([['phaselock secret rotate', '']]))
  clientOptions(secret.command('rotate').description('sign new tokens with a new secret; existing tokens stay valid'))
    .addHelpText('after', examples([['phaselock secret rotate', '']]))
    .action(async (options: ClientOptions) => {
      const answer = await new Client(options).post('/secret/rotate')
      if (options.json === true) return printJson(answer)
      print(`New tokens are signed with the key ${textOf(answer.kid)}. Older tokens stay valid until they expire.`)
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
      examples([
        ['phaselock agents', 'what each of them does'],
        ['phaselock agent add coder', 'let one in'],
      ]),
    )
  clientOptions(agent.command('add').argument('<id>').description('register an agent and print its token once'))
    .option('--capability <name>', 'capability of the agent; repeatable', collect)
    .addHelpText('after', examples([['phaselock agent add coder --capability python', '']]))
    .action(async (id: string, options: ClientOptions & { readonly capability?: readonly string[] }) => {
      const client = new Client(options)
      const answer = await client.post('/agents', given({ agent_id: id, capabilities: options.capability }))
      if (options.json === true) return printJson(answer)
      const name = plainLine(textOf(answer.agent_id))
      print(
        `Agent ${name} may claim tasks until ${timeOf(answer.expires_at)}.\nIt needs PHASELOCK_URL=${client.url}, PHASELOCK_AGENT_ID=${name}\nand PHASELOCK_TOKEN: its token, shown this once; an older one is dead now:\n\n${textOf(answer.agent_token)}`,
      )
    })
  clientOptions(agent.command('list', { isDefault: true }).alias('ls').description('list agents and what they work on'))
    .addHelpText('after', examples([['phaselock agent list', '']]))
    .action(async (options: ClientOptions) => {
      const answer = await new Client(options).get('/agents')
      if (options.json === true) return printJson(answer)
      const agents = listOf(answer.agents)
      const text = table(agents, [
        { title: 'AGENT', text: (one) => textOf(one.agent_id) },
        { title: 'STATE', text: stateText },
        { title: 'RESTARTS', text: (one) => textOf(objectOf(one.spawn).restarts) || '-' },
        { title: 'TASK', text: (one) => taskText(one) || '-', isFlexible: true },
        { title: 'PHASE', text: (one) => textOf(one.phase) || '-', isFlexible: true },
        { title: 'ACTIVE', text: (one) => agoText(textOf(one.last_activity)) },
        ...(agents.some((one) => textOf(one.capabilities) !== '') ? [CAPABILITIES] : []),
      ])
      print(agents.length === 0 ? noAgentsText() : text)
    })
  addRevoke(agent, 'agent')
}

function noAgentsText(): string {
  const program = programName()
  return `No agents. Start one with \`${program} run AGENT "task"\`, or let one in\nthat you start yourself with \`${program} agent add NAME\`.`
}

const CAPABILITIES: Column<JsonObject> = {
  title: 'CAPABLE OF',
  text: (one) => textOf(one.capabilities) || '-',
  isFlexible: true,
}

// Of agents that the server started: how that stands.
function stateText({ status, spawn }: JsonObject): string {
  const { state, outcome } = objectOf(spawn)
  return textOf(outcome) || textOf(state) || textOf(status)
}

// One that waits to be started again holds nothing, and has its task all the same.
function taskText({ task_id: held, spawn }: JsonObject): string {
  const { task_id: own, outcome } = objectOf(spawn)
  return textOf(held) || (textOf(outcome) === '' ? textOf(own) : '')
}

function agoText(time: string): string {
  const seconds = Math.round((Date.now() - Date.parse(time)) / 1000)
  return Number.isFinite(seconds) ? `${durationText(Math.max(0, seconds))} ago` : '-'
}

function addOperators(program: Command): void {
  const operator = program
    .command('operator')
    .alias('operators')
    .description('add, list and revoke operators')
    .addHelpText('after', examples([['phaselock operator list', '']]))
  clientOptions(operator.command('add').argument('<name>').description('add an operator and print the token once'))
    .option('--role <role>', 'role that approval gates can require, such as lead or ci')
    .addHelpText('after', examples([['phaselock operator add ada --role lead', '']]))
    .action(async (name: string, options: ClientOptions & { readonly role?: string }) => {
      const answer = await new Client(options).post('/operators', given({ name, role: options.role }))
      if (options.json === true) return printJson(answer)
      const role = answer.role === null ? '' : ` as ${plainLine(textOf(answer.role))}`
      print(
        `Operator ${plainLine(textOf(answer.name))} is added${role}. The token is shown this once:\n\n${textOf(answer.operator_token)}`,
      )
    })
  clientOptions(operator.command('list').alias('ls').description('list operators'))
    .addHelpText('after', examples([['phaselock operator list', '']]))
    .action(async (options: ClientOptions) => {
      const answer = await new Client(options).get('/operators')
      if (options.json === true) return printJson(answer)
      print(
        table(listOf(answer.operators), [
          { title: 'NAME', text: (one) => textOf(one.name) },
          { title: 'ROLE', text: (one) => textOf(one.role) || '-' },
          { title: 'ADDED', text: (one) => timeOf(one.added_at) },
          { title: 'REVOKED', text: (one) => timeOf(one.revoked_at) || '-' },
        ]),
      )
    })
  addRevoke(operator, 'operator')
}

function addRevoke(parent: Command, kind: 'agent' | 'operator'): void {
  const name = kind === 'agent' ? 'id' : 'name'
  clientOptions(parent.command('revoke').argument(`<${name}>`).description('revoke its tokens immediately'))
    .option('--reason <text>', 'why')
    .addHelpText('after', examples([[`phaselock ${kind} revoke ${kind === 'agent' ? 'coder' : 'ada'}`, '']]))
    .action(async (id: string, options: ClientOptions & { readonly reason?: string }) => {
      const path = `/${kind}s/${segment(id)}/revoke`
      const client = new Client(options)
      const answer = await client.post(path, given({ reason: options.reason }))
      if (options.json === true) return printJson(answer)
      print(`The tokens of ${kind} ${plainLine(id)} are refused from now on.`)
      if (kind === 'agent') await tellHeld(client, id)
    })
}

// Its task stays its own until the lease lapses; those that the server started are ended, and give theirs back.
async function tellHeld(client: Client, id: string): Promise<void> {
  const agent = listOf((await client.get('/agents')).agents).find((one) => one.agent_id === id)
  const task = plainLine(textOf(agent?.task_id))
  if (task === '' || Object.keys(objectOf(agent?.spawn)).length > 0) return
  print(`It holds task ${task} until its lease lapses. To free it now: phaselock task reassign ${task} --reason TEXT`)
}

function addPauses(program: Command): void {
  const texts = {
    pause: ['pause all agents: refuse their calls until unpause', 'All agents are paused.'],
    unpause: ['resume all agents', 'Agents go on.'],
  } as const
  for (const [name, [description, done]] of Object.entries(texts)) {
    clientOptions(program.command(name).description(description))
      .addOption(new Option('--reason <text>', 'why; kept in the ledger'))
      .addHelpText('after', examples([[`phaselock ${name} --reason "looking at a leak"`, '']]))
      .action(async (options: ClientOptions & { readonly reason?: string }) => {
        const answer = await new Client(options).post(`/${name}`, given({ reason: options.reason }))
        if (options.json === true) return printJson(answer)
        print(paint('bold', done))
      })
  }
}
