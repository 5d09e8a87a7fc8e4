/**
 * How Rust assertions are inverted. If an operand of `assert_eq!` is plain data, its first literal is changed;
 * otherwise the opposite macro is called. Fixtures are in `test/inverter/rust-fixtures.ts`.
 */
export const EQUALITY: ReadonlyMap<string, string> = new Map([
  ['assert_eq', 'assert_ne'],
  ['assert_ne', 'assert_eq'],
  ['debug_assert_eq', 'debug_assert_ne'],
  ['debug_assert_ne', 'debug_assert_eq'],
])

/** Assertion macros without rules, and their libraries. */
export const OTHER_LIBRARIES: Readonly<Record<string, string>> = {
  proptest: 'proptest',
  prop_assert: 'proptest',
  prop_assert_eq: 'proptest',
  quickcheck: 'quickcheck',
  assert_matches: 'assert_matches',
  assert_snapshot: 'insta',
  assert_debug_snapshot: 'insta',
  assert_json_snapshot: 'insta',
  assert_yaml_snapshot: 'insta',
  assert_relative_eq: 'approx',
  assert_abs_diff_eq: 'approx',
  assert_that: 'googletest',
}
