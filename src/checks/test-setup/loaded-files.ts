import { posix } from 'node:path'
import { findSetupKind, isTestName } from '../../core/paths/test-setup-names.js'
import { runWordsOf } from './command-lines.js'
import { listPaths } from './command-words.js'
import { detectLanguage, isDynamic, type Language } from './languages.js'

const TEXT_CHARS_MAX = 256 * 1024
const LINE_CHARS_MAX = 4096
const NAMED_MAX = 2000

/** The context of a script: the folders of the tree, and the module search folders. */
interface ScriptContext {
  isFolder(path: string): boolean
  readonly searched: readonly string[]
}

const NOTHING: ScriptContext = { isFolder: () => false, searched: [] }

/**
 * The paths and globs that a script may import or run, relative to the root. Rather too many than too few, but without
 * sources and tests, which have their own rules.
 */
export function listLoaded(path: string, whole: string, around: ScriptContext = NOTHING): readonly string[] {
  const text = whole.slice(0, TEXT_CHARS_MAX)
  const language = detectLanguage(path, text)
  const script = { folder: posix.dirname(path), text, language }
  const found = [
    ...listModules(script, around),
    ...listMentioned(script),
    ...listRun(script),
    ...(isDynamic(language, text) ? listListed(script, around) : []),
  ]
  return [...new Set(found)].filter((one) => one !== path && !one.startsWith('..'))
}

/** Relative imports of a script, including sources. */
export function listImported(path: string, whole: string): readonly string[] {
  const text = whole.slice(0, TEXT_CHARS_MAX)
  const files = detectLanguage(path, text)
    .modulesIn(text)
    .flatMap((module) => (module.isRelative ? module.files : []))
  return files.map((file) => posix.join(posix.dirname(path), file)).filter((one) => !one.startsWith('..'))
}

/** Project files that would be imported instead of a package with their name, wherever that package is. */
export function listShadows(path: string, whole: string): readonly string[] {
  const text = whole.slice(0, TEXT_CHARS_MAX)
  const language = detectLanguage(path, text)
  if (!/\.pyw?$/.test(path) && !language.name.test('x.py')) return []
  const modules = language.modulesIn(text).filter(({ isRelative, isBuiltIn }) => !isRelative && isBuiltIn !== true)
  return [...new Set(modules.flatMap(({ files }) => files.slice(0, 2)))]
}

/** The folders that a script adds to the module search path. */
export function listSearchedFolders(path: string, text: string, around: ScriptContext): readonly string[] {
  const { searches } = detectLanguage(path, text)
  if (searches === null) return []
  const lines = text.slice(0, TEXT_CHARS_MAX).match(searches) ?? []
  return filterFolders(posix.dirname(path), lines.flatMap(extractQuoted), around)
}

interface Script {
  readonly folder: string
  readonly text: string
  readonly language: Language
}

function listModules({ folder, text, language }: Script, { searched }: ScriptContext): readonly string[] {
  return language.modulesIn(text).flatMap(({ files, isRelative, isBuiltIn }) => {
    const isCounted = (one: string): boolean =>
      isBuiltIn === true || (language.isShell === true ? !isFree(one) : isScript(folder, one))
    const beside = files.map((file) => posix.join(folder, file)).filter(isCounted)
    if (isRelative) return beside
    const searchedFor = searched.flatMap((one) => files.map((file) => posix.join(one, file)))
    const isAtRoot = (one: string): boolean =>
      isCounted(one) && (one.includes('/') || !/\.py$/.test(one) || isBuiltIn === true)
    const atRoot = language.searchesRoot ? files.map((file) => posix.normalize(file)).filter(isAtRoot) : []
    return [...beside, ...atRoot, ...searchedFor.filter((one) => isBuiltIn === true || !isFree(one))]
  })
}

// Words that look like the path of a script.
function listMentioned({ folder, text }: Script): readonly string[] {
  const words = [...new Set(replaceVariables(text).match(PATH_LIKE) ?? [])].slice(0, NAMED_MAX)
  return words
    .flatMap((word) => [posix.join(folder, word), posix.join('.', word)])
    .filter((one) => isScript(folder, one))
}

const PATH_LIKE =
  /(?<![\w@.-])(?:(?:[\w@.-]*\/)+[\w@.-]+|[\w@-][\w@.-]*\.(?:[cm]?[jt]sx?|(?:ba|z|k)?sh|py|rb|pl|pm|php|lua|mk|just|json)\b)/g

