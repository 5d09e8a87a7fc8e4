import type { PrivateFolder } from './private-folder.js'
import type { SessionProgress } from './session-mcp.js'
import type { SessionTask } from './session-task.js'
import { formatStatusLine } from './session-text.js'

/** The file that the status line of an agent CLI prints. */
export const STATUS_FILE = 'status'

/** Where the task of a session stands, for the person who looks at the terminal. */
export class SessionStatus {
  #phase: string
  #waits = false
  #refusals = 0

  constructor(
    private readonly task: SessionTask,
    private readonly folder: PrivateFolder,
  ) {
    this.#phase = task.claimed.phase
  }

  note({ phase, waits, isRefused }: SessionProgress): void {
    if ((phase === null || phase === this.#phase) && waits === this.#waits && !isRefused) return
    this.#phase = phase ?? this.#phase
    this.#waits = waits
    if (isRefused) this.#refusals += 1
    this.show()
  }

  show(): void {
    const line = formatStatusLine({
      ...{ id: this.task.id, phase: this.#phase, waits: this.#waits, refusals: this.#refusals },
    })
    this.folder.replace(STATUS_FILE, `${line}\n`)
  }
}
