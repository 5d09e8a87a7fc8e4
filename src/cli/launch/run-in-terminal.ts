import { spawn, spawnSync } from 'node:child_process'
import { constants } from 'node:os'
import { EXIT, Stop } from '../exit.js'
import { writeAtOnce } from '../terminal/terminal.js'

const KILL_MS = 5000
const FORWARDED = ['SIGTERM', 'SIGHUP'] as const
const HEARD = ['SIGINT', 'SIGQUIT', ...FORWARDED] as const
// A killed program cannot restore the terminal: leave the other screen, show the cursor, end mouse and paste modes.
const RESET =
  '\u001b[?1049l\u001b[?25h\u001b[?1000l\u001b[?1002l\u001b[?1003l\u001b[?1006l\u001b[?2004l\u001b[?1004l\u001b[>4m\u001b[<u\u001b[0m\r\n'

export interface TerminalRun {
  readonly program: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  /** Ends the program. */
  readonly signal?: AbortSignal
}

export interface TerminalEnd {
  /** As a shell would say it: 128 and the number of the signal for a program that was killed. */
  readonly code: number
  readonly signal: NodeJS.Signals | null
}

/** Runs a program that owns the terminal until it ends. Ctrl-C is for it; this process stays to clean up. */
export async function runInTerminal({ program, args, cwd, env, signal: over }: TerminalRun): Promise<TerminalEnd> {
  const child = spawn(program, args, { cwd, env, stdio: 'inherit' })
  let killing: NodeJS.Timeout | null = null
  const hear = (signal: NodeJS.Signals): void => {
    if (!(FORWARDED as readonly string[]).includes(signal)) return
    child.kill(signal)
    killing ??= setTimeout(() => child.kill('SIGKILL'), KILL_MS)
  }
  over?.addEventListener('abort', () => hear('SIGTERM'), { once: true })
  for (const signal of HEARD) {
    process.removeAllListeners(signal)
    process.on(signal, hear)
  }
  try {
    const ended = await new Promise<TerminalEnd>((resolve, reject) => {
      child.once('error', (error: NodeJS.ErrnoException) =>
        reject(new Stop(EXIT.refused, `${program} cannot be started (${error.code ?? 'fault'}).`)),
      )
      child.once('close', (code, signal) =>
        resolve({ code: signal === null ? (code ?? EXIT.refused) : 128 + constants.signals[signal], signal }),
      )
    })
    if (ended.signal !== null) restoreTerminal()
    return ended
  } finally {
    if (killing !== null) clearTimeout(killing)
    for (const signal of HEARD) process.off(signal, hear)
    // The rest takes a moment; a second Ctrl-C must not leave the agent registered.
    process.on('SIGINT', () => undefined)
  }
}

function restoreTerminal(): void {
  writeAtOnce(RESET)
  spawnSync('stty', ['sane'], { stdio: ['inherit', 'ignore', 'ignore'] })
}
