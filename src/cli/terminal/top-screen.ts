import { EXIT } from '../exit.js'
import { writeAtOnce } from './terminal.js'
import type { Size } from './top-frame.js'

const ENTER = '\u001B[?1049h\u001B[?25l'
const LEAVE = '\u001B[?25h\u001B[?1049l'
// Terminals that know it show the whole picture at once; others do not mind.
const BEGIN = '\u001B[?2026h\u001B[H'
const END = '\u001B[J\u001B[?2026l'
const CLEAR_LINE = '\u001B[K'
const ROWS_DEFAULT = 24
const COLUMNS_DEFAULT = 80
const COLUMNS_MIN = 20
const CTRL_C = '\u0003'

/** A full-screen terminal, which is restored however the program ends. */
export class Screen {
  #isOpen = false
  #onResize: () => void = () => undefined
  readonly #leave = (): void => this.close()

  /** Resolves when the user wants to leave. */
  open(onResize: () => void): Promise<void> {
    this.#isOpen = true
    this.#onResize = onResize
    process.once('exit', this.#leave)
    process.stdout.write(ENTER)
    process.stdout.on('resize', onResize)
    const { stdin } = process
    if (stdin.isTTY !== true) return new Promise(() => undefined)
    stdin.setRawMode(true)
    stdin.resume()
    return new Promise((resolve) => {
      stdin.on('data', (chunk: Buffer) => {
        const keys = chunk.toString('utf8')
        if (keys.includes(CTRL_C)) process.exit(EXIT.interrupted)
        if (/^[qQ]/.test(keys)) resolve()
      })
    })
  }

  draw(lines: readonly string[]): void {
    if (this.#isOpen) process.stdout.write(`${BEGIN}${lines.map((line) => `${line}${CLEAR_LINE}`).join('\r\n')}${END}`)
  }

  close(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    process.stdout.off('resize', this.#onResize)
    process.off('exit', this.#leave)
    if (process.stdin.isTTY === true) {
      process.stdin.setRawMode(false)
      process.stdin.pause()
    }
    writeAtOnce(LEAVE)
  }
}

/** The current size of the terminal. */
export function readScreenSize(): Size {
  return {
    columns: Math.max(COLUMNS_MIN, process.stdout.columns ?? COLUMNS_DEFAULT),
    rows: Math.max(1, process.stdout.rows ?? ROWS_DEFAULT),
  }
}
