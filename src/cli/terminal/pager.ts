import { spawnSync } from 'node:child_process'
import { print } from './terminal.js'

const ROWS_LEFT = 2

interface PagerOptions {
  readonly pager?: boolean
  /** What the key q does, in letters and spaces only. */
  readonly hint?: string
}

/** Prints a text; one that is longer than the terminal goes through the user's pager. */
export function printPaged(text: string, { pager, hint = 'q ends' }: PagerOptions): void {
  if (pager === false || !needsPager(text) || !runPager(text, hint)) print(text)
}

function needsPager(text: string): boolean {
  const { stdin, stdout } = process
  return stdin.isTTY === true && stdout.isTTY === true && text.split('\n').length > (stdout.rows ?? 0) - ROWS_LEFT
}

/** Whether the pager showed the text. */
function runPager(text: string, hint: string): boolean {
  const pager = process.env.PAGER ?? 'less'
  if (pager === '' || pager === 'cat') return false
  // R shows the colours; F and X leave the text on the screen, where the question about it follows; e ends at the second
  // Space at the end. P is the prompt, in which ?e asks whether the end is reached.
  const env = { ...process.env, LESS: process.env.LESS ?? `FRXePs?eSpace or ${hint}:Space shows more and ${hint}.$` }
  const ran = spawnSync('sh', ['-c', pager], { input: `${text}\n`, stdio: ['pipe', 'inherit', 'inherit'], env })
  // The shell answers 126 or 127 when there is no such program.
  return ran.error === undefined && ran.status !== 126 && ran.status !== 127
}
