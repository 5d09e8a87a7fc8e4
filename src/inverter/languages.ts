import * as goRules from './go/rules.js'
import * as goScope from './go/scope.js'
import * as goSites from './go/sites.js'
import * as goTests from './go/tests.js'
import * as javascriptHelper from './javascript/helper.js'
import * as javascriptSites from './javascript/sites.js'
import * as javascriptSteps from './javascript/steps.js'
import * as javascriptTests from './javascript/tests.js'
import type { LiteralChange } from './literals.js'
import type { HelperNumbers } from './names.js'
import type { Syntax } from './parse.js'
import * as pythonHelper from './python/place-helper.js'
import * as pythonRules from './python/rules.js'
import * as pythonSites from './python/sites.js'
import * as pythonSteps from './python/steps.js'
import * as pythonTests from './python/tests.js'
import * as rustSites from './rust/sites.js'
import * as rustTests from './rust/tests.js'
import { getField, walk } from './syntax.js'
import type { TestRange } from './test-range.js'
import type { Edit, Language, Site } from './types.js'

export interface SourceFile {
  readonly path: string
  readonly text: string
  readonly language: Language
  readonly root: Syntax
  readonly change: LiteralChange
}

/** The properties of a language that the engine needs. */
export interface LanguageRules {
  /** Types of nodes that are functions. */
  readonly functions: readonly string[]
  findTests(root: Syntax): readonly TestRange[]
  findSites(file: SourceFile): Iterable<Site>
  /** Starts and ends the watch over the tests of a file with steps. */
  watchTests(tests: readonly TestRange[], file: SourceFile): readonly Edit[]
  /** Imported assertion libraries, including those without rules. */
  findLibraries(root: Syntax): readonly string[]
  /** The helper that edits call; null if values cannot be changed at run time. */
  readonly placeHelper: ((file: SourceFile, numbers: HelperNumbers, used: ReadonlySet<string>) => Edit) | null
}

const JAVASCRIPT: LanguageRules = {
  functions: javascriptTests.FUNCTIONS,
  findTests: javascriptTests.findTests,
  findSites: ({ root }) => javascriptSites.findSites(root, javascriptSites.readScope(root)),
  watchTests: (tests) => tests.flatMap(javascriptSteps.watchTest),
  findLibraries: (root) => [...javascriptSites.readScope(root).libraries],
  placeHelper: ({ root, language }, numbers, used) => javascriptHelper.placeHelper(root, language, numbers, used),
}

const PYTHON: LanguageRules = {
  functions: pythonTests.FUNCTIONS,
  findTests: pythonTests.findTests,
  findSites: ({ root, text }) => pythonSites.findSites(root, text),
  watchTests: (tests, { root, text }) => pythonSteps.watchTests(tests, root, text),
  findLibraries: (root) => {
    const imported = walk(root).filter(({ type }) => /^import_(from_)?statement$/.test(type))
    const text = imported.map((node) => node.text).join('\n')
    return pythonRules.OTHER_LIBRARIES.filter((name) => text.includes(name))
  },
  placeHelper: ({ root, text }, numbers, used) => pythonHelper.placeHelper(root, text, numbers, used),
}

const GO: LanguageRules = {
  functions: goTests.FUNCTIONS,
  findTests: goTests.findTests,
  findSites: ({ root, change }) => goSites.findSites(root, change),
  watchTests: () => [],
  findLibraries: (root) => goScope.readImports(root).filter((path) => goRules.OTHER_LIBRARIES.includes(path)),
  placeHelper: null,
}

const RUST: LanguageRules = {
  functions: rustTests.FUNCTIONS,
  findTests: rustTests.findTests,
  findSites: ({ root, path, change }) => rustSites.findSites(root, path, change),
  watchTests: () => [],
  findLibraries: () => [],
  placeHelper: null,
}

export const LANGUAGE_RULES: Readonly<Record<Language, LanguageRules>> = {
  ...{ javascript: JAVASCRIPT, typescript: JAVASCRIPT, tsx: JAVASCRIPT },
  ...{ python: PYTHON, go: GO, rust: RUST },
}

const EXTENSIONS: Readonly<Record<string, Language>> = {
  ...{ js: 'javascript', cjs: 'javascript', mjs: 'javascript', jsx: 'javascript' },
  ...{ ts: 'typescript', mts: 'typescript', cts: 'typescript', tsx: 'tsx' },
  ...{ py: 'python', go: 'go', rs: 'rust' },
}

/** The language of a file by its name, null for one without rules. */
export function findLanguage(path: string): Language | null {
  return EXTENSIONS[/\.([a-z]+)$/.exec(path)?.[1] ?? ''] ?? null
}

/** The name of the surrounding function, null outside named functions. */
export function findFunctionName(node: Syntax): string | null {
  const own = getField(node, 'name')?.text
  if (own !== undefined) return own
  return node.parent?.type === 'variable_declarator' ? (getField(node.parent, 'name')?.text ?? null) : null
}
