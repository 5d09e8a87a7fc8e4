import type { Syntax } from '../parse.js'
import { getField, wrap } from '../syntax.js'
import type { TestRange } from '../test-range.js'
import type { Edit, Step } from '../types.js'
import { readMember } from './nodes.js'
import { CHAI_ASSERT, CHAI_EXPECT, JEST, NODE_ASSERT } from './rules.js'
import { FUNCTIONS, findTestBody, isTestFunction } from './tests.js'

// Functions that may return a promise: without `await` its outcome is unknown after the statement.
const ASYNC =
  /^(?:rejects|doesNotReject|isRejected|isFulfilled|fulfilled|rejected|rejectedWith|become|toMatchFileSnapshot)$/
// Their assertions do not throw.
const SOFT = /^(?:tape|tap|ava)$/
/** Functions that wait until their argument throws, or stops throwing. */
const AWAITS_THROW =
  /^(?:expect|throws|throw|Throw|throwsAsync|notThrows|notThrowsAsync|rejects|doesNotThrow|doesNotReject|waitFor|waitUntil|poll|retry)$/

interface Asserting {
  readonly library: string
  readonly assertion: string
  /** The assertion is about a promise. */
  readonly isAsync: boolean
}

/** How the statement of an assertion is watched; null if its value is used, or its outcome is unknown after it. */
export function stepOf(node: Syntax, { library, assertion, isAsync }: Asserting): Step | null {
  if (SOFT.test(library)) return null
  const { top, words } = climb(node)
  const isAwaited = top.parent?.type === 'await_expression'
  const statement = isAwaited ? top.parent?.parent : top.parent
  if (words.includes('soft') || readsSoft(node)) return null
  const isKnown = [NODE_ASSERT, CHAI_ASSERT, JEST, CHAI_EXPECT].some((table) => Object.hasOwn(table, assertion))
  if (!isAwaited && (!isKnown || isAsync || ASYNC.test(assertion) || words.includes('eventually'))) return null
  if (statement?.type === 'expression_statement') return stepAround(statement)
  return isAwaited || /\b(?:await|yield)\b/.test(top.text) ? null : stepWithin(top)
}

/** An assertion inside an expression. Its result is not used: it throws or returns nothing. */
function stepWithin(top: Syntax): Step | null {
  const place = placeOf(top)
  if (place === null) return null
  const edits = wrap(top, `$run(${place.test}, ${spellLine(top.line)}, ${place.isCaught}, () => `, ')')
  return { at: top.start, edits, isCaught: place.isCaught }
}

/** `if (wrong) throw ...` as a whole. */
export function stepOfIf(node: Syntax): Step | null {
  return getField(node, 'alternative') === null ? stepAround(node) : null
}

function stepAround(statement: Syntax): Step | null {
  const place = placeOf(statement)
  if (place === null) return null
  const { test, isCaught } = place
  const { start } = statement
  const line = spellLine(statement.line)
  const noted = isCaught ? `$tried(${test}, ${line}); throw $error` : `$failed(${test}, $error)`
  // Without a semicolon the statement includes a comment after it.
  const parts = statement.children.filter(({ type, text }) => type !== 'comment' && text !== '')
  const end = parts.at(-1)?.end ?? statement.end
  const edits = wrap({ start, end }, 'try { ', `; $held(${test}, ${line}) } catch ($error) { ${noted} }`)
  return { at: start, edits, isCaught }
}

// In letters: code that searches for an expected number in the text of its test must not find it here.
function spellLine(line: number): string {
  return `'${[...String(line)].map((digit) => 'abcdefghij'[Number(digit)]).join('')}'`
}

/** The whole of a chain that begins with this node. */
function climb(node: Syntax): { readonly top: Syntax; readonly words: readonly string[] } {
  const words: string[] = []
  let top = node
  for (;;) {
    const { parent } = top
    const member = readMember(parent)
    const goesOn =
      member?.object === top || (parent?.type === 'call_expression' && getField(parent, 'function') === top)
    if (parent === null || !goesOn) return { top, words }
    if (member !== null) words.push(member.name)
    top = parent
  }
}

function readsSoft(node: Syntax): boolean {
  return node.type === 'call_expression' && readMember(getField(node, 'function'))?.name === 'soft'
}

/** The name of the surrounding test, `0` in a function outside tests, and whether a failure is caught there. */
function placeOf(statement: Syntax): { readonly test: string; readonly isCaught: boolean } | null {
  let isCaught = false
  let isInFunction = false
  for (let node: Syntax = statement; node.parent !== null; node = node.parent) {
    const { parent } = node
    if (parent.type === 'try_statement' && node.field === 'body' && getField(parent, 'handler') !== null)
      isCaught = true
    if (!FUNCTIONS.includes(node.type)) continue
    isInFunction = true
    if (isTestFunction(node)) return findTestBody(node) === null ? null : { test: '$test', isCaught }
    if (parent.type === 'arguments' && parent.parent !== null && awaitsThrow(parent.parent)) return null
  }
  return isInFunction ? { test: 'null', isCaught } : null
}

function awaitsThrow(call: Syntax): boolean {
  const callee = getField(call, 'function')
  return AWAITS_THROW.test(readMember(callee)?.name ?? callee?.text ?? '')
}

/** Starts and ends the watch in the body of a test. */
export function watchTest({ body }: TestRange): readonly Edit[] {
  if (body === undefined || body.end - body.start < 3) return []
  const { start, end } = body
  return [
    { start: start + 1, end: start + 1, text: ' const $test = $open(); try {' },
    {
      ...{ start: end - 1, end: end - 1, closes: true },
      text: ' } catch ($error) { $caught($test, $error) } finally { if ($close($test)) return void 0 }',
    },
  ]
}
