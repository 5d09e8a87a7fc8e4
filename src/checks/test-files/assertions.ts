import { posix } from 'node:path'
import { findAssertions } from '../../inverter/assertions.js'
import type { Helper } from '../../inverter/types.js'
import type { HelperFiles } from './helper-files.js'
import { stripComments, stripCommentsAndTexts } from './test-code.js'

const CALLS_MAX = 2000
const ARGUMENTS_CHARS_MAX = 5000

const HELPERS_DEEP_MAX = 3
const HELPERS_MAX = 500

/**
 * Whether a test file asserts something other than constants, with the assertions of its framework, or through helpers
 * of other test files. The grammar of its language decides; where there is none, its words do.
 */
export async function hasAssertions(path: string, text: string, files: HelperFiles | null = null): Promise<boolean> {
  const found = await findAssertions(path, text)
  if (found === null) return hasAssertionWords(path, text)
  if (found.asserts || files === null) return found.asserts
  return new HelperSearch(files).hasAssertions(path, found.helpers, 0)
}

/** Looks for assertions in the functions that a test file uses, each of them once. */
class HelperSearch {
  private readonly seen = new Set<string>()
  private readonly parsed = new Map<string, ReturnType<typeof findAssertions> | null>()
  constructor(private readonly files: HelperFiles) {}

  async hasAssertions(path: string, helpers: readonly Helper[], depth: number): Promise<boolean> {
    if (depth >= HELPERS_DEEP_MAX) return false
    for (const helper of helpers) {
      const key = `${posix.dirname(path)} ${helper.module} ${helper.name}`
      if (this.seen.has(key) || this.seen.size > HELPERS_MAX) continue
      this.seen.add(key)
      for (const other of await this.files.find(path, helper)) if (await this.asserts(other, helper, depth)) return true
    }
    return false
  }

  private async asserts(path: string, { module, name }: Helper, depth: number): Promise<boolean> {
    const file = await this.read(path)
    // What a script or a Python module hands on from elsewhere has no function of the name.
    const found = file?.askFunction(name) ?? (module === '.' || path.endsWith('.rs') ? null : file)
    return found !== null && (found.asserts || (await this.hasAssertions(path, found.helpers, depth + 1)))
  }

  private async read(path: string): Promise<Awaited<ReturnType<typeof findAssertions>>> {
    const known = this.parsed.get(path)
    if (known !== undefined) return known
    const text = await this.files.read(path)
    const found = text === null ? null : findAssertions(path, text)
    this.parsed.set(path, found)
    return found
  }
}

function hasAssertionWords(path: string, text: string): boolean {
  const code = stripCommentsAndTexts(path, text)
  const known = [...findImportedAssertions(stripComments(path, text))].map(escapePattern)
  const named = known.length === 0 ? [] : [`(?<![\\w$.])(?:${known.join('|')})(?:\\.\\w+){0,4}\\s*\\(`]
  const calls = new RegExp([...CALLS, ...named].join('|'), 'g')
  let seen = 0
  for (const match of code.matchAll(calls)) {
    seen += 1
    if (seen > CALLS_MAX) return false
    const end = match.index + match[0].length
    if (hasReceiver(code, match.index)) return true
    if (hasVariable(extractArguments(code, end))) return true
  }
  return hasAssertionStatement(path, code)
}

const CALLS: readonly string[] = [
  // JUnit, xUnit, googletest, and helpers named after them
  '\\b(?:[aA]ssert|verify)\\w*!?(?:\\.\\w+){0,4}!?\\s*\\(',
  '\\bexpect\\w*(?:\\.soft|\\.poll|\\.element)?\\s*\\(',
  '\\b(?:EXPECT|ASSERT|REQUIRE|CHECK)(?:_\\w+)?\\s*\\(',
  '\\bpytest\\s*\\.\\s*(?:raises|warns|approx)\\s*\\(',
  '\\brequire\\.[A-Z]\\w*\\s*\\(',
  // ava, tap, tape and the context of node:test
  '\\bt\\.(?:assert\\.)?(?:is|isNot|not|deepEqual|notDeepEqual|like|true|false|truthy|falsy|throws|throwsAsync|notThrows|regex|snapshot|equal|notEqual|same|strictSame|notSame|match|has|hasStrict|ok|notOk|rejects|resolves|resolveMatch|strictEqual|doesNotThrow|error|type)\\s*\\(',
]

