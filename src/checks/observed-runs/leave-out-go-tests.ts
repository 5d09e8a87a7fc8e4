/** `go test` of one package without these tests; null if the line is more than that, or names cannot be written into it. */
export function leaveOutGoTests(
  line: string,
  { name, without }: { readonly name: string; readonly without: readonly string[] },
): string | null {
  const words = line.trim().split(/ +/).slice(2)
  if (!PLAIN_GO_TEST.test(line.trim()) || words.some((word) => CHOOSES_TESTS.test(word))) return null
  if (!PACKAGE.test(name) || !without.every((test) => /^[\p{L}\p{N}_]+$/u.test(test))) return null
  const kept = words.filter((word) => !IS_PACKAGES.test(word))
  return ['go test', `-skip '^(?:${without.join('|')})$'`, ...kept, `'${name}'`].join(' ')
}

/** `go test` of these packages with all errors of the compiler; null where the line is more than that. */
export function listAllGoErrors(line: string, names: readonly string[]): string | null {
  const words = line.trim().split(/ +/).slice(2)
  if (!PLAIN_GO_TEST.test(line.trim()) || words.some((word) => CHOOSES_TESTS.test(word) || IS_COMPILER_FLAG.test(word)))
    return null
  if (names.length === 0 || names.length > PACKAGES_MAX || !names.every((name) => PACKAGE.test(name))) return null
  const kept = words.filter((word) => !IS_PACKAGES.test(word))
  return ['go test', '-gcflags=-e', ...kept, ...names.map((name) => `'${name}'`)].join(' ')
}

const PACKAGES_MAX = 50
const PACKAGE = /^[\w@+~./-]+$/
const IS_COMPILER_FLAG = /^--?gcflags(?:=|$)/
const PLAIN_GO_TEST = /^go test(?: [\w@%+=:,./-]+)*$/
const CHOOSES_TESTS = /^--?(?:test\.)?(?:skip|args|exec|toolexec|list|bench|fuzz|c|o|C)(?:=|$)/
const IS_PACKAGES = /^\.{1,2}(?:\/|$)|\.\.\.$/
