import { posix } from 'node:path'
import { sha256Hex } from '../../base/sha256.js'
import { type InlineItem, type InlineItems, mayHoldTests, readInlineItems } from '../../inverter/rust/inline-items.js'

/**
 * Tests inside source files. RED records only the items that are compiled for tests: `#[cfg(test)]` and `#[test]` in
 * Rust. Such a record is stored under the path of the file with this mark.
 */
const MARK = '#cfg(test)'

/** Recorded for every Rust project, so that a later version knows that inline tests were looked for. */
export const INLINE_LOOKED_FOR = MARK

export function formatInlineKey(path: string): string {
  return `${path}${MARK}`
}

/** The file of such a record; null for the record of a whole file. */
export function parseInlineKey(key: string): string | null {
  return key.endsWith(MARK) ? key.slice(0, -MARK.length) : null
}

/** What RED records of a file. */
export interface InlineTests {
  readonly items: readonly (readonly [container: string, name: string, text: string])[]
  readonly mentions: number
}

export const NO_INLINE_TESTS: InlineTests = { items: [], mentions: 0 }

export function isRust(path: string): boolean {
  return /\.rs$/.test(path)
}

/** Throws when the file cannot be parsed: unreadable tests cannot be pinned. */
async function readItems(path: string, text: string): Promise<InlineItems | null> {
  if (!isRust(path) || !mayHoldTests(text)) return null
  const read = await readInlineItems(text)
  if (read === null) throw new Error(`${path} cannot be parsed, and may hold tests. Split it, or make it simpler`)
  return read
}

/** The stored record of the tests in a file, and the files that only its tests load. */
export async function buildInlineRecord(
  path: string,
  text: string,
): Promise<{
  readonly content: string
  readonly hash: string
  readonly isEmpty: boolean
  readonly files: readonly string[]
}> {
  const read = await readItems(path, text)
  const tests = toInlineTests(read)
  const content = JSON.stringify(tests)
  return {
    content,
    hash: sha256Hex(content),
    isEmpty: tests.items.length === 0 && tests.mentions === 0,
    files: (read?.modules ?? []).flatMap((module) => listModuleFiles(path, module)),
  }
}

/** The code of the tests in a file, without the other code. */
export async function extractInlineCode(path: string, text: string): Promise<string> {
  const read = await readItems(path, text)
  return (read?.items ?? []).map((item) => item.text).join('\n')
}

/** A text in which the tests of another one replace its own. Null if there is no place for them. */
export async function replaceTests(path: string, text: string, other: string): Promise<string | null> {
  const difference = await findInlineDifference(path, text, toInlineTests(await readItems(path, other)))
  return difference === null ? text : difference.composed
}

function toInlineTests(read: InlineItems | null): InlineTests {
  if (read === null) return NO_INLINE_TESTS
  return { items: read.items.map(({ container, name, text }) => [container, name, text]), mentions: read.mentions }
}

// Where rustc looks for `mod name;`.
function listModuleFiles(path: string, one: InlineItems['modules'][number]): readonly string[] {
  const folder = posix.dirname(path)
  if (one.path !== null) return [posix.join(folder, one.path)]
  const stem = posix.basename(path, '.rs')
  const below = ['lib', 'main', 'mod'].includes(stem) ? folder : posix.join(folder, stem)
  return [posix.join(below, `${one.name}.rs`), posix.join(below, one.name, 'mod.rs')]
}

/** How the tests in a file differ from the record of RED. */
interface InlineDifference {
  /** Changed or removed, by name. */
  readonly changed: readonly string[]
  /** Added after RED. */
  readonly late: readonly string[]
  /** The code asks in more places whether it is being tested. */
  readonly isAsking: boolean
  /** The text with the tests of RED and without later ones; null if there is no place for one of them. */
  readonly composed: string | null
}

/** Compares the tests in a file with the record of RED; null when they are the same. */
export async function findInlineDifference(
  path: string,
  text: string,
  recorded: InlineTests,
): Promise<InlineDifference | null> {
  const now = (await readItems(path, text)) ?? {
    items: [],
    ends: new Map([['', text.length]]),
    mentions: 0,
    modules: [],
  }
  const found = new Map(now.items.map((item) => [formatId(item.container, item.name), item]))
  const known = new Map(recorded.items.map(([container, name, content]) => [formatId(container, name), content]))
  const changed = recorded.items.filter(
    ([container, name, content]) => found.get(formatId(container, name))?.text !== content,
  )
  const late = now.items.filter(({ container, name }) => !known.has(formatId(container, name)))
  const isAsking = now.mentions > recorded.mentions
  if (changed.length === 0 && late.length === 0 && !isAsking) return null
  return {
    changed: changed.map(([container, name]) => formatItem(container, name)),
    late: late.map(({ container, name }) => formatItem(container, name)),
    isAsking,
    composed: composeText(text, { found, ends: now.ends, changed, late }),
  }
}

function composeText(
  text: string,
  one: {
    readonly found: ReadonlyMap<string, InlineItem>
    readonly ends: ReadonlyMap<string, number>
    readonly changed: InlineTests['items']
    readonly late: readonly InlineItem[]
  },
): string | null {
  const edits: { start: number; end: number; text: string }[] = one.late.map(({ start, end }) => ({
    start,
    end,
    text: '',
  }))
  for (const [container, name, content] of one.changed) {
    const place = one.found.get(formatId(container, name))
    const end = one.ends.get(container)
    if (place !== undefined) edits.push({ start: place.start, end: place.end, text: content })
    else if (end === undefined) return null
    else edits.push({ start: end, end, text: `\n${content}\n` })
  }
  // From the end, so that positions stay valid; several insertions at one place keep their order.
  return edits
    .map((edit, order) => ({ ...edit, order }))
    .sort((a, b) => b.start - a.start || b.order - a.order)
    .reduce((all, { start, end, text: by }) => all.slice(0, start) + by + all.slice(end), text)
}

function formatId(container: string, name: string): string {
  return `${container}\n${name}`
}

function formatItem(container: string, name: string): string {
  const own = name.slice(name.indexOf(' ') + 1)
  return container === '' ? own : `${container.replaceAll('mod ', '').replaceAll(' / ', '::')}::${own}`
}

/** Describes a difference for the agent. */
export function formatInlineDifference(path: string, { changed, isAsking }: InlineDifference): string | null {
  if (changed.length > 0) return `${path} (tests inside changed or gone: ${changed.slice(0, 5).join(', ')})`
  return isAsking
    ? `${path} (code that asks whether it is being tested was added after RED: cfg(test) outside tests)`
    : null
}
