import type { Command } from 'commander'
import { Client, encodeSegment } from '../client/client.js'
import { addClientOptions, type ClientOptions } from '../client/connection.js'
import { EXIT, Stop } from '../exit.js'
import { formatExamples } from '../options.js'
import { print, printJson } from '../terminal/terminal.js'

const TOKEN = /^[\x21-\x7e]{1,8192}$/

/** `phaselock coordinate token`: what somebody elsewhere takes part with. */
export function addTokenCommand(coordinate: Command): void {
  addClientOptions(
    coordinate
      .command('token')
      .argument('<run>', 'id of the council, or of the consensus of a phase')
      .argument('<agent>', 'name of the remote agent in the council or contract')
      .description("print a remote agent's token, and nothing else"),
  )
    .addHelpText(
      'after',
      formatExamples([
        ['phaselock coordinate token coord-3f2a91 guest > guest.token', ''],
        ['phaselock coordinate token consensus-3f2a91-task-1 reviewer_a', ''],
      ]),
    )
    // `coordinate` has the same options, and commander gives them to it wherever they stand.
    .action((run: string, agent: string, _own: ClientOptions, command: Command) =>
      showToken(run, agent, command.optsWithGlobals()),
    )
}

async function showToken(run: string, agent: string, options: ClientOptions): Promise<void> {
  const path = `/coordinations/${encodeSegment(run)}/agents/${encodeSegment(agent)}/token`
  const answer = await new Client(options).post(path, {})
  const { token } = answer
  // It goes into files and variables: what is no token must not.
  if (typeof token !== 'string' || !TOKEN.test(token))
    throw new Stop(EXIT.refused, 'The server did not answer with a token.')
  if (options.json === true) return printJson(answer)
  print(token)
}
