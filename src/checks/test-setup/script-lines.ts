import { posix } from 'node:path'
import { matchesGlob } from '../../contract/glob.js'
import type { Contract } from '../../core/contract/contract.js'
import { findSetupKind } from '../../core/paths/test-setup-names.js'
import { isTestPath } from '../test-files/test-files.js'
import { listVariableWords, runWordsOf } from './command-lines.js'
import {
  findFilesInConfig,
  findReachedScripts,
  findRunnerFiles,
  listPaths,
  splitWords,
  type Word,
} from './command-words.js'
import { parseScripts } from './file-parts.js'
import { isGlob, type Listing, resolvePath } from './listing.js'
import { isFree, listLoaded } from './loaded-files.js'
import type { Scope } from './scope.js'

const CANDIDATES_MAX = 20_000
const FOLDERS_MAX = 50

/** A command, or the package.json scripts that it reaches. */
export interface Line {
  /** The folder it is read in: paths in it are relative to this folder or to the root. */
  readonly folder: string
  readonly words: readonly Word[]
  /** Words that may be programs of a package. */
  readonly offered: readonly string[]
  /** Code inside it, as a script. */
  readonly code: readonly (readonly [path: string, text: string])[]
  /** The package.json that it comes from, and its scripts that are reached. */
  readonly file?: string
  readonly scripts?: readonly string[]
}

export function buildLines({ commands, of }: Scope, texts: ReadonlyMap<string, string>): readonly Line[] {
  const text = commands.flatMap(({ run, env }) => [run, ...Object.values(env)]).join('\n')
  const setUp = commands.flatMap(({ env }) =>
    Object.entries(env).flatMap(([name, value]) => listVariableWords(name, value)),
  )
  const lines: Line[] = [
    buildLine(
      commands.flatMap(({ run, env }) => [run, ...Object.values(env)]),
      of,
      setUp,
    ),
  ]
  for (const [path, content] of texts) {
    if (findSetupKind(path) !== 'package_json') continue
    const scripts = parseScripts(content) ?? new Map<string, string>()
    const reached = findReachedScripts(text, scripts)
    if (reached.length === 0) continue
    const line = buildLine(
      reached.map((name) => scripts.get(name) ?? ''),
      of,
    )
    lines.push({ ...line, folder: posix.dirname(path), file: path, scripts: reached })
  }
  return lines
}

function buildLine(texts: readonly string[], of: Scope['of'], setUp: readonly Word[] = []): Line {
  const run = texts.flatMap(runWordsOf)
  const started = texts
    .filter((text) => STARTS_PACKAGES.test(text))
    .flatMap((text) => splitWords(text))
    .filter(isOffered)
  return {
    folder: '.',
    words: [
      ...setUp,
      ...run,
      ...(of === 'tests' ? texts.flatMap((text) => splitWords(text)).filter((word) => !isGlob(word.text)) : []),
    ],
    offered: [...run, ...started].map(({ text }) => text),
    code: texts.flatMap((text) =>
      CODE.flatMap(([program, name]) => (program.test(text) ? [[name, extractCode(text)] as const] : [])),
    ),
  }
}

// `npx .` runs the program of a folder, `npx eslint .` only checks one.
function isOffered({ text, before }: Word): boolean {
  return !/^\.|\//.test(text) || /^(npx|exec|dlx|x|bunx|--|-y|--yes|--no|--offline|--no-install)$/.test(before)
}

