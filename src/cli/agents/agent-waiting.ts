import { formatCount } from '../../core/text.js'
import { toObject, toText } from '../client/answer-values.js'
import { encodeSegment } from '../client/client.js'
import type { LastingClient } from '../client/lasting-client.js'
import { toPlainLine } from '../terminal/plain-text.js'
import { tell } from '../terminal/terminal.js'

const LOOK_MS = 2000

/** Tells whoever follows an agent that it waits for people, once for each approval and each new question. */
export class WaitingNotice {
  readonly #client: LastingClient
  readonly #taskId: string
  #lookedAt = 0
  #approval = ''
  #questions = 0

  constructor(client: LastingClient, taskId: string) {
    this.#client = client
    this.#taskId = taskId
  }

  async look(): Promise<void> {
    const now = performance.now()
    if (now - this.#lookedAt < LOOK_MS) return
    this.#lookedAt = now
    const task = await this.#client.get(`/tasks/${encodeSegment(this.#taskId)}`)
    const approval = toPlainLine(toText(toObject(task.pending_approval).id))
    if (approval !== '' && approval !== this.#approval)
      tell(`It waits for you. Look at it and answer: phaselock approve ${approval}`)
    const questions = Number(task.open_questions)
    if (questions > this.#questions)
      tell(
        `It asks you (${formatCount(questions, 'open question')}): phaselock questions --task ${toPlainLine(this.#taskId)}`,
      )
    this.#approval = approval
    this.#questions = questions
  }
}
