import { sha256Hex } from '../../base/sha256.js'
import type { HarnessKind } from '../../core/paths/test-setup-names.js'

const PARTS_MAX = 2000

/** The parts of a file that belong to the test setup, by name, each as a hash; `''` is the whole file. */
export type Parts = Readonly<Record<string, string>>

/**
 * Reads the parts of a file. A file that its reader does not understand counts as a whole. `of: command` includes
 * settings of linters.
 */
export function parseParts(kind: HarnessKind, text: string, of: 'tests' | 'command' = 'tests'): Parts {
  const found = (of === 'tests' ? READERS : { ...READERS, ...COMMAND_READERS })[kind](text)
  if (found === null || found.size > PARTS_MAX) return { '': sha256Hex(text) }
  return Object.fromEntries([...found].map(([name, content]) => [name, sha256Hex(content)]))
}

type Reader = (text: string) => ReadonlyMap<string, string> | null

const READERS: Readonly<Record<HarnessKind, Reader>> = {
  whole: () => null,
  shadow: () => null,
  package_json: (text) => parsePackageParts(text, PACKAGE_KEYS),
  tsconfig: parseTsconfigParts,
  pyproject: (text) => parseTomlParts(text, isFreeInPyproject),
  cargo: (text) => parseTomlParts(text, isFreeInCargo),
  go_mod: goModParts,
}

const COMMAND_READERS: Pick<Record<HarnessKind, Reader>, 'package_json' | 'pyproject'> = {
  package_json: (text) => parsePackageParts(text, [...PACKAGE_KEYS, ...LINTER_KEYS]),
  pyproject: (text) =>
    parseTomlParts(text, (table, line) => !LINTER_TABLE.test(table) && isFreeInPyproject(table, line)),
}
const LINTER_KEYS = ['eslintConfig', 'eslintIgnore', 'prettier', 'stylelint', 'xo', 'standard', 'browserslist']
const LINTER_TABLE = /^\[tool\./

// A package with the name of an assertion library is imported by its own tests instead of that library.
const PACKAGE_KEYS: readonly string[] = [
  ...[
    'name',
    'imports',
    'exports',
    'config',
    'packageManager',
    'workspaces',
    'pnpm',
    'wireit',
    'nx',
    'babel',
    'ts-node',
    'tsx',
  ],
  ...['jest', 'mocha', 'vitest', 'ava', 'tap', 'c8', 'nyc', 'karma', 'jasmine', 'playwright', 'cypress', 'lab'],
]

function parsePackageParts(text: string, keys: readonly string[]): ReadonlyMap<string, string> | null {
  const object = parseObject(text)
  if (object === null) return null
  const parts = new Map<string, string>()
  for (const key of keys) if (Object.hasOwn(object, key)) parts.set(key, JSON.stringify(object[key]))
  const scripts = parseScripts(text)
  if (scripts === null) parts.set('scripts', JSON.stringify(object.scripts))
  for (const [name, line] of scripts ?? []) parts.set(`scripts.${name}`, line)
  return parts
}

/** The scripts of a package.json; null where they cannot be read. */
export function parseScripts(text: string): ReadonlyMap<string, string> | null {
  const object = parseObject(text)
  if (object === null) return null
  const { scripts } = object
  if (scripts === undefined) return new Map()
  if (scripts === null || typeof scripts !== 'object' || Array.isArray(scripts)) return null
  return new Map(
    Object.entries(scripts).map(([name, line]) => [name, typeof line === 'string' ? line : JSON.stringify(line)]),
  )
}

// Options that only make the compiler stricter, or list available types: the build output stays the same.
const FREE_OPTIONS =
  /^(strict\w*|no(Implicit|Unused)\w+|noFallthroughCasesInSwitch|noUncheckedIndexedAccess|noPropertyAccessFromIndexSignature|exactOptionalPropertyTypes|useUnknownInCatchVariables|allowUnreachableCode|allowUnusedLabels|skipLibCheck|skipDefaultLibCheck|forceConsistentCasingInFileNames|lib|types|typeRoots|pretty)$/

function parseTsconfigParts(text: string): ReadonlyMap<string, string> | null {
  const object = parseObject(text)
  if (object === null) return null
  const { compilerOptions: options, ...others } = object
  const parts = new Map<string, string>()
  for (const [key, value] of Object.entries(others)) parts.set(key, JSON.stringify(value))
  if (options === undefined) return parts
  if (options === null || typeof options !== 'object' || Array.isArray(options)) return null
  for (const [key, value] of Object.entries(options))
    if (!FREE_OPTIONS.test(key)) parts.set(`compilerOptions.${key}`, JSON.stringify(value))
  return parts
}

/** The files that a tsconfig extends, as it names them, without packages. */
export function parseExtends(text: string): readonly string[] {
  const object = parseObject(text)
  const named = object === null ? extractExtends(text) : [object.extends].flat()
  return named.filter((path): path is string => typeof path === 'string' && /^\.{1,2}(\/|$)/.test(path))
}

// With comments it is not JSON, but its strings still are.
function extractExtends(text: string): readonly unknown[] {
  const [, value = ''] = /"extends"\s*:\s*(\[[^\]]{0,2000}\]|"[^"\n]{0,1000}")/.exec(text) ?? []
  return (value.match(/"[^"\n]*"/g) ?? []).map((one) => {
    try {
      return JSON.parse(one) as unknown
    } catch {
      return null
    }
  })
}

