import type { OperatorRow, SessionRow } from 'phaselock/sdk'
import { plainLine } from '../../core/plain-text.js'
import { type CliCommand, serverCommand } from '../cli-command.js'
import { compact, formatTime } from '../client/answer-values.js'
import type { ClientOptions } from '../client/connection.js'
import { formatTable } from '../terminal/table.js'
import { show } from '../terminal/terminal.js'
import { addRevoke } from './revoke-command.js'

/** `phaselock operator …` and `phaselock login`. */
export function addOperatorCommands(program: CliCommand): void {
  addLogin(program)
  const operator = program
    .command('operator')
    .alias('operators')
    .description('add, list and revoke operators; sessions and passphrases')
    .examples('phaselock operator list')
  serverCommand(operator, 'add <name>', 'add an operator and print the token once')
    .option('--role <role>', 'role that approval gates can require, such as lead or ci')
    .examples('phaselock operator add ada --role lead')
    .asks(async (client, options: ClientOptions & { readonly role?: string }, name: string) => {
      const added = await client.addOperator(compact({ name, role: options.role }))
      const who = `${plainLine(added.name)} is added${added.role === null ? '' : ` as ${plainLine(added.role)}`}`
      show(options, added, `Operator ${who}. The token is shown only once:\n\n${added.operator_token}`)
    })
  serverCommand(operator, 'list', 'list operators')
    .alias('ls')
    .examples('phaselock operator list')
    .asks(async (client, options) => {
      const found = await client.operators()
      show(options, found, formatOperatorTable(found.operators))
    })
  addPassphrase(operator)
  addSessions(operator)
  addRevoke(operator, 'operator')
}

function addLogin(program: CliCommand): void {
  serverCommand(program, 'login', 'print a link that logs you in to the dashboard once, and open it')
    .option('--no-browser', 'only print the link')
    .examples('phaselock login', ['phaselock login --no-browser', 'for a browser on another machine'])
    .asks(async (client, options: ClientOptions & { readonly browser: boolean }) => {
      const made = await client.makeLoginCode()
      const { openBrowser } = await import('../terminal/open-browser.js')
      const isOpened = options.browser && options.json !== true && openBrowser(made.url)
      const how = isOpened ? 'The browser opens this link' : 'Open this link in your browser'
      show(options, made, `${how}; it works once, until ${formatTime(made.expires_at)}:\n\n${made.url}`)
    })
}

interface PassphraseOptions extends ClientOptions {
  readonly newFile?: string
  readonly code?: string
}

function addPassphrase(operator: CliCommand): void {
  serverCommand(operator, 'passphrase', 'set or replace your passphrase, which confirms sensitive acts')
    .option('--new-file <file>', 'file with the new passphrase (default: ask)')
    .option('--code <code>', 'code of the link that `serve --first-code` printed, for a first passphrase')
    .examples('phaselock operator passphrase')
    .asks(async (client, options: PassphraseOptions) => {
      const { setPassphrase } = await import('../client/set-passphrase.js')
      show(options, await setPassphrase(client, options), 'Your passphrase is set.')
    })
}

function addSessions(operator: CliCommand): void {
  serverCommand(operator, 'sessions', 'list sessions in the dashboard, or end one')
    .option('--revoke <id>', 'end this session')
    .examples('phaselock operator sessions')
    .asks(async (client, options: ClientOptions & { readonly revoke?: string }) => {
      if (options.revoke !== undefined) {
        const ended = await client.revokeSession(options.revoke)
        return show(options, ended, `Session ${plainLine(options.revoke)} is ended.`)
      }
      const found = await client.sessions()
      show(options, found, found.sessions.length === 0 ? 'No sessions.' : formatSessionTable(found.sessions))
    })
}

function formatSessionTable(sessions: readonly SessionRow[]): string {
  return formatTable(sessions, [
    { title: 'SESSION', text: (row) => row.id },
    { title: 'OPERATOR', text: (row) => row.operator },
    { title: 'BEGAN WITH', text: (row) => row.came_from.replace('_', ' ') },
    { title: 'LAST USED', text: (row) => formatTime(row.last_used_at) },
    { title: 'EXPIRES', text: (row) => formatTime(row.expires_at) },
    { title: 'BROWSER', text: (row) => row.user_agent, isFlexible: true },
  ])
}

function formatOperatorTable(operators: readonly OperatorRow[]): string {
  return formatTable(operators, [
    { title: 'NAME', text: (row) => row.name },
    { title: 'ROLE', text: (row) => row.role ?? '-' },
    { title: 'ADDED', text: (row) => formatTime(row.added_at) },
    { title: 'REVOKED', text: (row) => formatTime(row.revoked_at) || '-' },
  ])
}
