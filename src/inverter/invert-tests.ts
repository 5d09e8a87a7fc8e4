import { sha256Hex } from '../base/sha256.js'
import { readExistence } from './existence.js'
import { hideLiterals } from './hide-literals.js'
import { findFunctionName, findLanguage, LANGUAGE_RULES, type LanguageRules, type SourceFile } from './languages.js'
import { Chance, drawConstant, drawNumbers, type HelperNumbers, Names } from './names.js'
import { countErrors, type ParsedFile, parseFile, type Syntax } from './parse.js'
import { applyEdits, isOverlapping, walk } from './syntax.js'
import type { TestRange } from './test-range.js'
import type {
  Edit,
  Findings,
  Inversion,
  LeftAssertion,
  LeftReason,
  NotJudgedReason,
  Site,
  TurnedAssertion,
} from './types.js'

export interface InvertRequest {
  /** Path of the test file. Its suffix gives the language. */
  readonly path: string
  readonly text: string
  /** The same seed gives the same twins. Must be secret from the code under test. */
  readonly seed: string
  /** Inverts only assertions directly in the function of their test, for a test that survived. */
  readonly outerOnly?: boolean
  /** With `outerOnly`: leaves assertions of other functions whose failure is caught, for a test that did not end. */
  readonly leavesCaught?: boolean
  /** Tests that stay as they are, by their names. */
  readonly spared?: readonly string[]
  /** Whether numbers become smaller or larger. Random where it is not given. */
  readonly goesDown?: boolean
  /**
   * Makes a test fail with `line N holds` if one of its inverted assertions still holds. Only used to report the line.
   */
  readonly namesLines?: boolean
}

const TEXT_CHARS_MAX = 1_000_000
const TIME_MS_MAX = 10_000
const SITES_MAX = 20_000
const NOTHING: Findings = { turnedAssertions: [], leftAlone: [], tests: [], libraries: [] }

/**
 * Turns the assertions of a test file around, so that an honest test fails.
 *
 * Gives two texts with the same test names and line numbers. `unturned` behaves as the original; in `turned` the tests expect
 * something else. In JavaScript, TypeScript and Python the two differ in random names and one constant only.
 *
 * @example
 * const inversion = await invertTests({ path: 'test/add.test.js', text, seed: randomUUID() })
 * if (inversion.outcome === 'rewritten') {
 *   const passes = await run(inversion.unturned) // every test that passed in the original passes
 *   const fails = await run(inversion.turned)
 *   for (const test of inversion.tests)
 *     if (test.turned === 0 && test.helpers.length === 0) ... // nothing to judge: `leftAlone` says why
 *     else if (passed(fails, test)) ... // survived: it cannot fail, or its result is forged
 * }
 */
export async function invertTests(request: InvertRequest): Promise<Inversion> {
  const language = findLanguage(request.path)
  if (language === null) return makeNotJudged('unknown_language')
  if (request.text.length > TEXT_CHARS_MAX) return makeNotJudged('too_large')
  const deadline = performance.now() + TIME_MS_MAX
  const parsed = await parseFile(language, request.text, deadline)
  if (typeof parsed === 'string') return makeNotJudged(parsed)
  const numbers = drawNumbers(new Chance(`${request.seed}\0numbers`), request)
  const file: SourceFile = { path: request.path, text: request.text, language, root: parsed.root, change: numbers }
  const rules = LANGUAGE_RULES[language]
  const { findings, edits, isLate } = collect(file, rules, request, deadline)
  if (isLate) return makeNotJudged('took_too_long')
  if (edits.length === 0) return makeNotJudged('no_known_assertion', findings)
  const [unturned, turned] = writeTwins(file, rules, edits, { seed: request.seed, numbers })
  // The twins are the same except for names: if one can be parsed, so can the other.
  if (!(await isAsParsable(file, parsed, turned, deadline))) return makeNotJudged('rewrite_not_parsed', findings)
  return { outcome: 'rewritten', language, areTwins: rules.placeHelper !== null, unturned, turned, ...findings }
}

function makeNotJudged(reason: NotJudgedReason, findings: Findings = NOTHING): Inversion {
  const leftAlone = [...findings.leftAlone]
  return { outcome: 'not_judged', reason, ...findings, turnedAssertions: [], leftAlone }
}

async function isAsParsable(file: SourceFile, before: ParsedFile, text: string, deadline: number): Promise<boolean> {
  const after = await countErrors(file.language, text, deadline)
  return typeof after === 'number' && after <= before.errors
}

interface CollectedEdits {
  readonly findings: Findings
  readonly edits: readonly Edit[]
  readonly isLate: boolean
}

