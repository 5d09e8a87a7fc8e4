import type { HelperNumbers } from '../names.js'
import type { Syntax } from '../parse.js'
import { insert, listNamedChildren } from '../syntax.js'
import type { Edit } from '../types.js'
import { HELPER, OFFERED } from './helper.js'

const SOURCE = JSON.stringify(HELPER.trim())

/** The helper as an edit of the file. `used` are the names that other edits call. */
export function placeHelper(root: Syntax, text: string, numbers: HelperNumbers, used: ReadonlySet<string>): Edit {
  const offered = OFFERED.filter((name) => used.has(name))
  const source = SOURCE.replace(/#(\w+)/g, (_, name: string) => String(numbers[name as keyof HelperNumbers]))
  const names = offered.map((name) => `$${name}`).join(', ')
  const values = `(lambda all: [all[name] for name in '${offered.join(' ')}'.split()])`
  return insertBeforeCode(
    root,
    text,
    `${names}, = ${values}((lambda space: exec(${source}, space) or space['$make']())({}))`,
  )
}

// Docstrings and imports from the future come first. Where the first statement takes no other one on its line, a line above it
// that is blank or a comment is used, and the end of the file as the last resort.
function insertBeforeCode(root: Syntax, file: string, text: string): Edit {
  const statements = listNamedChildren(root)
  const isFirst = (node: Syntax): boolean =>
    node.type === 'future_import_statement' ||
    (node === statements[0] &&
      node.type === 'expression_statement' &&
      /string$/.test(listNamedChildren(node)[0]?.type ?? ''))
  const first = statements.find((node) => !isFirst(node))
  const last = (first === undefined ? statements : statements.slice(0, statements.indexOf(first))).at(-1)
  if (last !== undefined) return insert(last.end, `; ${text}`)
  if (first === undefined) return insert(file.length, `\n${text}\n`)
  if (/_statement$/.test(first.type) && !COMPOUND.test(first.type)) return insert(first.start, `${text}; `)
  const free = findFreeLine(file, first.start)
  return free === null ? insert(file.length, `\n${text}\n`) : insert(free, `${text} `)
}

const COMPOUND = /^(if|for|while|try|with|match)_statement$/

/** Start of the first blank or comment line before the first statement, except lines that Python itself interprets. */
function findFreeLine(text: string, before: number): number | null {
  let at = 0
  for (const line of text.slice(0, before).split('\n').slice(0, -1)) {
    if (/^\s*(#.*)?$/.test(line) && !/^\s*#(!|.*coding[:=])/.test(line)) return at
    at += line.length + 1
  }
  return null
}
