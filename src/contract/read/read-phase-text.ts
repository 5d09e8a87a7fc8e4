import { anyMap, filled, type Kind, list, path, positive, text } from '../schema/kinds.js'
import { need, object, otherwise } from '../schema/object.js'

const CONTENT_CHARS_MAX = 1024 * 1024

// Documents are longer than any other text of a contract.
const content: Kind<string> = {
  read: (node, { reading }) => {
    const { value } = node.kind === 'scalar' ? node : { value: null }
    if (typeof value === 'string' && value.length <= CONTENT_CHARS_MAX) return value
    const message = `Expected a text of at most ${CONTENT_CHARS_MAX} characters.`
    reading.report({ code: 'contract.wrong_type', at: node.at, message })
    return null
  },
  blank: '',
  json: { type: 'string', maxLength: CONTENT_CHARS_MAX },
  words: 'text',
}

const count: Kind<number | null> = {
  read: (node, { reading }) => {
    const { value } = node.kind === 'scalar' ? node : { value: undefined }
    if (value === null || (Number.isSafeInteger(value) && Number(value) >= 0))
      return value === null ? null : Number(value)
    reading.report({ code: 'contract.wrong_type', at: node.at, message: 'Expected a whole number of at least 0.' })
    return null
  },
  json: { type: ['integer', 'null'], minimum: 0 },
  words: 'number',
}

/** A place in a document of the workflow. */
export const DOCUMENT_PLACE = object(
  'document_place',
  'A place in a document of the workflow',
  {
    file: need(path, 'The file, relative to the workflow.', 'phases/1/phase.md'),
    line: otherwise(positive, 'The line, from 1.', '9', { fallback: 1 }),
  },
  { words: '[places](#phase-document)' },
)

const PHASE_TASK = object(
  'phase_task',
  'One task of a phase',
  {
    id: need(filled, '`task-1` for `task-1-collect.md`.', 'task-1'),
    title: otherwise(text, 'Its first heading.', 'Collect', { fallback: '' }),
    content: need(content, 'Its text.', 'Collect them'),
  },
  { words: 'tasks' },
)

/** The document of a phase, as the canonical form of a workflow of documents holds it. */
export const PHASE_TEXT = object('phase_document', 'Phase document', {
  number: otherwise(count, 'The number of the phase; null in a YAML contract.', '1', {
    fallback: null,
    words: 'number or null',
  }),
  content: need(content, "The phase's own document, complete and in order.", 'Read the code'),
  sources: otherwise(list(DOCUMENT_PLACE), 'Where the content stands.', '[{file: phases/1/phase.md, line: 1}]', {
    fallback: [],
  }),
  total_tokens: otherwise(count as Kind<number>, 'Tokens of the content.', '4', { fallback: 0 }),
  examples: otherwise(anyMap, "Evidence as the document's own example writes it.", '{count: 3}', { fallback: {} }),
  tasks: otherwise(list(PHASE_TASK), 'The tasks of the phase, in order.', '[{id: task-1, content: Read.}]', {
    fallback: [],
  }),
})
