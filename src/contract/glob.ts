import picomatch from 'picomatch'

const COMPILED_MAX = 10_000
const compiled = new Map<string, (path: string) => boolean>()

/**
 * Whether a work-tree path matches a glob of a contract: `**` any depth, `*` and `?` within a name, `[…]`, `{a,b}`; dot files count.
 * Extended globs and negation are off: a pattern can only add what it names.
 */
export function matchesGlob(pattern: string, path: string): boolean {
  let matcher = compiled.get(pattern)
  if (matcher === undefined) {
    matcher = picomatch(pattern, { dot: true, noextglob: true, nonegate: true, strictSlashes: false })
    if (compiled.size >= COMPILED_MAX) compiled.clear()
    compiled.set(pattern, matcher)
  }
  // A dot of a regular expression matches no line break, and a name may have one.
  return matcher(path.replace(/[\n\r\u2028\u2029]/g, '_'))
}
