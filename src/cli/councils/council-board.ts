import { writeSync } from 'node:fs'
import { toPlainText } from '../terminal/plain-text.js'
import { countColumns } from '../terminal/table.js'

// Terminals that know it show the whole picture at once; others do not mind.
const BEGIN = '\u001B[?2026h'
const END = '\u001B[?2026l'
const HIDE_CURSOR = '\u001B[?25l'
const SHOW_CURSOR = '\u001B[?25h'
const CLEAR_BELOW = '\u001B[J'
const COLUMNS_DEFAULT = 80

/** A block of lines at the end of the terminal that is drawn again in place; what is said meanwhile stands above it. */
export class Board {
  #block: readonly string[] = []
  readonly #restore = (): void => giveBack()

  constructor() {
    process.once('exit', this.#restore)
    process.stdout.write(HIDE_CURSOR)
  }

  /** Draws the block anew, below what is said. Lines must not be wider than the terminal. */
  draw(block: readonly string[], said: readonly string[] = []): void {
    const lines = [...said, ...block]
    process.stdout.write(`${BEGIN}${this.#back()}${lines.map((line) => `${line}\r\n`).join('')}${END}`)
    this.#block = block
  }

  /** Takes the block away and gives the terminal back. */
  close(): void {
    this.draw([])
    process.off('exit', this.#restore)
    giveBack()
  }

  #back(): string {
    const columns = Math.max(1, process.stdout.columns ?? COLUMNS_DEFAULT)
    // A terminal that became narrower has wrapped what was drawn.
    const rows = this.#block.reduce((sum, line) => sum + countRows(line, columns), 0)
    return rows === 0 ? CLEAR_BELOW : `\u001B[${rows}F${CLEAR_BELOW}`
  }
}

function giveBack(): void {
  try {
    // The program may be ending: nothing that is written later would arrive.
    writeSync(process.stdout.fd, SHOW_CURSOR)
  } catch (error) {
    // A terminal that is gone needs nothing back.
    if (!['EIO', 'EPIPE', 'EBADF', 'EAGAIN'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
}

function countRows(line: string, columns: number): number {
  return Math.max(1, Math.ceil(countColumns(toPlainText(line)) / columns))
}