// Commands in the lines of a shell script, and those that another script passes to a function that runs commands.
function listRun({ folder, text, language }: Script): readonly string[] {
  const words = language.isShell
    ? text
        .split('\n')
        .filter((line) => !/^\s*#/.test(line))
        .flatMap((line) => runWordsOf(line.slice(0, LINE_CHARS_MAX).replace(LINE_START, '')).flatMap(listPaths))
    : [...text.matchAll(RUN_CALLS)].flatMap(([, given = '']) => given.match(PATH_LIKE) ?? [])
  const paths = [...new Set(words)].slice(0, NAMED_MAX).filter((one) => one !== '' && one !== '.')
  return paths
    .flatMap((path) => (path.startsWith('**') ? [path] : [posix.join(folder, path), posix.normalize(path)]))
    .filter((one) => !isFree(one))
}

// Recipes of make, entries of YAML and JSON.
const LINE_START = /^\s*(?:-\s+)?(?:"[^"]*"\s*:\s*"|(?:cmd|run|sh):\s*)?['"]?[@-]*/
const RUN_CALLS =
  /\b(?:spawn|exec|execa|fork|system|popen|Popen|run|call|check_call|check_output|shell_exec|passthru|proc_open)\w*\s*\(([^)]{0,1000})/g

// A script that builds the paths it loads: the folders and globs that it names contain them.
function listListed({ folder, text, language }: Script, around: ScriptContext): readonly string[] {
  const named = language.isShell
    ? (text.match(LISTING_LINES) ?? []).flatMap((line) => replaceVariables(line).match(/[\w@./*?-]+/g) ?? [])
    : listGiven(text.replace(/\$\{[^}\n]{0,200}\}/g, '*'))
  const globs = named
    .filter((one) => /^[\w@.][\w@./-]*\/[\w@./*?-]*[*?]/.test(one))
    .flatMap((one) => [posix.join(folder, one), posix.normalize(one)])
    .filter((one) => !isFree(one))
  const folders = filterFolders(folder, named, around).filter((one) => one !== '.' && !isFree(`${one}/x`))
  return [
    ...globs,
    ...folders.map((one) => (isScript(folder, `${one}/x`) ? `${one}/**` : `${one}/**/*.{${CODE}}`)),
  ].slice(0, NAMED_MAX)
}

const LISTING_LINES = /^.*\b(for|find|ls|xargs|while|read|run-parts|glob)\b.*$/gm
const CODE = 'js,mjs,cjs,ts,mts,cts,jsx,tsx,py,sh,bash,rb,pl,pm,php,lua'

// Quoted strings after a call that lists or loads files, and in the variables passed to it.
function listGiven(text: string): readonly string[] {
  const given = [...text.matchAll(LISTS_OR_LOADS)].map(([, rest = '']) => rest)
  const names = new Set(given.flatMap((rest) => rest.match(/[A-Za-z_]\w*/g) ?? []))
  const assigned = [...text.matchAll(/(?<!\w)(\w+)[ \t]*=[ \t]*([^\n=]{1,300})/g)].filter(([, name = '']) =>
    names.has(name),
  )
  return [...given, ...assigned.map(([, , value = '']) => value)].flatMap(extractQuoted)
}

const LISTS_OR_LOADS =
  /\b(?:readdir\w*|glob\w*|opendir\w*|listdir|iterdir|scandir|walk|Dir|Path|import|require\w*|import_module|__import__|run_path|spec_from_file_location|exec|load|do|dofile|loadfile|include\w*)\b([^\n]{0,300})/g

function extractQuoted(text: string): readonly string[] {
  return [...text.matchAll(/['"`]([\w@./*?-]{1,300})['"`]/g)].slice(0, NAMED_MAX).map(([, one = '']) => one)
}

function filterFolders(folder: string, words: readonly string[], { isFolder }: ScriptContext): readonly string[] {
  const paths = words
    .filter((word) => !/[*?]/.test(word))
    .flatMap((word) => [posix.join(folder, word), posix.join('.', word)])
    .map((one) => one.replace(/(?<=.)\/$/, ''))
  return [...new Set(paths)].filter((one) => !one.startsWith('..') && isFolder(one))
}

// `"$(dirname "$0")/lib.sh"` and `$HERE/lib.sh` lie in some folder of the project.
function replaceVariables(text: string): string {
  return text.replace(/\$\{[^}\n]{0,200}\}|\$\([^)\n]{0,200}\)|\$\w+/g, '.')
}

// The implementation may change its own code. Scripts are the files next to the script that loads them, or next to
// other scripts.
function isScript(folder: string, path: string): boolean {
  if (isUnderTest(path)) return false
  if (!path.includes('/')) return !ENTRY.test(path)
  return (folder !== '.' && path.startsWith(`${folder}/`)) || SCRIPTS.test(path) || /\.(ba|z|k)?sh$/.test(path)
}

/** Whether a script may load a file without pinning it, because it is code under test. */
export function isFree(path: string): boolean {
  return isUnderTest(path) || PRODUCT.test(path) || (!path.includes('/') && ENTRY.test(path))
}

function isUnderTest(path: string): boolean {
  const kind = findSetupKind(path)
  return (kind !== null && kind !== 'whole') || isTestName(path) || SOURCES.test(path)
}

const SOURCES = /^(src|lib|app|dist|docs?)\/|\/src\/|(^|\/)node_modules(\/|$)/
const PRODUCT = /^(packages|apps|bin|build|out|target|coverage|tests?)\/|\/dist\//
const ENTRY = /^(index|main|app|server|cli|lib|mod|setup)\.\w+$|\.(md|txt|lock)$|^(package-lock|npm-shrinkwrap)\.json$/
const SCRIPTS = /^(\.?scripts?|\.?tools?|tooling|\.?ci|hack|dev|\.?config|build-tools|support|\.github\/scripts)\//
