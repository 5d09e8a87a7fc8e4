import { canAsk, confirm, tell } from '../terminal/terminal.js'
import { wrapText } from '../workflow/run-text.js'

const WIDTH = 79

/** What `sigusr1: allow` gives up, in one sentence. */
const MEANING =
  'If you allow it, every run is recorded with `sigusr1: allowed` and is weaker evidence: code under test can open the debugger of Node.js in each process that it may signal, which are those that it started and, before Linux 6.12 or without /usr/bin/perl, the test runner too, whose report it could then forge.'

/** Whether the tests may send SIGUSR1, and whether a person may be asked. */
export interface SignalChoice {
  /** What a person said with `--sigusr1`; absent: nothing. */
  readonly given?: 'allow' | 'refuse' | undefined
  /** True where nothing is to be asked, as with `--yes`. */
  readonly isUnasked: boolean
}

/** Asks whether the tests may send SIGUSR1, after a trial (`saw`) in which it was refused. Without a terminal: no. */
export async function askToAllowSignal(choice: SignalChoice, saw: string): Promise<boolean> {
  if (choice.given !== undefined || choice.isUnasked || !canAsk()) return false
  const text = `These tests seem to send SIGUSR1. The command ${saw}. ${MEANING} See docs/security.md#sigusr1-in-observed-runs.`
  tell(wrapText(text, '', WIDTH).join('\n'))
  return confirm('Allow SIGUSR1 for this command, and try it again?')
}
