/** How an assertion was turned around. `docs/inverted-run-rules.md` explains each. */
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

/** Why an assertion was left as it is. */
export type LeftReason =
  | 'no_rule'
  | 'checks_types_only'
  | 'asserts_nothing'
  | 'no_stored_snapshot'
  | 'spread_arguments'
  | 'missing_arguments'
  | 'not_on_test_goroutine'
  | 'nested'
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

export interface AssertionPlace {
  /** The test that contains the assertion, as its file names it; null outside of tests, as in a helper function. */
  readonly test: string | null
  /** Counted from 1. The same in the original and in both twins. */
  readonly line: number
  readonly library: string
  /** What the assertion is called: `toBe`, `assertEqual`, `assert ==`. */
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
  /** How many of its own assertions were turned, and how many known ones were not. */
  readonly turned: number
  readonly leftAlone: number
  /** Functions of the same file that hold turned assertions and that the test names. */
  readonly helpers: readonly string[]
}

export interface Findings {
  readonly turnedAssertions: readonly TurnedAssertion[]
  readonly leftAlone: readonly LeftAssertion[]
  readonly tests: readonly FoundTest[]
  /** Assertion libraries that the file imports or uses, those without rules included. */
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

export interface NotJudged extends Findings {
  readonly outcome: 'not_judged'
  readonly reason: NotJudgedReason
}

export type Inversion = RewrittenFile | NotJudged

/** One change of the text. `text` may hold names of helper functions, written `$name`: see `names.ts`. */
export interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string
  /** Ends what another edit opened: comes before what opens at the same place, innermost first. */
  readonly closes?: true
}

/** An assertion that the rules of a language found. */
export interface Site {
  readonly start: number
  readonly end: number
  readonly line: number
  readonly library: string
  readonly assertion: string
  readonly turn: { readonly rule: RuleName; readonly edits: readonly Edit[] } | { readonly left: LeftReason }
}
