/** `go test` of one package without these tests; null if the line is more than that, or names cannot be written into it. */
export function leaveOutGoTests(
  line: string,
  { name, without }: { readonly name: string; readonly without: readonly string[] },
): string | null {
  const words = line.trim().split(/ +/).slice(2)
  if (!PLAIN_GO_TEST.test(line.trim()) || words.some((word) => CHOOSES_TESTS.test(word))) return null
  if (!/^[\w@+~./-]+$/.test(name) || !without.every((test) => /^[\p{L}\p{N}_]+$/u.test(test))) return null
  const kept = words.filter((word) => !IS_PACKAGES.test(word))
  return ['go test', `-skip '^(?:${without.join('|')})$'`, ...kept, `'${name}'`].join(' ')
}

const PLAIN_GO_TEST = /^go test(?: [\w@%+=:,./-]+)*$/
const CHOOSES_TESTS = /^--?(?:test\.)?(?:skip|args|exec|toolexec|list|bench|fuzz|c|o|C)(?:=|$)/
const IS_PACKAGES = /^\.{1,2}(?:\/|$)|\.\.\.$/