const SELF: ReadonlySet<string> = new Set([
  'self',
  'this',
  'cls',
  't',
  'assert',
  'Assert',
  'chai',
  'test',
  'strict',
  'expect',
])

// `response.expect(200)` asserts something about the response, whatever its argument is.
function hasReceiver(code: string, at: number): boolean {
  const [, receiver] = /([\w$]+)?[\])]?\s*\.\s*$/.exec(code.slice(Math.max(0, at - 200), at)) ?? []
  const isCalledOn = /\.\s*$/.test(code.slice(Math.max(0, at - 200), at))
  return isCalledOn && !SELF.has(receiver ?? '') && !/^\d/.test(receiver ?? '')
}

function extractArguments(code: string, start: number): string {
  let depth = 1
  const limit = Math.min(code.length, start + ARGUMENTS_CHARS_MAX)
  for (let at = start; at < limit; at += 1) {
    const sign = code[at] ?? ''
    if ('([{'.includes(sign)) depth += 1
    else if (')]}'.includes(sign)) depth -= 1
    if (depth === 0) return code.slice(start, at)
  }
  return code.slice(start, limit)
}

const CONSTANTS: ReadonlySet<string> = new Set([
  ...['true', 'false', 'null', 'undefined', 'NaN', 'Infinity', 'None', 'True', 'False', 'nil', 'void', 'typeof'],
  ...['not', 'and', 'or', 'is', 'in', 'if', 'else', 'new', 'await', 'async', 'function', 'return', 'lambda', 'as'],
  ...['Object', 'Array', 'String', 'Number', 'Boolean', 'Symbol', 'Error', 'BigInt', 'int', 'str', 'bool', 'float'],
  ...[
    'list',
    'dict',
    'tuple',
    'set',
    'len',
    'unknown',
    'any',
    'never',
    'const',
    'instanceof',
    'throw',
    'raise',
    'pass',
  ],
])

function hasVariable(args: string): boolean {
  const names = args.match(/(?<![\w$.])[A-Za-z_$][\w$]*/g) ?? []
  return names.some((name) => !CONSTANTS.has(name))
}

// Assertions that are not calls: the words of Ruby and of shells.
function hasAssertionStatement(path: string, code: string): boolean {
  if (/\.rb$/.test(path))
    return [...code.matchAll(/^[ \t]*(?:assert|refute|expect)\w*[ \t]+([^\n]+)/gm)].some(([, rest]) =>
      hasVariable(rest ?? ''),
    )
  return /\.(bats|sh|bash)$/.test(path) && /^[ \t]*(\[\[?|test)\s.*\$|^[ \t]*(assert|refute)\w*\s/m.test(code)
}

const MODULES_MAX = 200
const CLAUSE_CHARS_MAX = 600
const ASSERTION_MODULE =
  /['"](?:node:)?(?:assert(?:\/strict)?|chai|power-assert|should|must|uvu\/assert|(?:jsr:)?@std\/assert[^'"\n]{0,40})['"]/g
const NO_NAMES: ReadonlySet<string> = new Set([
  'import',
  'from',
  'const',
  'let',
  'var',
  'require',
  'as',
  'type',
  'default',
])

/**
 * Names under which a file imports assertions: after `import { equal as same } from 'node:assert'` it asserts with
 * `same`.
 */
function findImportedAssertions(text: string): ReadonlySet<string> {
  const names = new Set<string>()
  let seen = 0
  for (const { index } of text.matchAll(ASSERTION_MODULE)) {
    seen += 1
    if (seen > MODULES_MAX) break
    // Read backwards from the module: its name is rare, while possible beginnings of an import are not.
    const before = text.slice(Math.max(0, index - CLAUSE_CHARS_MAX), index)
    const begins = Math.max(...['import', 'const ', 'let ', 'var '].map((word) => before.lastIndexOf(word)))
    if (begins < 0 || !/(from|require\s*\()\s*$/.test(before)) continue
    for (const name of before.slice(begins).match(/[\w$]+/g) ?? []) if (!NO_NAMES.has(name)) names.add(name)
  }
  return names
}

function escapePattern(name: string): string {
  return name.replaceAll('$', '\\$')
}
