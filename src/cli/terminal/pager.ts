import { spawnSync } from 'node:child_process'
import { print } from './terminal.js'

const ROWS_LEFT = 2

/** Prints a text; one that is longer than the terminal goes through the user's pager. */
export function printPaged(text: string, options: { readonly pager?: boolean }): void {
  if (options.pager === false || !needsPager(text) || !runPager(text)) print(text)
}

function needsPager(text: string): boolean {
  const { stdin, stdout } = process
  return stdin.isTTY === true && stdout.isTTY === true && text.split('\n').length > (stdout.rows ?? 0) - ROWS_LEFT
}

/** Whether the pager showed the text. */
function runPager(text: string): boolean {
  const pager = process.env.PAGER ?? 'less'
  if (pager === '' || pager === 'cat') return false
  // R shows the colours; F and X leave the text on the screen, where the question about it follows.
  const env = { ...process.env, LESS: process.env.LESS ?? 'FRX' }
  const ran = spawnSync('sh', ['-c', pager], { input: `${text}\n`, stdio: ['pipe', 'inherit', 'inherit'], env })
  // The shell answers 126 or 127 when there is no such program.
  return ran.error === undefined && ran.status !== 126 && ran.status !== 127
}
