import type { Contract, ObservedCommand } from '../../core/contract/contract.js'
import type { ObservedRun } from '../../core/evidence/observed-run.js'
import { tell } from '../terminal/terminal.js'
import { runUntilInterrupted, showProgress } from '../trial/progress.js'
import { listBuildOutputs } from '../trial/tracked-files.js'
import { Trials } from '../trial/trial.js'
import { judgeExitCode, judgeTests, type TrialVerdict } from '../trial/trial-text.js'
import { type CoverageCommand, listCoverageCommands, tryCoverage } from './coverage-commands.js'
import type { Step } from './project.js'
import type { Survey } from './survey.js'

/** The result of trying the test command and the steps next to it. */
export interface TriedTests {
  readonly command: string
  readonly steps: readonly Step[]
  /** Null if nothing was tried. */
  readonly run: ObservedRun | null
  readonly verdict: TrialVerdict | null
  /** Notes for people: what was left out or kept, and why. */
  readonly notes: readonly string[]
  /** How coverage is measured; absent or null: no command for it is known. */
  readonly coverage?: CoverageCommand | null
}

interface About {
  readonly tree: string
  readonly survey: Survey
  readonly contract: Contract
  readonly command: ObservedCommand
  readonly isQuiet: boolean
  /** A command that a person named for coverage. */
  readonly coverage: string | undefined
}

/** Without a trial, builds stay before the tests, because it is unknown whether they are needed. */
export function keepUntried({ builds, lints }: Survey, command: string): TriedTests {
  return { command: joinSteps(builds, command), steps: lints, run: null, verdict: null, notes: [] }
}

/** Runs the test command of a repository in the sandbox, and the steps that a composite one was split into. */
export function tryTests(about: About): Promise<TriedTests> {
  const { tree, survey, command, isQuiet } = about
  return runUntilInterrupted(async (signal) => {
    const trials = await Trials.open({ tree, contractFile: null, contractBases: [], signal })
    if ('missing' in trials) {
      const notes = [`The tests were not tried: there is no sandbox here (${trials.missing}). ${trials.remedy}`]
      return { ...keepUntried(survey, command.run), notes }
    }
    try {
      if (!isQuiet && process.stderr.isTTY !== true)
        tell(`Running \`${command.run}\` in the sandbox (at most ${command.timeoutSeconds} s) ...`)
      const tests = await tryWithBuilds(trials, about)
      const stepped = { ...tests, ...(await trySteps(trials, about, tests)) }
      if (!about.contract.commands.has('coverage')) return stepped
      const named = { runs: survey.runs, tests: tests.command, given: about.coverage }
      const found = { commands: listCoverageCommands(tree, named), isQuiet }
      const { coverage, note } = await tryCoverage(trials, about.contract, found)
      return { ...stepped, coverage, notes: [...stepped.notes, note] }
    } finally {
      await trials.close()
    }
  })
}

async function tryWithBuilds(trials: Trials, about: About): Promise<TriedTests> {
  const { tree, survey, contract, isQuiet } = about
  const advice = {
    tree,
    change: 'name another command with --tests COMMAND',
    longer: 'give it longer with --timeout SECONDS',
    part: `name a part of it that is enough for your tasks (--tests "${about.command.run} FOLDER")`,
    mayWrite: '--may-write GLOB',
    install: survey.install,
  }
  const attempt = async (run: string, leftOut: readonly string[] = []) => {
    const command = { ...about.command, run }
    const label = `Running \`${run}\` in the sandbox (at most ${command.timeoutSeconds} s)`
    const trial = await showProgress(label, isQuiet, () => trials.run(contract, { name: 'tests', command, leftOut }))
    return { command: run, run: trial.run, verdict: judgeTests(trial, advice) }
  }
  const { builds, lints } = survey
  if (builds.length === 0) {
    const first = await attempt(about.command.run)
    const more = survey.isGiven === true ? null : addNaming(first.run)
    const named = more === null ? null : await attempt(more)
    return { ...(named?.run.isComplete === true ? named : first), steps: lints, notes: [] }
  }
  // Earlier build output is left out, because the tests would run old code.
  const alone = await attempt(about.command.run, listBuildOutputs(tree))
  if (alone.verdict.status !== 'error' && countTests(alone.run) > 0)
    return { ...alone, steps: [...builds, ...lints], notes: [] }
  const built = await attempt(joinSteps(builds, about.command.run))
  const kept = builds.map(({ run }) => `\`${run}\``).join(', ')
  return { ...built, steps: lints, notes: [`${kept} stays in front of the tests: without it they do not run.`] }
}

const NAMING: Readonly<Record<string, string>> = {
  ...{ pytest: '-v', unittest: '-v', jest: '--verbose', vitest: '--reporter=verbose' },
}

/**
 * The command with the option that makes its runner print the name of every test; null if it printed them, or there is
 * no such option.
 */
function addNaming({ counts, isComplete, problem, format = '', command }: ObservedRun): string | null {
  const argument = NAMING[format]
  if (counts === null || isComplete || problem !== null || argument === undefined || /[&|;]/.test(command)) return null
  return /^npm\b/.test(command) && !/\s--\s/.test(command) ? `${command} -- ${argument}` : `${command} ${argument}`
}

function countTests({ counts }: ObservedRun): number {
  return counts === null ? 0 : counts.passed + counts.failed + counts.skipped
}

// A check that fails on the current tree would keep GREEN closed for every task.
async function trySteps(
  trials: Trials,
  { contract, command, isQuiet }: About,
  { steps, notes }: TriedTests,
): Promise<Pick<TriedTests, 'steps' | 'notes'>> {
  const kept: Step[] = []
  const said = [...notes]
  for (const step of steps) {
    const trial = await showProgress(`Running \`${step.run}\` in the sandbox`, isQuiet, () =>
      trials.run(contract, {
        name: step.name,
        command: { ...command, run: step.run, format: 'auto', report: null, timeoutSeconds: STEP_SECONDS },
      }),
    )
    const { status, saw } = judgeExitCode(trial)
    if (status === 'ok') {
      kept.push(step)
      said.push(`\`${step.run}\` ${saw}: it must succeed at GREEN too.`)
    } else
      said.push(
        `\`${step.run}\` ${saw}: it fails before any task, so GREEN does not ask for it. Correct it, then run init again with --force.`,
      )
  }
  return { steps: kept, notes: said }
}

const STEP_SECONDS = 600

function joinSteps(steps: readonly Step[], command: string): string {
  return [...steps.map(({ run }) => run), command].join(' && ')
}
