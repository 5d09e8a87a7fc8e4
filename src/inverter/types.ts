/** How an assertion was inverted. `docs/internals/inverted-run-rules.md` explains each. */
export type RuleName =
  | 'expected'
  | 'expected_apart'
  | 'expected_far'
  | 'expected_is_actual'
  | 'bound'
  | 'truth'
  | 'actual'
  | 'call'
  | 'negated'
  | 'literal'

/** Why an assertion was not changed. */
export type LeftReason =
  | 'no_rule'
  | 'checks_types_only'
  | 'same_on_both_sides'
  | 'asserts_nothing'
  | 'joined_conditions'
  | 'no_stored_snapshot'
  | 'spread_arguments'
  | 'missing_arguments'
  | 'not_on_test_goroutine'
  | 'nested'
  | 'spared'
  | 'inside_rewritten'
  | 'syntax_error'

/** Why a whole file was not rewritten. */
export type NotJudgedReason =
  | 'unknown_language'
  | 'too_large'
  | 'too_deep'
  | 'took_too_long'
  | 'not_parsed'
  | 'no_known_assertion'
  | 'rewrite_not_parsed'

export type Language = 'javascript' | 'typescript' | 'tsx' | 'python' | 'go' | 'rust'

interface AssertionPlace {
  /** The test that contains the assertion, as its file names it; null outside tests, such as in a helper function. */
  readonly test: string | null
  /** Counted from 1. The same in the original and in both twins. */
  readonly line: number
  readonly library: string
  /** The name of the assertion: `toBe`, `assertEqual`, `assert ==`. */
  readonly assertion: string
}

export interface TurnedAssertion extends AssertionPlace {
  readonly rule: RuleName
}

export interface LeftAssertion extends AssertionPlace {
  readonly reason: LeftReason
}

export interface FoundTest {
  readonly name: string
  readonly line: number
  /** SHA-256 of its text, decorators and attributes included: equal for a test that did not change. */
  readonly digest: string
  /** How many of its own assertions were inverted, and how many known ones were not. */
  readonly turned: number
  readonly leftAlone: number
  /** Functions of the same file that contain inverted assertions and that the test names. */
  readonly helpers: readonly string[]
  /** Set if it only asserts that something imported exists. */
  readonly isAboutExistence?: true
}

export interface Findings {
  readonly turnedAssertions: readonly TurnedAssertion[]
  readonly leftAlone: readonly LeftAssertion[]
  readonly tests: readonly FoundTest[]
  /** Assertion libraries that the file imports or uses, including those without rules. */
  readonly libraries: readonly string[]
}

export interface RewrittenFile extends Findings {
  readonly outcome: 'rewritten'
  readonly language: Language
  /** False for Go and Rust: `unturned` is the original text there. */
  readonly areTwins: boolean
  readonly unturned: string
  readonly turned: string
}

interface NotJudged extends Findings {
  readonly outcome: 'not_judged'
  readonly reason: NotJudgedReason
}

export type Inversion = RewrittenFile | NotJudged

/** One change of the text. `text` may contain names of helper functions, written `$name`: see `names.ts`. */
export interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string
  /** Closes what another edit opened: comes before edits that open at the same place, innermost first. */
  readonly closes?: true
}

/**
 * How the statement of an assertion is watched: in the inverted text its failure is recorded, and the test continues.
 */
export interface Step {
  /** Where the statement begins. */
  readonly at: number
  readonly edits: readonly Edit[]
  /** Set where the test catches its failure. */
  readonly isCaught?: boolean
}

/** A function, class or macro of another file that a test file uses. */
export interface Helper {
  /** How the file names the other one: `./helpers.js`, `.helpers`, `common`; `.` for any file of the folder. */
  readonly module: string
  readonly name: string
}

/** An assertion that the rules of a language found. */
export interface Site {
  readonly start: number
  readonly end: number
  readonly line: number
  readonly library: string
  readonly assertion: string
  readonly turn: { readonly rule: RuleName; readonly edits: readonly Edit[] } | { readonly left: LeftReason }
  /** Where it is decides what it asserts: it need not name a value itself. */
  readonly isByPlace?: true
  /** Null if the test cannot continue after it: the value is used, or nothing is thrown. */
  readonly step?: Step | null
}
