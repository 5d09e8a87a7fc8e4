import { parseDocument } from 'yaml'

/** The metadata of a document, from its path and its front matter; never from its text. */
export interface Metadata {
  /** All of these must be open to the reader; more than one if path and front matter disagree. */
  readonly phases: readonly string[]
  /** True when the front matter cannot be parsed: then its phase is unknown. */
  readonly isSealed: boolean
  readonly tags: readonly string[]
  readonly workflow: string | null
}

interface DescribedDocument {
  readonly metadata: Metadata
  /** From the front matter; empty when it has none. */
  readonly title: string
  /** The text after the front matter, and the line of the file it begins in. */
  readonly body: string
  readonly firstLine: number
}

const FRONT_CHARS_MAX = 16 * 1024
const NAME_CHARS_MAX = 64
const TITLE_CHARS_MAX = 200
const TAGS_MAX = 50
const ALIASES_MAX = 10
const PHASE_KEYS = ['phase', 'phase_number']
// These keys mean a phase, but would not be read.
const LIKE_PHASE = /^\s*phases?(?:[-_ ]?(?:id|ids|no|nr|number|numbers))?\s*$/i
/** Front matter of another kind, or one that is never closed. */
const LIKE_FRONT = /^(?:---[ \t]*\n[\w-]+[ \t]*:(?:\s|$)|\+\+\+[ \t]*\n)/

/** `owners` are the phases whose own document this is. */
export function describeDocument(path: string, source: string, owners: readonly string[] = []): DescribedDocument {
  const text = source
    .replace(/^\uFEFF/, '')
    .replace(/\r\n?/g, '\n')
    .replaceAll('\0', '\uFFFD')
  const front = splitFrontMatter(text)
  const said = front === null ? { isBroken: false, fields: {} } : parseFields(front.text)
  const named = PHASE_KEYS.map((key) => parseName(said.fields[key]))
  const workflow = parseName(said.fields.workflow)
  const tags = parseTags(said.fields.tags)
  const isSealed =
    said.isBroken ||
    [...named, workflow, tags].includes(undefined) ||
    Object.keys(said.fields).some((key) => LIKE_PHASE.test(key.normalize('NFKC')) && !PHASE_KEYS.includes(key)) ||
    (front === null && LIKE_FRONT.test(text))
  const inPath = path.split('/')
  const phases = [...owners, findPhase(inPath), ...named].filter((one): one is string => typeof one === 'string')
  return {
    metadata: {
      phases: [...new Set(phases)],
      isSealed,
      tags: [...new Set([...(tags ?? []), ...inPath.slice(0, -1).filter(isName)])].slice(0, TAGS_MAX).sort(),
      workflow: workflow ?? findNameAfter(inPath, 'workflows'),
    },
    title: typeof said.fields.title === 'string' ? said.fields.title.slice(0, TITLE_CHARS_MAX) : '',
    body: front === null ? text : front.rest,
    firstLine: front === null ? 1 : front.lines + 1,
  }
}

function splitFrontMatter(
  text: string,
): { readonly text: string; readonly rest: string; readonly lines: number } | null {
  const opened = /^---[ \t]*\n/.exec(text)
  if (opened === null) return null
  const closed = /^(?:---|\.\.\.)[ \t]*(?:\n|$)/m
  const inside = text.slice(opened[0].length)
  const end = closed.exec(inside)
  // Never closed: a rule at the top of the text, as Markdown reads it.
  if (end === null) return null
  const head = inside.slice(0, end.index)
  const rest = inside.slice(end.index + end[0].length)
  return { text: head, rest, lines: head.split('\n').length + 1 }
}

function parseFields(text: string): { readonly isBroken: boolean; readonly fields: Readonly<Record<string, unknown>> } {
  const broken = { isBroken: true, fields: {} }
  if (text.length > FRONT_CHARS_MAX) return broken
  try {
    const document = parseDocument(text, { schema: 'core', merge: false, logLevel: 'silent' })
    if (document.errors.length > 0) return broken
    const value: unknown = document.toJS({ maxAliasCount: ALIASES_MAX })
    if (value === null) return { isBroken: false, fields: {} }
    if (typeof value !== 'object' || Array.isArray(value)) return broken
    return { isBroken: false, fields: value as Record<string, unknown> }
  } catch {
    return broken
  }
}

/** undefined: a value that is not a name. */
function parseName(value: unknown): string | null | undefined {
  if (value === undefined || value === null) return null
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value)
  return typeof value === 'string' && isName(value.trim()) ? value.trim() : undefined
}

function parseTags(value: unknown): readonly string[] | undefined {
  if (value === undefined || value === null) return []
  const list: readonly unknown[] = Array.isArray(value) ? value : typeof value === 'string' ? value.split(',') : [value]
  const names = list.map(parseName)
  if (list.length > TAGS_MAX || names.some((name) => name === undefined)) return undefined
  return names.filter((name): name is string => typeof name === 'string')
}

// `phases/<id>/…`, `phases/<id>.md` and `phase-<id>/…` or `phase-<id>.md`.
function findPhase(parts: readonly string[]): string | null {
  const named = findNameAfter(parts, 'phases')
  if (named !== null) return named
  const marked = parts.map((part) => /^phase-([^.]+)/i.exec(part)?.[1]).findLast((id) => id !== undefined)
  return marked ?? null
}

function findNameAfter(parts: readonly string[], folder: string): string | null {
  const at = parts.findLastIndex((part, index) => part.toLowerCase() === folder && index < parts.length - 1)
  return at < 0 ? null : (parts[at + 1] ?? '').replace(/(?<=.)\.[^.]*$/, '')
}

function isName(text: string): boolean {
  return text !== '' && text.length <= NAME_CHARS_MAX
}
