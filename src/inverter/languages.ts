import * as goOther from './go/other-sites.js'
import * as goRules from './go/rules.js'
import * as goScope from './go/scope.js'
import * as goSites from './go/sites.js'
import * as goTests from './go/tests.js'
import * as javascriptHelper from './javascript/helper.js'
import { findHelpers as findJavascriptHelpers } from './javascript/helpers.js'
import * as javascriptOther from './javascript/other-sites.js'
import * as javascriptSites from './javascript/sites.js'
import * as javascriptSteps from './javascript/steps.js'
import * as javascriptTests from './javascript/tests.js'
import { joinSites } from './join-sites.js'
import { type LiteralChange, NO_CHANGE } from './literals.js'
import type { HelperNumbers } from './names.js'
import type { Syntax } from './parse.js'
import { findHelpers as findPythonHelpers } from './python/helpers.js'
import * as pythonOther from './python/other-sites.js'
import * as pythonHelper from './python/place-helper.js'
import * as pythonRules from './python/rules.js'
import * as pythonSites from './python/sites.js'
import * as pythonSteps from './python/steps.js'
import * as pythonTests from './python/tests.js'
import { findHelpers as findRustHelpers } from './rust/helpers.js'
import * as rustOther from './rust/other-sites.js'
import * as rustSites from './rust/sites.js'
import * as rustTests from './rust/tests.js'
import { getField, walk } from './syntax.js'
import type { TestRange } from './test-range.js'
import type { Edit, Helper, Language, Site } from './types.js'

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
  /** Every assertion of a file, those without a rule included. */
  findSites(file: SourceFile): Iterable<Site>
  /** What a part of the file uses of other files of the project. */
  findHelpers(root: Syntax, part: Syntax): readonly Helper[]
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
  findSites: ({ root }) => {
    const scope = javascriptSites.readScope(root)
    return joinSites(javascriptSites.findSites(root, scope), javascriptOther.findOtherSites(root, scope))
  },
  findHelpers: findJavascriptHelpers,
  watchTests: (tests) => tests.flatMap(javascriptSteps.watchTest),
  findLibraries: (root) => [...javascriptSites.readScope(root).libraries],
  placeHelper: ({ root, language }, numbers, used) => javascriptHelper.placeHelper(root, language, numbers, used),
}

const PYTHON: LanguageRules = {
  functions: pythonTests.FUNCTIONS,
  findTests: pythonTests.findTests,
  findSites: ({ root, text }) => joinSites(pythonSites.findSites(root, text), pythonOther.findOtherSites(root)),
  findHelpers: findPythonHelpers,
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
  findSites: ({ root, change }) => {
    const scope = goScope.readScope(root, change)
    return joinSites(goSites.findSites(root, scope), goOther.findOtherSites(root, scope))
  },
  findHelpers: (root, part) => goOther.findHelpers(root, part, goScope.readScope(root, NO_CHANGE)),
  watchTests: () => [],
  findLibraries: (root) => goScope.readImports(root).filter((path) => goRules.OTHER_LIBRARIES.includes(path)),
  placeHelper: null,
}

const RUST: LanguageRules = {
  functions: rustTests.FUNCTIONS,
  findTests: rustTests.findTests,
  findSites: ({ root, path, change }) =>
    joinSites(rustSites.findSites(root, path, change), rustOther.findOtherSites(root, path)),
  findHelpers: findRustHelpers,
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
