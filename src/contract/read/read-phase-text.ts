import type { PhaseTextDocument } from '../document.js'
import type { ListNode, SourceNode } from '../load/yaml.js'
import { Fields } from './fields.js'
import type { Reading } from './reading.js'

const KEYS = ['number', 'content', 'sources', 'total_tokens', 'examples', 'tasks']
const CONTENT_CHARS_MAX = 1024 * 1024

/** The document of a phase, as the canonical form of a workflow of documents holds it. */
export function readPhaseText(reading: Reading, node: SourceNode): PhaseTextDocument | null {
  const fields = Fields.openFields(reading, node, KEYS)
  if (fields === null) return null
  const examples = fields.map('examples')
  const text: PhaseTextDocument = {
    number: readCount(fields, 'number'),
    content: readContent(fields),
    sources: readEach(fields.list('sources'), (item) => {
      const inner = Fields.openFields(reading, item, ['file', 'line'])
      return inner === null ? null : { file: inner.needText('file', 'a.md'), line: inner.getPositive('line', 1) }
    }),
    total_tokens: readCount(fields, 'total_tokens') ?? 0,
    examples: examples === null ? {} : reading.toJsonObject(examples),
    tasks: readEach(fields.list('tasks'), (item) => {
      const inner = Fields.openFields(reading, item, ['id', 'title', 'content'])
      return inner === null
        ? null
        : { id: inner.needText('id', 'task-1'), title: inner.getText('title'), content: readContent(inner) }
    }),
  }
  return reading.made(text, node)
}

function readEach<T>(list: ListNode | null, read: (item: SourceNode) => T | null): T[] {
  return (list?.items ?? []).flatMap((item) => {
    const value = read(item)
    return value === null ? [] : [value]
  })
}

// Documents are longer than any other text of a contract.
function readContent(fields: Fields): string {
  const node = fields.get('content')
  if (node?.kind === 'scalar' && typeof node.value === 'string' && node.value.length <= CONTENT_CHARS_MAX)
    return node.value
  fields.reportBad('content', 'contract.wrong_type', `Expected a text of at most ${CONTENT_CHARS_MAX} characters.`)
  return ''
}

function readCount(fields: Fields, key: string): number | null {
  const node = fields.get(key)
  if (node === undefined || (node.kind === 'scalar' && node.value === null)) return null
  if (node.kind === 'scalar' && Number.isSafeInteger(node.value) && Number(node.value) >= 0) return Number(node.value)
  fields.reportBad(key, 'contract.wrong_type', 'Expected a whole number of at least 0.')
  return null
}
