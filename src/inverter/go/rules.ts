/**
 * How Go assertions are inverted. Fixtures are in `test/inverter/go-fixtures.ts`. Only opposites that every release of
 * testify since 1.7 has: a method that does not exist would break the whole package.
 */
const TESTIFY_PAIRS: readonly (readonly [string, string])[] = [
  ['Equal', 'NotEqual'],
  ['EqualValues', 'NotEqualValues'],
  ['True', 'False'],
  ['Nil', 'NotNil'],
  ['NoError', 'Error'],
  ['ErrorIs', 'NotErrorIs'],
  ['Contains', 'NotContains'],
  ['Empty', 'NotEmpty'],
  ['Panics', 'NotPanics'],
  ['Greater', 'LessOrEqual'],
  ['Less', 'GreaterOrEqual'],
  ['Same', 'NotSame'],
  ['Zero', 'NotZero'],
  ['Subset', 'NotSubset'],
  ['Regexp', 'NotRegexp'],
  ['FileExists', 'NoFileExists'],
  ['DirExists', 'NoDirExists'],
]

export const TESTIFY_OPPOSITES: ReadonlyMap<string, string> = new Map([
  ...TESTIFY_PAIRS.flatMap(([one, other]) => [
    [one, other] as const,
    [other, one] as const,
    [`${one}f`, `${other}f`] as const,
    [`${other}f`, `${one}f`] as const,
  ]),
  ['Exactly', 'NotEqual'],
  ['Exactlyf', 'NotEqualf'],
])

/** Operands, counted after the handle, in which a literal is changed; otherwise the opposite is asserted. */
export const TESTIFY_LITERALS: Readonly<Record<string, readonly number[]>> = {
  Equal: [0, 1],
  EqualValues: [0, 1],
  Exactly: [0, 1],
  JSONEq: [0, 1],
  YAMLEq: [0, 1],
  Len: [1],
  EqualError: [1],
  ErrorContains: [1],
  PanicsWithValue: [0],
  PanicsWithError: [0],
}

/** Assertions without an opposite in old releases: called with a separate test, they have to fail there. */
export const TESTIFY_OTHERS: ReadonlySet<string> = new Set([
  ...Object.keys(TESTIFY_LITERALS),
  ...['Condition', 'ElementsMatch', 'ErrorAs', 'Eventually', 'Implements', 'InDelta', 'InDeltaSlice', 'InEpsilon'],
  ...['IsDecreasing', 'IsIncreasing', 'IsNonDecreasing', 'IsNonIncreasing', 'IsType', 'Negative', 'Never', 'Positive'],
  ...['WithinDuration', 'WithinRange'],
])

/** gomega: `Expect(x).To(...)`. */
export const GOMEGA_OPPOSITES: ReadonlyMap<string, string> = new Map([
  ['To', 'NotTo'],
  ['ToNot', 'To'],
  ['NotTo', 'To'],
  ['Should', 'ShouldNot'],
  ['ShouldNot', 'Should'],
])

/** Methods of *testing.T that fail a test. */
export const FAILING: readonly string[] = ['Error', 'Errorf', 'Fatal', 'Fatalf', 'Fail', 'FailNow']

/** Imports whose assertions have no rules. */
export const OTHER_LIBRARIES: readonly string[] = [
  'gotest.tools/v3/assert',
  'gotest.tools/assert',
  'gopkg.in/check.v1',
  'github.com/matryer/is',
  'github.com/smartystreets/goconvey/convey',
  'github.com/alecthomas/assert/v2',
  'github.com/shoenig/test',
]
