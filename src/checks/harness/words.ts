import { posix } from 'node:path'

const WORDS_MAX = 2000
const ROUNDS_MAX = 50
const CONFIG_CHARS_MAX = 256 * 1024

/** A word of a command line, and the one before it. */
export interface Word {
  readonly text: string
  readonly before: string
}

/** The words of a command line, however they are quoted or joined: too many rather than too few. */
export function wordsOf(line: string): readonly Word[] {
  const words = line.match(/[^\s'"`;&|()<>=,[\]{}]+/g) ?? []
  if (words.length > WORDS_MAX) throw new Error(`a command has more than ${WORDS_MAX} words`)
  return words.map((text, index) => ({ text, before: words[index - 1] ?? '' }))
}

/**
 * The words of a command line that stand for what is run or for how it is set up: programs, the scripts of interpreters, and
 * configurations. Other words name what the command looks at.
 */
export function runWordsOf(line: string): readonly Word[] {
  // Code in the line itself can load whatever it names.
  if (INLINE_CODE.test(line)) return wordsOf(line)
  return line.split(SEPARATORS).flatMap((simple) => {
    if (/^\s*\[/.test(simple)) return []
    const words = wordsOf(simple.replace(ASSIGNMENTS, ' '))
    const program = words.findIndex(({ text }) => !WRAPPERS.test(text) && !text.startsWith('-') && !/^\d/.test(text))
    const isSetUp = !LOOKS_AT_FILES.test(words[program]?.text ?? '')
    const scripts = scriptsAmong(words)
    return words.filter(
      ({ before }, at) =>
        at === program || scripts.includes(at) || (isSetUp && (NAMES_SETUP.test(before) || STARTS.test(before))),
    )
  })
}

// An interpreter may stand behind a runner: `uv run python ci/check.py`.
function scriptsAmong(words: readonly Word[]): readonly number[] {
  const program = words.findIndex(({ text }) => RUNS_SCRIPT.test(text))
  if (program === -1) return []
  const isArgument = ({ text, before }: Word, at: number): boolean =>
    at > program && !text.startsWith('-') && !STARTS.test(text) && !NAMES_SETUP.test(before)
  const first = words.findIndex(isArgument)
  // The value of an option that is not known: the script comes after it.
  const next = words.findIndex((word, at) => isArgument(word, at) && /[./]/.test(word.text))
  const isValue = (words[first]?.before ?? '').startsWith('-')
  return [program, first, ...(isValue ? [next] : [])]
}

const STARTS = /^(run|exec|dlx|x)$/
const SEPARATORS = /&&|\|\||[;|&\n()]/
const ASSIGNMENTS = /(^|\s)[A-Za-z_]\w*=("[^"]*"|'[^']*'|\S*)/g
const WRAPPERS = /^(env|time|exec|command|nice|nohup|timeout|xargs|npx|bunx|pnpx|uvx|dlx|sudo|!|if|then|else|do|while)$/
const RUNS_SCRIPT =
  /(^|\/)(node|nodejs|tsx|ts-node|bun|deno|python[\d.]*|pypy[\d.]*|ruby|perl|php|(ba|z|k|da)?sh|source|\.|cd|pushd)$/
const INLINE_CODE =
  /(^|[\s/])(node|nodejs|bun|deno|python[\d.]*|ruby|perl|php|(ba|z|k|da)?sh)\s+(-\S+\s+)*(-\w*[ecp]|--eval|--print|eval)\s/
// Their options mean something else.
const LOOKS_AT_FILES = /^(test|\[|rm|cp|mv|ls|cat|e?grep|fgrep|rg|find|head|tail|diff|cmp|tar|wc|sort|stat|git|curl)$/
const NAMES_SETUP =
  /^(-c|-f|-r|-p|-m|-C|--prefix|--cwd|--dir|--config|--config-file|--rcfile|--file|--project|--require|--import|--loader|--experimental-loader|--preload|--rulesdir|--resolve-plugins-relative-to|--env-file|--settings|--makefile|--schema)$/

// What is measured or left out is named there, not what is run.
const NAMES_SOURCES =
  /^--?(include|exclude|src|source|sources|cov|coverage|omit|ignore|collectCoverageFrom|all|outfile|out|o)$/
const RUNS_MODULE =
  /(^|\/)(node|nodejs|tsx|ts-node|bun|deno|python[\d.]*|pypy[\d.]*)$|^(--import|--require|-r|--loader|--experimental-loader|--preload)$/
const PYTHON_MODULE = /^-[mp]$/

/** The paths that a word may stand for, relative to the folder it is read in. */
export function pathsOf(word: Word): readonly string[] {
  if (NAMES_SOURCES.test(word.before) || word.text.startsWith('-')) return []
  const path = word.text.replace(/^<rootDir>\//, '').replace(/^file:(\/\/)?/, '')
  if (path.startsWith('/') || path.includes('\0') || path.includes('$')) return []
  if (PYTHON_MODULE.test(word.before)) {
    const module = path.replaceAll('.', '/')
    return [`${module}.py`, `${module}/__init__.py`, `${module}/__main__.py`, path]
  }
  return RUNS_MODULE.test(word.before) ? withSuffixes(path) : [path]
}

const SUFFIXES = ['.js', '.mjs', '.cjs', '.ts', '.mts', '.cts', '.tsx', '.jsx', '.json', '.py', '.sh']

export function withSuffixes(path: string): readonly string[] {
  return [path, ...SUFFIXES.map((suffix) => `${path}${suffix}`), ...INDEXES.map((name) => posix.join(path, name))]
}

const INDEXES = ['index.js', 'index.mjs', 'index.cjs', 'index.ts', '__main__.py']

/** The scripts that a command line reaches by their names, with those that run before and after them. */
export function scriptsReached(line: string, scripts: ReadonlyMap<string, string>): readonly string[] {
  const reached = new Set<string>()
  let lines = [line]
  for (let round = 0; round < ROUNDS_MAX && lines.length > 0; round += 1) {
    const named = lines.flatMap((one) => wordsOf(one).map((word) => SHORT.get(word.text) ?? word.text))
    const fresh = named
      .flatMap((name) => matchingScripts(name.replace(/^npm:/, ''), scripts))
      .flatMap((name) => [`pre${name}`, name, `post${name}`])
      .filter((name) => scripts.has(name) && !reached.has(name))
    for (const name of fresh) reached.add(name)
    lines = [...new Set(fresh)].map((name) => scripts.get(name) ?? '')
  }
  return [...reached]
}

// `run-s lint:*` and `npm:lint:*` mean every script that begins so.
function matchingScripts(name: string, scripts: ReadonlyMap<string, string>): readonly string[] {
  const at = name.indexOf('*')
  return at <= 0 ? [name] : [...scripts.keys()].filter((one) => one.startsWith(name.slice(0, at)))
}

const SHORT: ReadonlyMap<string, string> = new Map([
  ['t', 'test'],
  ['tst', 'test'],
])

/** Files that the configuration of a runner names as its own: set-up, environments, reporters, and what it imports. */
export function namedInConfig(whole: string): readonly string[] {
  const text = whole.slice(0, CONFIG_CHARS_MAX)
  const named = [...text.matchAll(OWN_KEYS)].flatMap(([, value]) => wordsOf(value ?? '').map((word) => word.text))
  const imported = [...text.matchAll(IMPORTS)].map(([, path]) => path ?? '').filter((path) => !SOURCES.test(path))
  return [...named, ...imported]
    .filter((path) => !path.startsWith('/') && !path.includes('$'))
    .flatMap((path) => withSuffixes(path.replace(/^<rootDir>\//, '')))
}

const OWN_KEYS =
  /(?:setupFiles\w*|globalSetup|globalTeardown|(?:testE|e)nvironment|testRunner|runner|reporters?|resolver|transform|preset|require|sequencer|testSequencer|testResultsProcessor|extends|preload)['"]?\s*[:=]\s*(\[[^\]]{0,2000}\]|\{[^}]{0,2000}\}|[^\n,}]{0,500})/g
const IMPORTS = /(?:from|import|require|mergeConfig)\s*\(?\s*['"](\.{1,2}\/[^'"\n]{1,500})['"]/g
// A plugin is tested by the configuration that loads it.
const SOURCES = /^(\.{1,2}\/)+(.*\/)?(src|lib|app)\//
