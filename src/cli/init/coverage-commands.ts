import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Contract } from '../../core/contract/contract.js'
import { showTrial } from '../trial/run-trials.js'
import type { Trials } from '../trial/trial.js'

/** A command that measures coverage, and the file that it writes; null: it prints the report. */
export interface CoverageCommand {
  readonly run: string
  readonly report: string | null
}

const REPORT = 'coverage/lcov.info'

/**
 * Commands that may measure the coverage of a repository's tests, most likely first. `given`: the command that a person
 * named.
 */
export function listCoverageCommands(
  tree: string,
  { runs, tests, given }: { readonly runs: string; readonly tests: string; readonly given: string | undefined },
): readonly CoverageCommand[] {
  if (given !== undefined) return [REPORT, null].map((report) => ({ run: given, report }))
  const manifest = readManifest(tree)
  const script = ['coverage', 'test:coverage', 'cov'].find((name) => manifest.includes(`"${name}":`))
  const plain = runs.split('&&').at(-1)?.trim() ?? ''
  return [
    ...(script === undefined ? [] : [{ run: `npm run ${script}`, report: REPORT }]),
    ...(/^node\s+(.*\s)?--test\b/.test(plain)
      ? [{ run: plain.replace('--test', '--test --experimental-test-coverage --test-reporter=lcov'), report: null }]
      : []),
    ...(/\bjest\b/.test(plain) ? [{ run: 'npx jest --coverage --coverageReporters=lcovonly', report: REPORT }] : []),
    ...(/\bvitest\b/.test(plain) && manifest.includes('"@vitest/coverage-')
      ? [{ run: 'npx vitest run --coverage --coverage.reporter=lcovonly', report: REPORT }]
      : []),
    ...(/\bpytest\b/.test(tests) ? [{ run: `${tests} --cov=. --cov-report=lcov:${REPORT}`, report: REPORT }] : []),
  ]
}

function readManifest(tree: string): string {
  try {
    return readFileSync(join(tree, 'package.json'), 'utf8')
  } catch {
    return ''
  }
}

/** The first command whose report can be read, and a note about it. */
export async function tryCoverage(
  trials: Trials,
  contract: Contract,
  about: {
    readonly commands: readonly CoverageCommand[]
    /** Whether the tests that it runs may send SIGUSR1. */
    readonly allowsSigusr1: boolean
    readonly isQuiet: boolean
  },
): Promise<{ readonly coverage: CoverageCommand | null; readonly note: string }> {
  const { commands, allowsSigusr1, isQuiet } = about
  const bundled = contract.commands.get('coverage')
  for (const one of bundled === undefined ? [] : commands) {
    const command = { ...bundled, ...one, format: 'lcov', timeoutSeconds: 600, env: {}, allowsSigusr1 }
    const { run } = await showTrial(trials, contract, { name: 'coverage', command, isQuiet })
    if (run.coverage !== null)
      return { coverage: one, note: `\`${one.run}\` reports coverage: ${run.coverage} % of the lines.` }
  }
  const tried = commands.map(({ run }) => `\`${run}\``).join(', ')
  return { coverage: null, note: `No coverage was read${tried === '' ? '' : ` (tried ${tried})`}. ${NAME_IT}` }
}

const NAME_IT = 'Name a command that writes coverage/lcov.info or prints lcov with --coverage COMMAND.'
