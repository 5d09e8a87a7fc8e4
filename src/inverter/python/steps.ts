import type { Syntax } from '../parse.js'
import { getField, insert, listNamedChildren, wrap } from '../syntax.js'
import type { TestRange } from '../test-range.js'
import type { Edit, Step } from '../types.js'

const CATCHES_FAILURES = /^except(?:\*?\s*:|\b[^:]*\b(?:AssertionError|Exception|BaseException)\b)/
const SUPPRESSES = /\bsuppress\s*\(/
// Errors raised in their bodies are expected.
const EXPECTS_ERRORS = /\b(?:raises|RaisesGroup|assertRaises\w*)\s*\(/

/** How the statement of an assertion is watched: an `assert`, a call alone, or a `with`. `file` is the whole text. */
export function stepOf(node: Syntax, file: string): Step | null {
  const statement = findStatement(node)
  const place = statement === null ? null : placeOf(statement)
  if (statement === null || place === null) return null
  const guard = place.isCaught ? '$tried' : '$step'
  if (statement.type === 'with_statement') {
    const first = itemsOf(statement)[0]
    if (statement.text.startsWith('async') || first === undefined) return null
    const opens = guard === '$step' && EXPECTS_ERRORS.test(node.text) ? '$expects' : guard
    return { at: statement.start, edits: [insert(first.start, `${opens}, `)] }
  }
  if (!isAlone(statement, file)) return stepWithin(statement, place.isCaught)
  return { at: statement.start, edits: [insert(statement.start, `with ${guard}: `)] }
}

/** A statement that shares its line with another one. */
function stepWithin(statement: Syntax, isCaught: boolean): Step | null {
  const [first] = listNamedChildren(statement)
  if (first === undefined || /\b(?:await|yield)\b|:=/.test(statement.text)) return null
  const caught = isCaught ? 'True' : 'False'
  const [before, after] =
    statement.type === 'assert_statement' ? ['$stand(', `, ${caught})`] : ['$run(lambda: ', `, ${caught})`]
  return { at: statement.start, edits: wrap(first, before, after) }
}

function findStatement(node: Syntax): Syntax | null {
  if (node.type === 'assert_statement') return node
  const top = node.parent?.type === 'await' ? node.parent : node
  if (top.parent?.type === 'expression_statement') return top.parent
  const item = top.parent?.type === 'as_pattern' ? top.parent.parent : top.parent
  const around = item?.type === 'with_item' ? (item.parent?.parent ?? null) : null
  return around?.type === 'with_statement' ? around : null
}

function itemsOf(statement: Syntax): readonly Syntax[] {
  const clause = listNamedChildren(statement).find(({ type }) => type === 'with_clause')
  return listNamedChildren(clause).filter(({ type }) => type === 'with_item')
}

// A compound statement must not share its line with another one before it.
function isAlone({ start, end }: Syntax, file: string): boolean {
  const before = file.slice(file.lastIndexOf('\n', start - 1) + 1, start)
  const next = file.indexOf('\n', end)
  return /^\s*$/.test(before) && /^\s*(?:#.*)?$/.test(file.slice(end, next < 0 ? file.length : next))
}

/** Null outside functions, and where an error is expected. */
function placeOf(statement: Syntax): { readonly isCaught: boolean } | null {
  let isCaught = false
  let isInFunction = false
  for (let node = statement; node.parent !== null; node = node.parent) {
    const { parent } = node
    const isBody = node.field === 'body'
    if (parent.type === 'function_definition' && isBody) isInFunction = true
    if (parent.type === 'with_statement' && isBody) {
      const items = itemsOf(parent).map(({ text }) => text)
      if (items.some((text) => EXPECTS_ERRORS.test(text))) return null
      if (items.some((text) => SUPPRESSES.test(text))) isCaught = true
    }
    if (parent.type === 'try_statement' && isBody)
      isCaught ||= listNamedChildren(parent).some(
        ({ type, text }) => /^except/.test(type) && CATCHES_FAILURES.test(text),
      )
  }
  return isInFunction ? { isCaught } : null
}

/** Watches the tests once they are defined: before the line that runs the file as a program, or at its end. */
export function watchTests(tests: readonly TestRange[], root: Syntax, file: string): readonly Edit[] {
  if (tests.length === 0) return []
  const text = `$watch(globals(), '${tests.map(({ name }) => name).join(' ')}')`
  const last = listNamedChildren(root).at(-1)
  if (last?.type === 'if_statement' && getField(last, 'condition')?.text.startsWith('__name__') === true) {
    const line = file.lastIndexOf('\n', last.start - 1)
    const before = file.lastIndexOf('\n', line - 1) + 1
    if (line > 0 && /^\s*$/.test(file.slice(before, line))) return [insert(before, text)]
  }
  const tail = file.lastIndexOf('\n') + 1
  return [/\S/.test(file.slice(tail)) ? insert(file.length, `\n${text}`) : insert(tail, text)]
}
