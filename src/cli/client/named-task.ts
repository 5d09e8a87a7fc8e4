import type { TaskDetails } from 'phaselock/sdk'
import { plainLine } from '../../core/plain-text.js'
import { codeOf, Stop } from '../exit.js'
import type { Client } from './client.js'

const KINDS = { approval: ['an approval', 'apr-'], question: ['a question', 'qst-'] } as const

/** Finds the task that was named instead of an approval or question it waits for. */
export async function findNamedTask(client: Client, id: string, inPlaceOf: keyof typeof KINDS): Promise<TaskDetails> {
  try {
    return await client.task(id)
  } catch (error) {
    const [one, prefix] = KINDS[inPlaceOf]
    if (!(error instanceof Stop) || codeOf(error) !== 'not_found' || !id.startsWith(prefix)) throw error
    throw new Stop(
      error.exit,
      `There is neither ${one} nor a task ${JSON.stringify(plainLine(id))}. [not_found]\nSee what waits for you with \`phaselock ${inPlaceOf}s\`.`,
      error.details,
    )
  }
}
