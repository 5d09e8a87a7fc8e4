import type { Contract } from '../../core/contract/contract.js'
import { RUNNERS_READ } from './runners-read.js'
import type { Survey } from './survey.js'

const LANGUAGES_WITH_RULES = ['JavaScript', 'TypeScript', 'Python', 'Go', 'Rust']

/** What the gates of this contract cannot judge in this repository, one sentence each. */
export function listNotJudged(
  { language, testCommand, runs, reportFile, hasRun }: Survey & { readonly hasRun: boolean },
  contract: Contract,
): readonly string[] {
  if (testCommand === null || !contract.commands.has('tests')) return []
  const hasRules = LANGUAGES_WITH_RULES.includes(language)
  // A trial shows it; without one, the name of the runner does.
  const isRead = hasRun || reportFile !== undefined || RUNNERS_READ.test(runs)
  const where = language === 'unknown' ? 'a language that was not recognised here' : language
  return [
    ...(hasRules || !hasCheck(contract, 'tests_can_fail')
      ? []
      : [
          `Whether tests can fail, in ${where}: they are not_judged, and tests_can_fail only warns. It has rules for ${LANGUAGES_WITH_RULES.join(', ')}. Examples in the plan (docs/examples.md) are judged in any language.`,
        ]),
    ...(contract.name !== 'refactor' || hasCheck(contract, 'coverage_not_lower')
      ? []
      : [
          'Whether less of the code is covered than before: no command that reports coverage is known. Name one with --coverage COMMAND, and run init again with --force.',
        ]),
    ...(isRead
      ? []
      : [
          `The results of \`${testCommand}\`, unless one of the runners in docs/test-reports.md prints them: gates that need them stay closed. Have the command write a JUnit XML file, and name it in the contract with commands.tests.report.`,
        ]),
  ]
}

function hasCheck(contract: Contract, name: string): boolean {
  return [...contract.phases.values()].some(({ gates }) =>
    gates.some(({ blockers }) => blockers.some(({ check }) => check === name)),
  )
}
