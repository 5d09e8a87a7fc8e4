import { parseFile, type Syntax } from '../../inverter/parse.js'
import { walk } from '../../inverter/syntax.js'
import type { Language } from '../../inverter/types.js'
import { stripComments } from './test-code.js'

const PARSE_MS_MAX = 2000

/** Modules that run tests in whatever file loads them. */
export const ALWAYS_TESTS: ReadonlySet<string> = new Set([
  'node:test',
  'bun:test',
  'ava',
  'tap',
  'tape',
  'uvu',
  'mocha',
])
/** A file without it imports none of these modules. */
export const RUNNER_NAME = /['"`](node:test|bun:test|ava|tap|tape|uvu|mocha)['"`]/
/** Only files in JavaScript and TypeScript name the module of their runner. */
export function mayImportRunner(path: string): boolean {
  return JS.test(path)
}

const JS = /\.[cm]?[jt]sx?$/
const IMPORTED = /\b(?:import|require|const|let|var)\b([^;'"`]{0,500})['"`]([\w:@/-]{1,40})['"`]/g

/** Possible imports in a text without comments, by words alone: strings look the same. */
export function findImportedModules(text: string): readonly { readonly module: string; readonly names: string }[] {
  return [...text.matchAll(IMPORTED)].map(([, names = '', module = '']) => ({ module, names }))
}

/**
 * Whether a file runs tests when it is loaded, whatever its name: it imports the module of a runner. A runner's name in
 * a string or a comment is not an import. If the file cannot be parsed, or runs generated code, the words decide.
 */
export async function importsTestRunner(path: string, text: string): Promise<boolean> {
  if (!JS.test(path) || !RUNNER_NAME.test(text)) return false
  const parsed = await parseScript(path, text)
  if (typeof parsed === 'string' || parsed.errors > 0 || RUNS_TEXT.test(text))
    return findImportedModules(stripComments(path, text)).some(({ module }) => ALWAYS_TESTS.has(module))
  const isAnyLoaded = hasLoadByVariable(parsed.root, text)
  return [...walk(parsed.root)].some((node) => isRunnerName(node) && (isAnyLoaded || isLoaded(node)))
}

/** Parses a file of JavaScript or TypeScript, in a time that its text cannot lengthen. */
export function parseScript(path: string, text: string): ReturnType<typeof parseFile> {
  return parseFile(detectLanguage(path), text, performance.now() + PARSE_MS_MAX)
}

function detectLanguage(path: string): Language {
  if (/\.tsx$/.test(path)) return 'tsx'
  return /ts$/.test(path) ? 'typescript' : 'javascript'
}

const RUNS_TEXT = /\b(eval|Function|runInThisContext|runInNewContext|runInContext|Script|_compile)\s*\(/

function isRunnerName({ type, text }: Syntax): boolean {
  return (type === 'string' || type === 'template_string') && ALWAYS_TESTS.has(text.slice(1, -1))
}

// `import … from`, `export … from`, `import x = require()`, or the argument of a call that loads.
function isLoaded({ parent }: Syntax): boolean {
  if (parent === null) return false
  if (/^(import_statement|export_statement|import_require_clause)$/.test(parent.type)) return true
  return parent.type === 'arguments' && LOADS.test(getCallee(parent.parent))
}

const LOADS = /(^|[.?\s(])(import|require|getBuiltinModule)$/

function getCallee(call: Syntax | null): string {
  return call?.type === 'call_expression' ? (call.children.find((child) => child.type !== 'arguments')?.text ?? '') : ''
}

// A loader under another name, or with a variable as argument: then any named runner may be loaded.
function hasLoadByVariable(root: Syntax, text: string): boolean {
  if (/\bcreateRequire\b|\bgetBuiltinModule\b(?!\s*\(\s*['"`])|\b_load\b/.test(text)) return true
  return [...walk(root)].some((node) => {
    if (node.type === 'identifier' && node.text === 'require') return isUsedAsValue(node)
    if (node.type !== 'arguments' || !LOADS.test(getCallee(node.parent))) return false
    const [first] = node.children.filter((child) => child.isNamed && child.type !== 'comment')
    return first !== undefined && first.type !== 'string' && !isPlainTemplate(first)
  })
}

function isUsedAsValue({ parent }: Syntax): boolean {
  return parent?.type !== 'call_expression' && parent?.type !== 'member_expression'
}

function isPlainTemplate({ type, children }: Syntax): boolean {
  return type === 'template_string' && !children.some((child) => child.type === 'template_substitution')
}
