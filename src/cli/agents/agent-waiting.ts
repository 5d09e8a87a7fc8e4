import { plainLine } from '../../core/plain-text.js'
import { formatCount } from '../../core/text.js'
import type { Ask } from '../client/client.js'
import { tell } from '../terminal/terminal.js'

const LOOK_MS = 2000

/** Tells a user who follows an agent that it waits for people, once for each approval and each new question. */
export class WaitingNotice {
  readonly #ask: Ask
  readonly #taskId: string
  #lookedAt = 0
  #approval = ''
  #questions = 0

  constructor(ask: Ask, taskId: string) {
    this.#ask = ask
    this.#taskId = taskId
  }

  async look(): Promise<void> {
    const now = performance.now()
    if (now - this.#lookedAt < LOOK_MS) return
    this.#lookedAt = now
    const task = await this.#ask((client) => client.task(this.#taskId))
    const approval = plainLine(task.pending_approval?.id)
    if (approval !== '' && approval !== this.#approval)
      tell(`It waits for you. Look at it and answer: phaselock approve ${approval}`)
    const questions = task.open_questions
    if (questions > this.#questions)
      tell(
        `It asks you (${formatCount(questions, 'open question')}): phaselock questions --task ${plainLine(this.#taskId)}`,
      )
    this.#approval = approval
    this.#questions = questions
  }
}
