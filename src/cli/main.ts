import { CommanderError } from 'commander'
import { EXIT, Stop } from './exit.js'
import { buildProgram } from './program.js'
import { formatPlainJson, toPlainText } from './terminal/plain-text.js'
import { paintText, tell, tolerateClosedPipes } from './terminal/terminal.js'

/** Runs the program with these arguments and sets the exit code. */
export async function main(args: readonly string[]): Promise<void> {
  const isServer = args[0] === 'serve'
  // A reader that has seen enough, such as `head`, ends a client; a server goes on.
  if (!isServer) {
    tolerateClosedPipes(() => process.exit(EXIT.ok))
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(EXIT.interrupted))
  }
  try {
    await buildProgram().parseAsync(args, { from: 'user' })
  } catch (error) {
    process.exitCode = report(error, args.includes('--json'))
  }
}

function report(error: unknown, asJson: boolean): number {
  // Commander has printed its own message, or the help that was asked for.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
  if (error instanceof Stop) {
    if (asJson) tell(formatPlainJson({ error: error.message, exit: error.exit, ...error.details }))
    else if (error.message !== '') tell(paintText('red', toPlainText(error.message), process.stderr))
    return error.exit
  }
  tell(error instanceof Error ? toPlainText(error.stack ?? error.message) : String(error))
  tell('This is a fault in phaselock. Please report it with the lines above.')
  return EXIT.refused
}
