import {
  ANSWER_TOKENS_MAX,
  type Fields,
  getCounts,
  getField,
  getFields,
  getId,
  isAbsent,
  isFields,
  parseTime,
} from './fields.js'
import { type LineFound, MALFORMED, NOTHING_FOUND } from './usage.js'

const COUNTS = { required: ['input', 'output'], optional: ['cached', 'thoughts', 'tool'] }

/** A message is written again when its tools have run. `$set` rewrites messages, with their ids. */
export function readGeminiLine(line: Fields, at: number): LineFound {
  const set = getFields(line, '$set')
  if (set === null) return readMessage(line, at)
  const messages = getField(set, 'messages')
  if (messages === undefined) return NOTHING_FOUND
  if (!Array.isArray(messages)) return MALFORMED
  const found = messages.map((message: unknown) =>
    isFields(message) ? readMessage(message, parseTime(message) ?? at) : MALFORMED,
  )
  return { usage: found.flatMap(({ usage }) => usage), malformed: found.some(({ malformed }) => malformed) }
}

function readMessage(message: Fields, at: number): LineFound {
  if (getField(message, 'type') !== 'gemini' || isAbsent(message, 'tokens')) return NOTHING_FOUND
  const tokens = getFields(message, 'tokens')
  const id = getId(message, 'id')
  const counts = tokens && getCounts(tokens, COUNTS, ANSWER_TOKENS_MAX)
  if (counts === null || id === null) return MALFORMED
  const [input = 0, output = 0, cached = 0, thoughts = 0, tool = 0] = counts
  // `input` includes the cached part but not what tools added to the prompt, `output` does not include the thoughts.
  return {
    usage: [
      {
        at,
        id,
        input: Math.max(0, input - cached) + tool,
        output: output + thoughts,
        cacheRead: cached,
        cacheWrite: 0,
      },
    ],
    malformed: false,
  }
}