export function parseObject(text: string): Record<string, unknown> | null {
  try {
    const parsed: unknown = JSON.parse(text)
    return parsed !== null && typeof parsed === 'object' && !Array.isArray(parsed)
      ? (parsed as Record<string, unknown>)
      : null
  } catch {
    return null
  }
}

type IsFree = (table: string, line: string) => boolean

/**
 * The tables of a TOML file, without the lines that an implementation may change. A table begins where a line begins
 * with a bracket; only a multi-line text could hide or fake one, and a file with such a text counts as a whole.
 */
function parseTomlParts(text: string, isFree: IsFree): ReadonlyMap<string, string> | null {
  if (/"""|'''|\r(?!\n)/.test(text)) return null
  const parts = new Map<string, string>()
  let table = ''
  for (const raw of text.split(/\r?\n/)) {
    const line = raw.trim()
    if (line === '' || line.startsWith('#')) continue
    if (line.startsWith('[')) table = line.replace(/\s+#.*$/, '')
    if (isFree(table, line)) continue
    parts.set(table, `${parts.get(table) ?? ''}${line}\n`)
  }
  return parts
}

const FREE_PYPROJECT =
  /^\[(project(\.optional-dependencies|\.urls|\.scripts|\.gui-scripts)?|dependency-groups|tool\.poetry\.(dev-)?dependencies|tool\.poetry\.group\.[\w-]+\.dependencies|tool\.(ruff|black|mypy|isort|pyright|pylint|flake8|bandit)(\.[\w-]+)*)\]$/

// Entry points can name a plugin of the test runner; an escaped key could be one.
function isFreeInPyproject(table: string, line: string): boolean {
  return FREE_PYPROJECT.test(table) && !/entry|\\/.test(line)
}

const FREE_PACKAGE_KEYS =
  /^(\[package\]$|(version|description|authors|license|license-file|keywords|categories|repository|homepage|documentation|readme|rust-version)\s*=)/

function isFreeInCargo(table: string, line: string): boolean {
  const [, named] = /^\[dependencies(?:\.([\w-]+))?\]$/.exec(table) ?? [null, null]
  if (named === null) return table === '[package]' && FREE_PACKAGE_KEYS.test(line)
  if (line === table || line.startsWith(table)) return !OF_RUST.test(named ?? '')
  if (named !== undefined) return FREE_DEPENDENCY_KEY.test(line)
  const [, name = '', more = ''] = FREE_DEPENDENCY.exec(line) ?? []
  return name !== '' && !OF_RUST.test(name) && !/\\/.test(line) && more.split(/,(?![^[]*\])/).every(isFreeKey)
}

// A version from the registry. A crate in the project is compiled and run before the tests, and one with the name of a
// standard crate
// is loaded instead of it.
const FREE_DEPENDENCY = /^([\w-]+)\s*=\s*(?:"[^"]*"|'[^']*'|\{([^{}]*)\})\s*(?:#.*)?$/
const FREE_DEPENDENCY_KEY = /^(version|features|default-features|optional)\s*=[^\\]*$/
const OF_RUST = /^(std|core|alloc|test|proc_macro|proc-macro)$/

function isFreeKey(part: string): boolean {
  return part.trim() === '' || FREE_DEPENDENCY_KEY.test(part.trim())
}

// Requirements may change; replacements may not.
function goModParts(text: string): ReadonlyMap<string, string> | null {
  const kept: string[] = []
  let isRequiring = false
  for (const raw of text.split(/\r?\n/)) {
    const line = raw.replace(/\/\/.*$/, '').trim()
    if (isRequiring) isRequiring = line !== ')'
    else if (/^require\s*\($/.test(line)) isRequiring = true
    else if (line !== '' && !/^require\s+[^(]*$/.test(line)) kept.push(line)
  }
  return new Map([['everything but require', kept.join('\n')]])
}
