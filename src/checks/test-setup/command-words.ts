import { posix } from 'node:path'

const WORDS_MAX = 2000
const ROUNDS_MAX = 50
const CONFIG_CHARS_MAX = 256 * 1024

/** A word of a command line, and the one before it. */
export interface Word {
  readonly text: string
  readonly before: string
  /** An interpreter runs it, and may add a suffix to it. */
  readonly isScript?: true
  /** Anything it names may be run: a folder includes everything below it. */
  readonly isInput?: true
}

/** The words of a command line, however they are quoted or joined: rather too many than too few. */
export function splitWords(line: string): readonly Word[] {
  const words = line.match(/[^\s'"`;&|()<>=,[\]{}]+/g) ?? []
  if (words.length > WORDS_MAX) throw new Error(`a command has more than ${WORDS_MAX} words`)
  return words.map((text, index) => ({ text, before: words[index - 1] ?? '' }))
}

// These name what is measured or left out, not what is run.
const NAMES_SOURCES =
  /^--?(include|exclude|src|source|sources|cov|coverage|omit|ignore|collectCoverageFrom|all|outfile|out|o)$/
const RUNS_MODULE =
  /(^|\/)(node|nodejs|tsx|ts-node|bun|deno|python[\d.]*|pypy[\d.]*)$|^(--import|--require|-r|--loader|--experimental-loader|--preload)$/
const PYTHON_MODULE = /^-(\w*m|p)$/

/** The paths that a word may mean, relative to its folder. */
export function listPaths(word: Word): readonly string[] {
  if (NAMES_SOURCES.test(word.before) || word.text.startsWith('-')) return []
  const path = word.text.replace(/^<rootDir>\//, '').replace(/^file:(\/\/)?/, '')
  if (path.startsWith('/') || path.includes('\0') || path.includes('$')) return []
  if (PYTHON_MODULE.test(word.before))
    return [...listPythonFiles(path), `${path.replaceAll('.', '/')}/__main__.py`, path]
  if (word.before === '-M') return listPerlFiles(path)
  return word.isScript === true || RUNS_MODULE.test(word.before) ? addSuffixes(path) : [path]
}

/** The files that Python reads for a module: its own, and those of its parent packages. */
export function listPythonFiles(module: string): readonly string[] {
  const names = module.split('.')
  return names.flatMap((_, at) => {
    const path = names.slice(0, at + 1).join('/')
    return [`${path}.py`, `${path}/__init__.py`]
  })
}

export function listPerlFiles(module: string): readonly string[] {
  return [`${module.replaceAll('::', '/')}.pm`]
}

const SUFFIXES = ['.js', '.mjs', '.cjs', '.ts', '.mts', '.cts', '.tsx', '.jsx', '.json', '.py', '.sh', '.rb', '.lua']

export function addSuffixes(path: string): readonly string[] {
  return [path, ...SUFFIXES.map((suffix) => `${path}${suffix}`), ...INDEXES.map((name) => posix.join(path, name))]
}

const INDEXES = ['index.js', 'index.mjs', 'index.cjs', 'index.ts', '__main__.py']

/** The scripts that a command line calls by name, with those that run before and after them. */
export function findReachedScripts(line: string, scripts: ReadonlyMap<string, string>): readonly string[] {
  const reached = new Set<string>()
  let lines = [line]
  for (let round = 0; round < ROUNDS_MAX && lines.length > 0; round += 1) {
    const named = lines.flatMap((one) => splitWords(one).map((word) => SHORT.get(word.text) ?? word.text))
    const fresh = named
      .flatMap((name) => findMatchingScripts(name.replace(/^npm:/, ''), scripts))
      .flatMap((name) => [`pre${name}`, name, `post${name}`])
      .filter((name) => scripts.has(name) && !reached.has(name))
    for (const name of fresh) reached.add(name)
    lines = [...new Set(fresh)].map((name) => scripts.get(name) ?? '')
  }
  return [...reached]
}

// `run-s lint:*` and `npm:lint:*` mean every script with that prefix.
function findMatchingScripts(name: string, scripts: ReadonlyMap<string, string>): readonly string[] {
  const at = name.indexOf('*')
  return at <= 0 ? [name] : [...scripts.keys()].filter((one) => one.startsWith(name.slice(0, at)))
}

const SHORT: ReadonlyMap<string, string> = new Map([
  ['t', 'test'],
  ['tst', 'test'],
])

/** Files that the configuration of a runner names: set-up, environments, reporters, and its imports. */
export function findFilesInConfig(whole: string): readonly string[] {
  const text = whole.slice(0, CONFIG_CHARS_MAX)
  return [...findFiles(text, OWN_KEYS), ...findRunnerFiles(text)]
}

/**
 * Modules that a configuration loads into the process of the runner, where they decide the result of each test: its
 * imports, transforms, resolvers, reporters and the like. Modules loaded into the processes of the tests are not
 * included.
 */
export function findRunnerFiles(whole: string): readonly string[] {
  const text = whole.slice(0, CONFIG_CHARS_MAX)
  const imported = [...text.matchAll(IMPORTS)].map(([, path]) => path ?? '')
  return [...findFiles(text, JUDGE_KEYS), ...filterFiles(imported)]
}

function findFiles(text: string, keys: RegExp): readonly string[] {
  const values = [...text.matchAll(keys)].map(([, value = '']) => value)
  // A key and its path may be one word, or contain characters that a shell interprets.
  const quoted = values.flatMap((value) =>
    [...value.matchAll(/['"`]([^'"`\n]{1,500})['"`]/g)].map(([, one = '']) => one),
  )
  return filterFiles([...values.flatMap((value) => splitWords(value).map((word) => word.text)), ...quoted])
}

function filterFiles(paths: readonly string[]): readonly string[] {
  return paths
    .filter((path) => !path.startsWith('/') && !path.includes('$'))
    .map((path) => path.replace(/^<rootDir>\//, ''))
    .flatMap((path) => [...addSuffixes(path), ...listCompiledSources(path)])
}

/** TypeScript imports its own files under the names that they are compiled to. */
export function listCompiledSources(path: string): readonly string[] {
  return /\.[cm]?js$/.test(path) ? [path.replace(/js$/, 'ts')] : []
}

const OWN_KEYS =
  /(?:setupFiles\w*|globalSetup|globalTeardown|(?:testE|e)nvironment|testRunner|runner|reporters?|resolver|transform|preset|require|sequencer|testSequencer|testResultsProcessor|extends|preload)['"]?\s*[:=]\s*(\[[^\]]{0,2000}\]|\{[^}]{0,2000}\}|[^\n,}]{0,500})/g
const JUDGE_KEYS =
  /(?:testRunner|runner|reporters?|resolver|transform|preset|sequencer|testSequencer|testResultsProcessor|extends)['"]?\s*[:=]\s*(\[[^\]]{0,2000}\]|\{[^}]{0,2000}\}|[^\n,}]{0,500})/g
const IMPORTS = /(?:from|import|require|mergeConfig)\s*\(?\s*['"](\.{1,2}\/[^'"\n]{1,500})['"]/g
