import { listOwnFunctions } from './failing.js'
import { findLanguage, LANGUAGE_RULES } from './languages.js'
import { NO_CHANGE } from './literals.js'
import { listValueNames } from './names-value.js'
import { parseFile, prepareGrammar, type Syntax } from './parse.js'
import { walk } from './syntax.js'
import type { Helper, Site } from './types.js'

const TEXT_CHARS_MAX = 1_000_000
const MS_MAX = 2000
const SITES_MAX = 20_000

/** What the grammar says about the assertions of a file. */
export interface FoundAssertions {
  /** It asserts something that the code under test made. */
  readonly asserts: boolean
  /** What it uses of other files, which may assert instead. Empty if it asserts itself. */
  readonly helpers: readonly Helper[]
}

interface Assertions extends FoundAssertions {
  /** The same for one of its functions; null if it has none of the name. */
  readonly askFunction: (name: string) => FoundAssertions | null
}

/** The assertions of a test file; null if no grammar can tell: then words have to. */
export async function findAssertions(path: string, text: string): Promise<Assertions | null> {
  const language = findLanguage(path)
  if (language === null || text.length > TEXT_CHARS_MAX) return null
  await prepareGrammar(language)
  const deadline = performance.now() + MS_MAX
  const parsed = await parseFile(language, text, deadline)
  if (typeof parsed === 'string') return null
  const { root } = parsed
  const rules = LANGUAGE_RULES[language]
  const values = listValueNames(root)
  // A Rust file without tests of its own belongs to the tests that load it.
  const place = rules.findTests(root).length === 0 ? `tests/${path}` : path
  const file = { path: place, text, language, root, change: NO_CHANGE }
  const first = findAsserting(rules.findSites(file), values, deadline)
  if (first === 'took_too_long') return null
  return {
    asserts: first !== null,
    helpers: first === null ? rules.findHelpers(root, root) : [],
    askFunction: (name) => {
      const reached = reachFunctions(name, listOwnFunctions(root, [...rules.functions, ...OTHER_HOLDERS]))
      if (reached.length === 0) return null
      const inside = findAsserting(rules.findSites(file), values, performance.now() + MS_MAX, reached)
      return { asserts: isFound(inside), helpers: reached.flatMap((node) => rules.findHelpers(root, node)) }
    },
  }
}

const OTHER_HOLDERS = ['macro_definition', 'class_definition']

function isFound(site: Site | 'took_too_long' | null): boolean {
  return site !== null && site !== 'took_too_long'
}

/** The first site that asserts something, in one of these nodes if any are given. */
function findAsserting(
  sites: Iterable<Site>,
  values: readonly Syntax[],
  deadline: number,
  inside: readonly Syntax[] | null = null,
): Site | 'took_too_long' | null {
  let count = 0
  for (const site of sites) {
    count += 1
    if (count > SITES_MAX || performance.now() > deadline) return 'took_too_long'
    if ('left' in site.turn && site.turn.left === 'asserts_nothing') continue
    if (inside?.some((node) => node.start <= site.start && site.end <= node.end) === false) continue
    if (site.isByPlace === true || namesValueIn(site, values)) return site
  }
  return null
}

/** A function, and those of its file that it names, and so on. */
function reachFunctions(name: string, functions: ReadonlyMap<string, Syntax>): readonly Syntax[] {
  const reached = new Map<string, Syntax>()
  const open = [name]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const node = functions.get(next)
    if (node === undefined || reached.has(next)) continue
    reached.set(next, node)
    open.push(...walk(node).flatMap(({ type, text }) => (/identifier$/.test(type) ? [text] : [])))
  }
  return [...reached.values()]
}

const OF_LIBRARY = /^(?:self|cls|this|t|chai|\w*[aA]ssert\w*|expect|pytest|require)$/

/** Whether the text of an assertion names a value; the object of the library, with which it begins, is none. */
function namesValueIn(site: Site, values: readonly Syntax[]): boolean {
  let [low, high] = [0, values.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((values[middle]?.start ?? 0) < site.start) low = middle + 1
    else high = middle
  }
  const first = values[low]
  const isObject = first?.start === site.start && OF_LIBRARY.test(first.text)
  const value = values[isObject ? low + 1 : low]
  return value !== undefined && value.start < (isObject ? findChainEnd(first, site.end) : site.end)
}

const CHAIN = /^(?:call|call_expression|member_expression|attribute|await_expression)$/

// `expect(3).toBe(add(1, 2))`: the site ends before the arguments of the matcher.
function findChainEnd(start: Syntax, end: number): number {
  let top = start
  while (top.parent !== null && top.parent.start === start.start && CHAIN.test(top.parent.type)) top = top.parent
  return Math.max(end, top.end)
}
