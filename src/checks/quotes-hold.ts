import { matchesGlob } from '../contract/glob.js'
import type { Json } from '../core/json.js'
import { type Check, type CheckInputs, failCheck, getField, isText, passCheck } from './check-inputs.js'
import { readText } from './test-files/test-files.js'

const QUOTES_MAX = 500
const NAMED_MAX = 5
const SHOWN_CHARS_MAX = 80

interface Quote {
  readonly path: string
  readonly quote: string
}

/** Every `quote` next to a `path` in the phase's artifacts occurs in that file, ignoring differences in white space. */
export const checkQuotesHold: Check = async (inputs) => {
  const quotes = [...inputs.ofVisit.values()].flatMap(listQuotes)
  if (quotes.length === 0) return failCheck('no artifact of the phase has a "path" with a "quote"', 'artifact')
  if (quotes.length > QUOTES_MAX) return failCheck(`more than ${QUOTES_MAX} quotes`, 'artifact')
  const wrong: Quote[] = []
  // One file at a time: together they could be large.
  for (const path of new Set(quotes.map((one) => one.path))) {
    const text = await readShown(inputs, path)
    const isThere = (quote: string): boolean => quote !== '' && text?.includes(quote) === true
    wrong.push(...quotes.filter((one) => one.path === path && !isThere(joinWords(one.quote))))
  }
  if (wrong.length === 0) return passCheck(`${quotes.length} quotes are in their files`, 'artifact')
  const more = wrong.length > NAMED_MAX ? ` and ${wrong.length - NAMED_MAX} more` : ''
  const told = wrong
    .slice(0, NAMED_MAX)
    .map(({ path, quote }) => `${JSON.stringify(shorten(quote))} in ${shorten(path)}`)
  return failCheck(`not found: ${told.join(', ')}${more}`, 'artifact')
}

function listQuotes(value: Json): readonly Quote[] {
  if (value === null || typeof value !== 'object') return []
  if (Array.isArray(value)) return (value as readonly Json[]).flatMap(listQuotes)
  const object = value as { readonly [name: string]: Json }
  const [path, quote] = [getField(object, 'path'), getField(object, 'quote')]
  const own = isText(path) && quote !== undefined ? [{ path, quote: isText(quote) ? quote : '' }] : []
  return [...own, ...Object.values(object).flatMap(listQuotes)]
}

// A file that the phase does not let the agent read counts as missing: a quote must not reveal its content.
async function readShown({ contract, task, tree, isHidden }: CheckInputs, path: string): Promise<string | null> {
  const limits = contract.phases.get(String(task.phase))?.constraints.get('read_files')
  const matches = (patterns: readonly string[]): boolean => patterns.some((pattern) => matchesGlob(pattern, path))
  if (isHidden?.(path) === true || matches(limits?.forbiddenPatterns ?? [])) return null
  if (limits?.allowedPatterns != null && !matches(limits.allowedPatterns)) return null
  const text = await readText(tree, path).catch(() => null)
  return text === null ? null : joinWords(text)
}

function joinWords(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

function shorten(text: string): string {
  return text.length > SHOWN_CHARS_MAX ? `${text.slice(0, SHOWN_CHARS_MAX)}…` : text
}
