import { RE2JS } from 're2js'

const PATTERN_CHARS_MAX = 4096

type PatternResult =
  | { readonly ok: true; readonly test: (text: string) => boolean }
  | { readonly ok: false; readonly reason: string }

/** Compiles a pattern that matches in linear time (RE2); patterns that RE2 rejects are refused, never run by V8. */
export function compilePattern(pattern: string): PatternResult {
  if (pattern.length > PATTERN_CHARS_MAX)
    return { ok: false, reason: `it is longer than ${PATTERN_CHARS_MAX} characters` }
  try {
    // Schemas and rules use JavaScript's dialect: \u0041 and /-escapes are translated for RE2 first.
    const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern))
    return { ok: true, test: (text) => compiled.test(text) }
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    return { ok: false, reason: reason.replace(/^error parsing regexp: /, '') }
  }
}

/** Why a glob is not accepted; null when it is. Globs are relative to the work tree. */
export function findGlobProblem(glob: string): string | null {
  if (glob.length > PATTERN_CHARS_MAX) return `it is longer than ${PATTERN_CHARS_MAX} characters`
  if (glob.includes('\0')) return 'it contains a NUL'
  if (glob.startsWith('/')) return 'it is absolute; patterns are relative to the work tree'
  if (glob.split('/').includes('..')) return 'it leaves the work tree'
  // The matcher reads the dots of such a pattern as any character: it would match more than it says.
  if (/\{[^{}]*\.\.[^{}]*\}/.test(glob)) return 'it has a range ({a..b}); list the alternatives: {a,b}'
  if (glob.startsWith('!')) return 'it is negated; list what is forbidden under forbidden_patterns'
  return null
}

/** Whether a path of a contract names several files. */
export function isGlob(path: string): boolean {
  return /[*?{]/.test(path)
}

const COMPILED_MAX = 500
const compiledPatterns = new Map<string, (text: string) => boolean>()

/** Whether the pattern of a loaded contract is found in the text. */
export function matchesPattern(pattern: string, text: string): boolean {
  const known = compiledPatterns.get(pattern)
  if (known !== undefined) return known(text)
  const compiled = compilePattern(pattern)
  if (!compiled.ok) throw new Error(`a pattern that does not compile was loaded: ${compiled.reason}`)
  if (compiledPatterns.size >= COMPILED_MAX) compiledPatterns.delete(compiledPatterns.keys().next().value ?? '')
  compiledPatterns.set(pattern, compiled.test)
  return compiled.test(text)
}
