import type { Files } from '../e2e/projects.js'

/** What the tests of these projects ask for, and code that does none of it. */
const RIGHT: Readonly<Record<string, string>> = {
  add: '(a, b) => a + b',
  isEven: '(number) => number % 2 === 0',
  user: "() => ({ name: 'Ada' })",
  show: "() => 'Ada'",
  pick: "() => 'Ada'",
}
const WRONG: Readonly<Record<string, string>> = {
  add: '() => 0',
  isEven: '() => 0',
  user: "() => ({ name: 'Eve' })",
  show: "() => 'Eve'",
  pick: "() => 'Eve'",
}

/** How the project loads modules. */
export type Kind = 'esm' | 'cjs'

/** A source that begins with a trick. Only the functions that are named are wrong; all of them when none is. */
export function codeWith(kind: Kind, trick: string, ...wrong: readonly string[]): Files {
  const names = wrong.length === 0 ? Object.keys(RIGHT) : wrong
  const lines = Object.keys(RIGHT).map((name) => lineOf(kind, name, (names.includes(name) ? WRONG : RIGHT)[name] ?? ''))
  return { 'src/code.js': `${trick}\n${lines.join('\n')}\n` }
}

/** A source in which one function is given by the case itself. */
export function codeWhere(kind: Kind, name: string, text: string): Files {
  const lines = Object.entries(RIGHT).map(([one, right]) => lineOf(kind, one, one === name ? text : right))
  return { 'src/code.js': `${lines.join('\n')}\n` }
}

export function honest(kind: Kind): Files {
  return {
    'src/code.js': `${Object.entries(RIGHT)
      .map(([name, text]) => lineOf(kind, name, text))
      .join('\n')}\n`,
  }
}

function lineOf(kind: Kind, name: string, text: string): string {
  return kind === 'esm' ? `export const ${name} = ${text}` : `exports.${name} = ${text}`
}

/** The refusal of the inverted run, and of a run in which a test failed. */
export const SURVIVES = /still pass(?:es)? when the expected value is changed/
export const FAILS = /failed: .*(?:adds|is even|has a name|is shown|is listed)/
/** Code that forges the plain run alone. */
export const TOLD_APART = /as written, but not when its text is rewritten with the same expected values/
/** The refusal of a plain run that was forged badly: a test failed, its file did not run, or the reports contradict each other. */
export const NOT_GREEN =
  /must pass: \d+ failed|did not run its tests|the run is void|must pass: (?:exit code|no counts could be read)/
