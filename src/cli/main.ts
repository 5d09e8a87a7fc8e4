import { CommanderError } from 'commander'
import { plainJson, plainText } from '../core/plain-text.js'
import { EXIT, Stop } from './exit.js'
import { buildProgram } from './program.js'
import { paintText, print, tell, tolerateClosedPipes } from './terminal/terminal.js'

/** Commands that are gone, and what to use instead. The version after this one forgets them. */
const GONE = new Map([
  [
    'stash',
    'give the other task its own work tree: phaselock task add TITLE --worktree. Work that 0.2.0 stashed: see docs/operate.md#upgrade.',
  ],
])

/** Runs the program with these arguments and sets the exit code. */
export async function main(args: readonly string[]): Promise<void> {
  const isServer = args[0] === 'serve'
  // A reader that closes the pipe early, such as `head`, ends a client; a server continues.
  if (!isServer) {
    tolerateClosedPipes(() => process.exit(EXIT.ok))
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(EXIT.interrupted))
  }
  try {
    if (args.length === 0) return print((await import('./terminal/where-next.js')).describeNext())
    const instead = GONE.get(args[0] ?? '')
    if (instead !== undefined) throw new Stop(EXIT.usage, `phaselock ${args[0]} is gone: ${instead}`)
    await buildProgram().parseAsync(args, { from: 'user' })
  } catch (error) {
    process.exitCode = report(error, args.includes('--json'))
  }
}

function report(error: unknown, asJson: boolean): number {
  // Commander has printed its own message, or the requested help.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
  if (error instanceof Stop) {
    if (asJson) tell(plainJson({ error: error.message, exit: error.exit, ...error.details }))
    else if (error.message !== '') tell(paintText('red', plainText(error.message), process.stderr))
    return error.exit
  }
  tell(error instanceof Error ? plainText(error.stack ?? error.message) : String(error))
  tell('This is a fault in phaselock. Please report it with the lines above.')
  return EXIT.refused
}