function collect(file: SourceFile, rules: LanguageRules, request: InvertRequest, deadline: number): CollectedEdits {
  const tests = rules.findTests(file.root)
  const isAboutExistence = readExistence(file.language, file.text)
  const places = new Places(file.root, rules.functions)
  const edits: Edit[] = []
  const sites: Site[] = []
  const steps = new Set<number>()
  const turned: TurnedAssertion[] = []
  const left: LeftAssertion[] = []
  const counts = new Map<TestRange, Counts>(tests.map((test) => [test, { turned: 0, leftAlone: 0, existence: 0 }]))
  const holders = new Set<string>()
  const spared = new Set(request.spared)
  let count = 0
  for (const site of rules.findSites(file)) {
    count += 1
    if (count > SITES_MAX || performance.now() > deadline) return { findings: NOTHING, edits: [], isLate: true }
    const around = tests.filter((test) => test.start <= site.start && site.end <= test.end)
    const test = around.at(-1) ?? null
    const place = { test: test?.name ?? null, line: site.line, library: site.library, assertion: site.assertion }
    const isSpared = around.some(({ name }) => spared.has(name))
    const reason = isSpared ? 'spared' : findReasonToLeave(site, { edits, test, places, request })
    const isExistence = isAboutExistence(file.text.slice(site.start, site.end))
    for (const each of around) {
      const its = counts.get(each)
      if (its === undefined) continue
      its[reason === null ? 'turned' : 'leftAlone'] += 1
      if (reason === null && isExistence) its.existence += 1
    }
    if (reason !== null || 'left' in site.turn) left.push({ ...place, reason: reason ?? 'no_rule' })
    else {
      if (site.step != null && !steps.has(site.step.at)) edits.push(...site.step.edits)
      if (site.step != null) steps.add(site.step.at)
      edits.push(...site.turn.edits)
      sites.push(site)
      turned.push({ ...place, rule: site.turn.rule })
      const holder = test === null ? places.findFunctionAround(site.start) : null
      if (holder !== null) holders.add(holder)
    }
  }
  const libraries = [...rules.findLibraries(file.root), ...[...turned, ...left].map(({ library }) => library)]
  const findings: Findings = {
    turnedAssertions: turned,
    leftAlone: left,
    tests: tests.map((test) => describeTest(test, file.text, counts.get(test), holders)),
    libraries: [...new Set(libraries)].toSorted(),
  }
  const watched = steps.size === 0 ? [] : rules.watchTests(tests, file)
  const all = [...watched, ...edits]
  const hidden =
    rules.placeHelper === null || edits.length === 0 ? [] : hideLiterals(file, rules, { tests, sites, edits: all })
  return { findings, edits: [...all, ...hidden], isLate: false }
}

interface SiteContext {
  readonly edits: readonly Edit[]
  readonly test: TestRange | null
  readonly places: Places
  readonly request: InvertRequest
}

function findReasonToLeave(site: Site, { edits, test, places, request }: SiteContext): LeftReason | null {
  if ('left' in site.turn) return site.turn.left
  if (places.isBroken(site.start, site.end)) return 'syntax_error'
  const goesOn = site.step != null && !(request.leavesCaught === true && site.step.isCaught === true)
  if (request.outerOnly === true && !goesOn && (test === null || places.countFunctionsBetween(test, site) > 1))
    return 'nested'
  const changed = site.turn.edits.filter(({ start, end }) => end > start)
  const earlier = edits.slice(-200)
  const collides =
    changed.some((edit) => earlier.some((before) => isOverlapping(edit, before))) ||
    site.turn.edits.some((edit) => earlier.some((before) => before.end > before.start && isOverlapping(edit, before)))
  return collides ? 'inside_rewritten' : null
}

/** Where functions and syntax errors are. */
class Places {
  private readonly functions: { readonly start: number; readonly end: number; readonly name: string | null }[] = []
  private readonly broken: Syntax[] = []
  constructor(root: Syntax, types: readonly string[]) {
    for (const node of walk(root)) {
      if (node.type === 'ERROR') this.broken.push(node)
      if (types.includes(node.type) && node.isNamed)
        this.functions.push({ start: node.start, end: node.end, name: findFunctionName(node) })
    }
  }

  isBroken(start: number, end: number): boolean {
    return this.broken.some((node) => node.start < end && start < node.end)
  }

  countFunctionsBetween(test: TestRange, site: Site): number {
    return this.functions.filter(
      ({ start, end }) => start >= test.start && end <= test.end && start <= site.start && site.end <= end,
    ).length
  }

  findFunctionAround(at: number): string | null {
    return this.functions.findLast(({ start, end, name }) => name !== null && start <= at && at < end)?.name ?? null
  }
}

interface Counts {
  turned: number
  leftAlone: number
  existence: number
}

function describeTest(
  test: TestRange,
  text: string,
  counts: Counts | undefined,
  holders: ReadonlySet<string>,
): Findings['tests'][number] {
  const words = new Set(text.slice(test.start, test.end).match(/[\w$]+/g) ?? [])
  const { turned, leftAlone, existence } = counts ?? { turned: 0, leftAlone: 0, existence: 0 }
  const helpers = [...holders].filter((name) => words.has(name))
  const isAboutExistence = turned > 0 && existence === turned && helpers.length === 0
  const digest = sha256Hex(text.slice(test.decoratedFrom ?? test.start, test.end))
  return {
    ...{ name: test.name, line: test.line, digest, turned, leftAlone, helpers },
    ...(isAboutExistence ? { isAboutExistence } : {}),
  }
}

interface Draw {
  readonly seed: string
  readonly numbers: Omit<HelperNumbers, 'constant'>
}

function writeTwins(
  file: SourceFile,
  rules: LanguageRules,
  edits: readonly Edit[],
  { seed, numbers }: Draw,
): readonly [string, string] {
  const { placeHelper } = rules
  if (placeHelper === null) return [file.text, applyEdits(file.text, edits)]
  const used = new Set(edits.flatMap(({ text }) => [...text.matchAll(/\$(\w+)/g)].map(([, name]) => name ?? '')))
  const write = (isTurned: boolean): string => {
    const chance = new Chance(`${seed}\0${isTurned}`)
    const names = new Names(chance, file.text)
    const helper = placeHelper(file, { ...numbers, constant: drawConstant(chance, numbers, isTurned) }, used)
    return applyEdits(
      file.text,
      [helper, ...edits].map((edit) => ({ ...edit, text: names.fill(edit.text) })),
    )
  }
  return [write(false), write(true)]
}
