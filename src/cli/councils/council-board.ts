import { plainText } from '../../core/plain-text.js'
import { countColumns } from '../terminal/table.js'
import { writeAtOnce } from '../terminal/terminal.js'

// Terminals that support it show the whole frame at once; others ignore it.
const BEGIN = '\u001B[?2026h'
const END = '\u001B[?2026l'
const HIDE_CURSOR = '\u001B[?25l'
const SHOW_CURSOR = '\u001B[?25h'
const CLEAR_BELOW = '\u001B[J'
const COLUMNS_DEFAULT = 80

/** A block of lines at the end of the terminal that is redrawn in place; messages printed meanwhile appear above it. */
export class Board {
  #block: readonly string[] = []
  readonly #restore = (): void => writeAtOnce(SHOW_CURSOR)

  constructor() {
    process.once('exit', this.#restore)
    process.stdout.write(HIDE_CURSOR)
  }

  /** Redraws the block below the messages. Lines must not be wider than the terminal. */
  draw(block: readonly string[], said: readonly string[] = []): void {
    const lines = [...said, ...block]
    process.stdout.write(`${BEGIN}${this.#back()}${lines.map((line) => `${line}\r\n`).join('')}${END}`)
    this.#block = block
  }

  /** Removes the block and releases the terminal. */
  close(): void {
    this.draw([])
    process.off('exit', this.#restore)
    writeAtOnce(SHOW_CURSOR)
  }

  #back(): string {
    const columns = Math.max(1, process.stdout.columns ?? COLUMNS_DEFAULT)
    // A terminal that became narrower has wrapped the drawn lines.
    const rows = this.#block.reduce((sum, line) => sum + countRows(line, columns), 0)
    return rows === 0 ? CLEAR_BELOW : `\u001B[${rows}F${CLEAR_BELOW}`
  }
}

function countRows(line: string, columns: number): number {
  return Math.max(1, Math.ceil(countColumns(plainText(line)) / columns))
}
