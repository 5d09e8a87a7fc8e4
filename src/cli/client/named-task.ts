import type { JsonObject } from '../../core/json.js'
import { Stop } from '../exit.js'
import { toPlainLine } from '../terminal/plain-text.js'
import { type Client, encodeSegment } from './client.js'

const KINDS = { approval: ['an approval', 'apr-'], question: ['a question', 'qst-'] } as const

/** The task that was named in place of something that it waits for. */
export async function findNamedTask(client: Client, id: string, inPlaceOf: keyof typeof KINDS): Promise<JsonObject> {
  try {
    return await client.get(`/tasks/${encodeSegment(id)}`)
  } catch (error) {
    const problem = error instanceof Stop ? (error.details.problem as JsonObject | undefined) : undefined
    const [one, prefix] = KINDS[inPlaceOf]
    if (!(error instanceof Stop) || problem?.code !== 'not_found' || !id.startsWith(prefix)) throw error
    throw new Stop(
      error.exit,
      `There is neither ${one} nor a task ${JSON.stringify(toPlainLine(id))}. [not_found]\nSee what waits for you with \`phaselock ${inPlaceOf}s\`.`,
      error.details,
    )
  }
}
