import type { GitSettings } from '../../app/trees/git-settings.js'
import { plainLine } from '../../core/plain-text.js'
import { describeAuthor } from '../terminal/commit-author.js'
import type { Project } from './project.js'
import type { Survey } from './survey.js'
import type { TriedTests } from './try-tests.js'

const INDENT = ' '.repeat(11)

/** The findings before anything is run. */
export function formatSurvey(
  found: Survey,
  given: {
    readonly tests?: string
    readonly language?: string
    readonly settings: GitSettings
    /** A virtual environment of Python that is active in the terminal. */
    readonly activeEnvironment?: string | undefined
  },
): string {
  const why = found.reason === '' ? '' : ` (${plainLine(found.reason)})`
  const others = found.others.filter(({ testCommand }) => testCommand !== null)
  const isChosen = given.tests !== undefined || given.language !== undefined || found.isChosen === true
  return [
    `Project    ${plainLine(found.project)}`,
    `Language   ${found.language}${why}`,
    ...(found.problem === null ? [] : [`Problem    ${plainLine(found.problem)}`]),
    `Tests      ${found.testCommand ?? 'no test command found: name it with --tests COMMAND'}`,
    ...formatActiveEnvironment(found, given.activeEnvironment),
    ...(others.length === 0 || isChosen
      ? []
      : [
          `Also here  ${others.map(describeProject).join(`\n${INDENT}`)}`,
          `${INDENT}${found.language} was taken; choose with --language NAME or --tests COMMAND.`,
        ]),
    `Git        ${found.hasGit ? formatCommitting(given.settings) : 'no: changes cannot be compared; run `git init`'}`,
  ].join('\n')
}

// Commands see the repository and the system, not the rest of the home.
function formatActiveEnvironment({ testCommand, install }: Survey, active: string | undefined): readonly string[] {
  if (active === undefined || testCommand?.startsWith('python3 ') !== true) return []
  return [
    `${INDENT}The active environment ${plainLine(active)} is outside of the repository, where commands do not see it.`,
    `${INDENT}If packages are missing: ${install}`,
  ]
}

function formatCommitting(settings: GitSettings): string {
  const { text, remedy } = describeAuthor(settings)
  return remedy === '' ? text : `${text}.\n${INDENT}${remedy}`
}

/** One candidate on one line. */
export function describeProject({ language, reason, testCommand }: Project): string {
  const name = language === 'unknown' ? 'make' : language
  return plainLine(`${name} (${reason}): ${testCommand ?? 'no test command'}`)
}

/** The result of the trial. */
export function formatTrial({ command, verdict, notes }: TriedTests): string {
  const lines =
    verdict === null
      ? []
      : [
          `Trial      ${command}`,
          `${INDENT}${verdict.saw}`,
          ...verdict.remedies.map((remedy) => `${INDENT}${remedy}`),
          ...(verdict.lastLines.length === 0 ? [] : [`${INDENT}Its last lines:`]),
          ...verdict.lastLines.map((line) => `${INDENT}  ${plainLine(line)}`),
        ]
  return [...lines, ...notes.map((note) => `${INDENT}${plainLine(note)}`)].join('\n')
}

/** The same for programs. */
export function toJson(found: Survey | null, tried: TriedTests | null) {
  const { run = null, verdict = null } = tried ?? {}
  return {
    ...(found === null
      ? {}
      : {
          project: found.project,
          language: found.language,
          because: found.reason,
          test_command: tried?.command ?? found.testCommand,
          git: found.hasGit,
          also_found: found.others.map(({ language, reason, testCommand }) => ({
            ...{ language, because: reason, test_command: testCommand },
          })),
        }),
    trial:
      tried === null || run === null || verdict === null
        ? null
        : {
            status: verdict.status,
            saw: verdict.saw,
            remedies: verdict.remedies,
            last_lines: verdict.lastLines,
            duration_ms: Math.round(run.durationMs),
            exit_code: run.exitCode,
            counts: run.counts,
            format: run.format ?? null,
            ids_complete: run.isComplete,
          },
    ...(tried === null
      ? {}
      : { steps: tried.steps, sigusr1: tried.allowsSigusr1 === true ? 'allow' : 'refuse', notes: tried.notes }),
  }
}