const STARTS_PACKAGES = /(^|[\s;&|])(npx|npm|pnpm|pnpx|yarn|bunx?)\s/
// Each statement on a separate line.
function extractCode(text: string): string {
  return text.replace(/(\s-\w*[ceEpr]|--eval|--print|\beval)\s+['"]|;/g, '$1\n')
}

const CODE: readonly (readonly [RegExp, string])[] = [
  [/(^|[\s/])(node|nodejs|bun|deno)\s.*(-\w*[ep]|--eval|--print|eval)\s/s, 'inline.mjs'],
  [/(^|[\s/])python[\d.]*\s.*-\w*c\s/s, 'inline.py'],
  [/(^|[\s/])perl\s.*-\w*[eE]\s/s, 'inline.pl'],
  [/(^|[\s/])ruby\s.*-\w*e\s/s, 'inline.rb'],
  [/(^|[\s/])php\s.*-r\s/s, 'inline.php'],
]

/** The files that commands name. */
export interface NamedFiles {
  readonly paths: ReadonlySet<string>
  /** Those passed to an interpreter, which may be folders. */
  readonly scripts: ReadonlySet<string>
  /** Files named by inline code and configurations of runners. */
  readonly loaded: readonly string[]
  /** Files loaded into the process of the runner, where they decide the result of each test. */
  readonly judges: ReadonlySet<string>
  /** Module search folders. */
  readonly searched: readonly string[]
  /** Whether a command names a path, also by a glob or a folder. */
  isNamed(path: string): boolean
}

export function findNamedFiles(
  lines: readonly Line[],
  about: {
    readonly texts: ReadonlyMap<string, string>
    readonly listing: Listing
    readonly contract: Contract
    readonly isNarrow: boolean
  },
): NamedFiles {
  const { listing, contract, isNarrow } = about
  const paths = new Set<string>()
  const scripts = new Set<string>()
  const inputs = new Set<string>()
  const loaded = new Set<string>()
  const add = (to: Set<string>, folder: string, path: string): void => {
    const whole = resolvePath(folder, path)
    if (whole === null || whole === '.') return
    const link = listing.links.find((one) => whole.startsWith(`${one}/`))
    if (link !== undefined) throw new Error(`${whole} decides how tests are run, and ${link} in its path is a link`)
    to.add(whole)
    if (to.size > CANDIDATES_MAX) throw new Error('how tests are run depends on too many paths')
  }
  const searched = new Set<string>()
  for (const { folder, words } of lines) {
    const entered = words.flatMap((word) => findFolder(folder, word, listing))
    const from = [...new Set(['.', folder, ...entered])].slice(0, FOLDERS_MAX)
    for (const word of words) {
      if (word.before === '-I') for (const one of findFolder(folder, word, listing)) searched.add(one)
      for (const path of listPaths(word))
        for (const base of from)
          add(word.isInput === true ? inputs : word.isScript === true ? scripts : paths, base, path)
    }
  }
  const judges = new Set<string>()
  for (const [path, text] of about.texts) {
    if (findSetupKind(path) !== 'whole' && (findSetupKind(path) !== 'package_json' || isNarrow)) continue
    for (const one of findFilesInConfig(text)) add(loaded, posix.dirname(path), one)
    // Set-up files run in the processes of the tests, together with the code.
    if (/setup|__mocks__/i.test(path)) continue
    for (const one of findRunnerFiles(text)) add(judges, posix.dirname(path), one)
  }
  const around = { isFolder: listing.isFolder, searched: [...searched] }
  const code = lines.flatMap((line) => line.code).flatMap(([path, text]) => listLoaded(path, text, around))
  const folders = [...inputs].filter((path) => listing.isFolder(path)).map((folder) => `${folder}/**`)
  const all = [...paths, ...scripts, ...inputs, ...folders]
  const globs = all.filter(isGlob)
  // Tests that a test runner finds have their own rule.
  const isHeld = (path: string): boolean => isNarrow || (!isTestPath(contract, path) && !isFree(path))
  const plain = new Set(all.filter((path) => !isGlob(path)))
  return {
    paths: new Set([...plain, ...globs.flatMap((glob) => listing.filesAt(glob)).filter(isHeld)]),
    scripts,
    loaded: [...loaded, ...code],
    judges,
    searched: [...searched],
    isNamed: (path) => plain.has(path) || globs.some((glob) => matchesGlob(glob, path)),
  }
}

function findFolder(folder: string, word: Word, listing: Listing): readonly string[] {
  const path = resolvePath(folder, word.text)
  return path !== null && listing.isFolder(path) ? [path] : []
}
