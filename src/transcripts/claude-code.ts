import { ANSWER_TOKENS_MAX, type Fields, getCounts, getField, getFields, getId, isAbsent } from './fields.js'
import { type LineFound, MALFORMED, NOTHING_FOUND } from './usage.js'

const COUNTS = {
  required: ['input_tokens', 'output_tokens'],
  optional: ['cache_read_input_tokens', 'cache_creation_input_tokens'],
}

/** A message is written once for each of its blocks, every time with the whole usage known so far. */
export function readClaudeCodeLine(line: Fields, at: number): LineFound {
  if (getField(line, 'type') !== 'assistant') return NOTHING_FOUND
  const message = getFields(line, 'message')
  if (message === null) return MALFORMED
  if (isAbsent(message, 'usage')) return NOTHING_FOUND
  const usage = getFields(message, 'usage')
  const id = getId(message, 'id')
  const request = isAbsent(line, 'requestId') ? '' : getId(line, 'requestId')
  const counts = usage && getCounts(usage, COUNTS, ANSWER_TOKENS_MAX)
  if (counts === null || id === null || request === null) return MALFORMED
  const [input = 0, output = 0, cacheRead = 0, cacheWrite = 0] = counts
  return {
    usage: [{ at, id: request === '' ? id : `${id} ${request}`, input, output, cacheRead, cacheWrite }],
    malformed: false,
  }
}
