import { writeSync } from 'node:fs'
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { plainJson } from '../../core/plain-text.js'
import { EXIT, Stop } from '../exit.js'

const WIDTH_DEFAULT = 80
const WIDTH_MIN = 40

/** Writes to standard output, with a line break at the end. */
export function print(text: string): void {
  process.stdout.write(text.endsWith('\n') ? text : `${text}\n`)
}

/** Writes to standard error: progress, warnings, messages for people only. */
export function tell(text: string): void {
  process.stderr.write(text.endsWith('\n') ? text : `${text}\n`)
}

export function printJson(value: unknown): void {
  print(plainJson(value, 2))
}

/** Prints an answer: as text, or unchanged with `--json`. */
export function show(options: { readonly json?: boolean }, answer: unknown, text: string): void {
  if (options.json === true) printJson(answer)
  else print(text)
}

/** Columns of the terminal; 80 if there is none. */
export function getWidth(): number {
  return Math.max(WIDTH_MIN, process.stdout.columns ?? WIDTH_DEFAULT)
}

/** Whether a person can be asked. */
export function canAsk(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true
}

/** Asks a yes-or-no question on the terminal; anything but yes is no. */
export async function confirm(question: string): Promise<boolean> {
  return /^\s*y(es)?\s*$/i.test(await askLine(`${question} [y/N] `))
}

/** Asks about what the person came for: just Enter is yes, anything but yes is no. */
export async function confirmUsual(question: string): Promise<boolean> {
  return /^\s*(y(es)?)?\s*$/i.test(await askLine(`${question} [Y/n] `))
}

/** Asks for one line on the terminal. */
export async function askLine(question: string): Promise<string> {
  const reader = createInterface({ input: process.stdin, output: process.stderr })
  reader.once('SIGINT', () => reader.close())
  try {
    const ended = new Promise<null>((resolve) => reader.once('close', () => resolve(null)))
    const answer = await Promise.race([reader.question(question), ended])
    if (answer === null) throw new Stop(EXIT.interrupted, 'Interrupted; nothing was done.')
    return answer
  } finally {
    reader.close()
  }
}

/** Asks for a secret on the terminal, without showing it. */
export async function askHidden(question: string): Promise<string> {
  process.stderr.write(question)
  const reader = createInterface({ input: process.stdin, output: new Writable({ write: skipWrite }), terminal: true })
  reader.once('SIGINT', () => reader.close())
  try {
    const ended = new Promise<null>((resolve) => reader.once('close', () => resolve(null)))
    const answer = await Promise.race([reader.question(''), ended])
    if (answer === null) throw new Stop(EXIT.interrupted, 'Interrupted; nothing was done.')
    return answer
  } finally {
    reader.close()
    process.stderr.write('\n')
  }
}

function skipWrite(_chunk: unknown, _encoding: string, done: () => void): void {
  done()
}

/** Ends the command unless the user agrees, or if nobody can be asked. */
export async function mustConfirm(
  question: string,
  said: { readonly unasked: string; readonly no: string },
): Promise<void> {
  if (!canAsk()) throw new Stop(EXIT.usage, said.unasked)
  if (!(await confirm(question))) throw new Stop(EXIT.refused, said.no)
}

/** Writes synchronously to the terminal: the program may be ending, and a later write would not arrive. */
export function writeAtOnce(text: string): void {
  try {
    writeSync(process.stdout.fd, text)
  } catch (error) {
    // A closed terminal needs no restoring.
    if (!['EIO', 'EPIPE', 'EBADF', 'EAGAIN'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
}

const STYLES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const

/** Colours the text on a terminal. Never the only signal: the words say the same. */
export function paintText(
  style: keyof typeof STYLES,
  text: string,
  stream: { readonly isTTY?: boolean } = process.stdout,
): string {
  const isPlain =
    stream.isTTY !== true || (process.env.NO_COLOR ?? '') !== '' || process.env.TERM === 'dumb' || text === ''
  return isPlain ? text : `\u001B[${STYLES[style]}m${text}\u001B[0m`
}

/** A reader that closes the pipe, such as `head`, is not a fault. */
export function tolerateClosedPipes(onClosed: () => void): void {
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE' && error.code !== 'EIO') throw error
      onClosed()
    })
}
