import { type CliCommand, serverCommand } from '../cli-command.js'
import { openClient } from '../client/client.js'
import type { ClientOptions } from '../client/connection.js'
import { EXIT, Stop } from '../exit.js'
import { show } from '../terminal/terminal.js'

const TOKEN = /^[\x21-\x7e]{1,8192}$/

/** `phaselock coordinate token`: the token of a remote agent. */
export function addTokenCommand(coordinate: CliCommand): void {
  serverCommand(coordinate, 'token', "print a remote agent's token, and nothing else")
    .argument('<run>', 'id of the council, or of the consensus of a phase')
    .argument('<agent>', 'name of the remote agent in the council or contract')
    .examples(
      'phaselock coordinate token coord-3f2a91 guest > guest.token',
      'phaselock coordinate token consensus-3f2a91-task-1 reviewer_a',
    )
    // `coordinate` has the same options, and commander assigns them to it wherever they are.
    .action(async (run: string, agent: string, _own: ClientOptions, command: CliCommand) => {
      const options: ClientOptions = command.optsWithGlobals()
      const answer = await (await openClient(options)).participantToken(run, agent)
      // The output goes into files and variables: print only a token.
      if (typeof answer.token !== 'string' || !TOKEN.test(answer.token))
        throw new Stop(EXIT.refused, 'The server did not answer with a token.')
      show(options, answer, answer.token)
    })
}
