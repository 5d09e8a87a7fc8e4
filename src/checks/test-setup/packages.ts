import { posix } from 'node:path'
import { sha256Hex } from '../../base/sha256.js'
import { findSetupKind } from '../../core/paths/test-setup-names.js'
import { type Parts, parseObject } from './file-parts.js'
import { isFree } from './loaded-files.js'

/** A package.json of the project. */
export interface Package {
  readonly path: string
  readonly folder: string
  readonly name: string
  readonly fields: Readonly<Record<string, unknown>>
}

/** A Node.js script that a command runs, or that such a script loads, with its possible imports. */
export interface NodeScript {
  readonly path: string
  /** Packages and paths within them: `adder/rules`. */
  readonly packages: readonly string[]
  readonly aliases: readonly string[]
  /** Paths that it imports relative to itself. */
  readonly paths: ReadonlySet<string>
}

export function parseNodeScript(path: string, text: string): NodeScript {
  const imported = [...text.matchAll(IMPORTED)].map(([, one = '']) => one)
  const relative = imported.filter((one) => /^\.{1,2}(\/|$)/.test(one))
  return {
    path,
    packages: imported.filter((one) => !/^[./#]/.test(one)),
    // Every quoted string may be one: few other strings begin like this.
    aliases: [...text.matchAll(/['"`](#[^'"`\n]{1,300})/g)].map(([, one = '']) => one),
    paths: new Set(relative.map((one) => posix.join(posix.dirname(path), one).replace(/(?<=.)\/$/, ''))),
  }
}

const IMPORTED = /\b(?:from|import|require|resolve)\s{0,20}\(?\s{0,20}['"`]([^'"`\n]{1,300})/g

export function parsePackages(texts: ReadonlyMap<string, string>): readonly Package[] {
  return [...texts].flatMap(([path, text]) => {
    const fields = findSetupKind(path) === 'package_json' ? parseObject(text) : null
    if (fields === null) return []
    return [{ path, folder: posix.dirname(path), name: typeof fields.name === 'string' ? fields.name : '', fields }]
  })
}

/** The files of all programs of the packages. */
export function listProgramFiles(texts: ReadonlyMap<string, string>): readonly string[] {
  return parsePackages(texts).flatMap(({ fields: { bin }, folder }) =>
    (typeof bin === 'string' ? [bin] : Object.values(bin ?? {})).flatMap((file) =>
      typeof file === 'string' ? [posix.join(folder, file)] : [],
    ),
  )
}

/** The programs of a package that words of a command may name (`npx chk`, `npx .`), with their files. */
export function findBins({ fields, name, folder }: Package, words: ReadonlySet<string>): ReadonlyMap<string, string> {
  const { bin } = fields
  const entries = typeof bin === 'string' ? [[name.replace(/^@[^/]*\//, ''), bin]] : Object.entries(bin ?? {})
  const isNamed = (program: string): boolean =>
    [program, folder === '.' ? '.' : `./${folder}`, name].some((one) => words.has(one))
  return new Map(
    entries.flatMap(([program, file]) =>
      typeof file === 'string' && isNamed(String(program))
        ? [[String(program), posix.join(folder, file)] as const]
        : [],
    ),
  )
}

/** The files that a script loads through packages of the project: `#rules`, the name of a package, or its folder. */
export function listLoadedByPackages(script: NodeScript, packages: readonly Package[]): readonly string[] {
  return packages.flatMap((pkg) => {
    const aliases = isOnTheWay(pkg, script.path) ? listTargets(pkg.fields.imports, script.aliases) : []
    const entries = isLoadedBy(pkg, script) ? listEntries(pkg, script) : []
    return [...aliases, ...entries]
      .map((target) => posix.join(pkg.folder, target))
      .filter((path) => !path.startsWith('..') && !isFree(path))
  })
}

/** The file that is loaded when a package folder is run or imported. */
export function findMain({ fields, folder }: Package): readonly string[] {
  return typeof fields.main === 'string' ? [posix.join(folder, fields.main)] : []
}

/**
 * The fields of a package.json that decide what scripts load: name resolution for scripts below it, its entries if a
 * script loads the package, and the programs that the command names.
 */
export function pickResolutionParts(
  one: Package,
  about: {
    readonly scripts: readonly NodeScript[]
    readonly programs: ReadonlySet<string>
    readonly entered: ReadonlySet<string>
    readonly isOfTests: boolean
  },
): Parts {
  const below = about.scripts.filter(({ path }) => isOnTheWay(one, path))
  const isLoaded = about.entered.has(one.folder) || about.scripts.some((script) => isLoadedBy(one, script))
  const fields = [
    ...(below.length > 0 ? ['workspaces'] : []),
    ...(below.some(({ aliases }) => aliases.length > 0) ? ['imports'] : []),
    ...(isLoaded ? ['name', ...ENTRY_FIELDS] : []),
  ].filter((field) => Object.hasOwn(one.fields, field))
  const parts = fields.map((field) => [field, JSON.stringify(one.fields[field])] as const)
  const bins = [...findBins(one, about.programs)]
  const type = about.isOfTests ? [] : findModuleType(one, below)
  return Object.fromEntries(
    [...parts, ...type, ...bins.map(([program, file]) => [`bin.${program}`, file] as const)].map(([part, value]) => [
      part,
      sha256Hex(value),
    ]),
  )
}

const ENTRY_FIELDS = ['exports', 'main', 'module', 'browser']

// Whether a file without a telling suffix is a module. A package.json above it counts even if it does not say.
function findModuleType(
  { fields, folder }: Package,
  below: readonly NodeScript[],
): readonly (readonly [string, string])[] {
  if (!below.some(({ path }) => !/\.[cm][jt]s$/.test(path)) || (fields.type === undefined && folder === '.')) return []
  return [['type', String(fields.type ?? 'commonjs')]]
}

function isOnTheWay({ folder }: Package, path: string): boolean {
  return folder === '.' || path.startsWith(`${folder}/`)
}

function isLoadedBy(one: Package, script: NodeScript): boolean {
  return script.paths.has(one.folder) || listPathsWithin(one, script).length > 0
}

// As `exports` names them: `.` and `./rules`.
function listPathsWithin({ name }: Package, { packages }: NodeScript): readonly string[] {
  if (name === '') return []
  return packages.flatMap((pkg) => (pkg === name || pkg.startsWith(`${name}/`) ? [`.${pkg.slice(name.length)}`] : []))
}

function listEntries(one: Package, script: NodeScript): readonly string[] {
  const { exports, main, module, browser } = one.fields
  const within = listPathsWithin(one, script)
  const isByPath =
    exports !== null && typeof exports === 'object' && Object.keys(exports).some((key) => key.startsWith('.'))
  return [
    ...(isByPath ? listTargets(exports, within) : collectLeaves(exports)),
    ...[main, module, browser].flatMap(collectLeaves),
  ]
}

// The parts of `imports` and `exports` that names reach, including through patterns.
function listTargets(table: unknown, names: readonly string[]): readonly string[] {
  if (table === null || typeof table !== 'object') return []
  const isReached = (key: string): boolean => {
    const start = key.split('*')[0] ?? ''
    return names.some((name) => name === key || (key.includes('*') && name.startsWith(start)))
  }
  return Object.entries(table).flatMap(([key, target]) => (isReached(key) ? collectLeaves(target) : []))
}

function collectLeaves(value: unknown): readonly string[] {
  if (typeof value === 'string') return value.startsWith('#') ? [] : [value]
  return value !== null && typeof value === 'object' ? Object.values(value).flatMap(collectLeaves) : []
}
