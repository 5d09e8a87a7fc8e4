/** How the tests are run without linters and formatters, which refuse rewritten tests. */
interface TestLine {
  /** The prefix of the line: programs of the project are found as a script of package.json finds them. */
  readonly before: string
  readonly line: string
}

const LINTERS = /^(?:npx )?(?:biome|eslint|oxlint|prettier|semistandard|standard|ts-standard|tslint|xo)(?= |$)/
const LINT_SCRIPT = /^(?:npm|pnpm|yarn)(?: run)? (?:[\w-]+:)?(?:format|lint)[\w:-]*(?: --silent| -s)?$/
const SCRIPT = /^(?:npm|pnpm|yarn)(?: run)? ([\w:-]+)(?: --silent| -s)?$/
// Chains other than `a && b` are left unchanged.
const OTHER_CHAINS = /[;|\n]|(?<!&)&(?!&)/

/**
 * The command without its linters, including those in the package.json script that it calls; unchanged if there are
 * none.
 */
export function dropLinters(run: string, scripts: Readonly<Record<string, unknown>>): TestLine {
  const whole = { before: '', line: run.trim() }
  const [, name] = SCRIPT.exec(whole.line) ?? []
  const script = name === undefined ? whole.line : scripts[name === 't' ? 'test' : name]
  if (typeof script !== 'string' || OTHER_CHAINS.test(script)) return whole
  const steps = script.split('&&').map((step) => step.trim())
  const kept = steps.filter((step) => !LINTERS.test(step) && !LINT_SCRIPT.test(step))
  if (kept.length === steps.length || kept.length === 0 || !steps.every(isClosed)) return whole
  const before = name === undefined ? '' : 'export PATH="$PWD/node_modules/.bin:$PATH"; '
  return { before, line: kept.join(' && ') }
}

// A step that ends inside quotes was split at an `&&` that is part of a word.
function isClosed(step: string): boolean {
  return ["'", '"', '`'].every((quote) => step.split(quote).length % 2 === 1) && step !== ''
}
