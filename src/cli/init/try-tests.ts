import type { Contract, ObservedCommand } from '../../core/contract/contract.js'
import type { ObservedRun } from '../../core/evidence/observed-run.js'
import { tell } from '../terminal/terminal.js'
import { runTrials, showTrial } from '../trial/run-trials.js'
import { listBuildOutputs } from '../trial/tracked-files.js'
import type { Trials } from '../trial/trial.js'
import { judgeExitCode, judgeTests, type TrialVerdict } from '../trial/trial-text.js'
import { askToAllowSignal, type SignalChoice } from './ask-to-allow-signal.js'
import { type CoverageCommand, listCoverageCommands, tryCoverage } from './coverage-commands.js'
import type { Step } from './project.js'
import type { Survey } from './survey.js'

/** The result of trying the test command and the steps next to it. */
export interface TriedTests {
  readonly command: string
  readonly steps: readonly Step[]
  /** Whether the contract lets the tests send SIGUSR1; left out: it does not. */
  readonly allowsSigusr1?: boolean
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
  readonly signal: SignalChoice
}

/** Without a trial, builds stay before the tests, because it is unknown whether they are needed. */
export function keepUntried(
  { builds, lints }: Survey,
  { run, allowsSigusr1 = false }: Pick<ObservedCommand, 'run' | 'allowsSigusr1'>,
): TriedTests {
  return { command: joinSteps(builds, run), steps: lints, allowsSigusr1, run: null, verdict: null, notes: [] }
}

/** Runs the test command of a repository in the sandbox, and the steps that a composite one was split into. */
export function tryTests(about: About): Promise<TriedTests> {
  const { tree, survey, command, isQuiet } = about
  const work = async (trials: Trials): Promise<TriedTests> => {
    if (!isQuiet && process.stderr.isTTY !== true)
      tell(`Running \`${command.run}\` in the sandbox (at most ${command.timeoutSeconds} s) ...`)
    const tests = await tryWithBuilds(trials, about)
    const stepped = { ...tests, ...(await trySteps(trials, about, tests)) }
    if (!about.contract.commands.has('coverage')) return stepped
    const named = { runs: survey.runs, tests: tests.command, given: about.coverage }
    const allowsSigusr1 = tests.allowsSigusr1 === true
    const found = { commands: listCoverageCommands(tree, named), allowsSigusr1, isQuiet }
    const { coverage, note } = await tryCoverage(trials, about.contract, found)
    return { ...stepped, coverage, notes: [...stepped.notes, note] }
  }
  return runTrials(
    { tree, contractFile: null, contractBases: [] },
    async (trials) => noteAllowed(await work(trials)),
    ({ missing, remedy }) => ({
      ...keepUntried(survey, command),
      notes: [`The tests were not tried: there is no sandbox here (${missing}). ${remedy}`],
    }),
  )
}

function noteAllowed(tried: TriedTests): TriedTests {
  if (tried.allowsSigusr1 !== true) return tried
  const too = tried.coverage == null ? '' : ' The command for coverage runs the same tests, so it may too.'
  const note = `The tests may send SIGUSR1 (sigusr1: allow in the contract); the record of each run says so.${too}`
  return { ...tried, notes: [...tried.notes, note] }
}

async function tryWithBuilds(trials: Trials, about: About): Promise<TriedTests> {
  const { tree, survey, contract, isQuiet } = about
  const advice = {
    tree,
    change: 'name another command with --tests COMMAND',
    longer: 'give it longer with --timeout SECONDS',
    part: `name a part of it that is enough for your tasks (--tests "${about.command.run} FOLDER")`,
    mayWrite: '--may-write GLOB',
    allowSignal: 'run init again with --sigusr1 allow',
    install: survey.install,
  }
  const stopsWhenStuck = about.signal.given === undefined
  const attemptOnce = async (run: string, leftOut: readonly string[], allowsSigusr1: boolean) => {
    const command = { ...about.command, run, allowsSigusr1 }
    const trial = await showTrial(trials, contract, { name: 'tests', command, leftOut, stopsWhenStuck, isQuiet })
    return { command: run, allowsSigusr1, run: trial.run, verdict: judgeTests(trial, advice) }
  }
  let isAllowed = about.command.allowsSigusr1 === true
  const attempt = async (run: string, leftOut: readonly string[] = []) => {
    const first = await attemptOnce(run, leftOut, isAllowed)
    if (first.run.trouble?.refusedSignal === undefined) return first
    if (!(await askToAllowSignal(about.signal, first.verdict.saw))) return first
    const second = await attemptOnce(run, leftOut, true)
    // What does not help is not allowed.
    isAllowed = second.verdict.status !== 'error'
    if (!isAllowed) tell('With SIGUSR1 allowed the tests cannot be used either, so the contract does not allow it.')
    return { ...second, allowsSigusr1: isAllowed }
  }
  const { builds, lints } = survey
  if (builds.length === 0) {
    const first = await attempt(about.command.run)
    const more = survey.isGiven === true ? null : addNaming(first.run)
    const named = more === null ? null : await attempt(more)
    const given = survey.isGiven === true ? addNaming(first.run) : null
    const notes = given === null ? [] : [`To name every test: --tests ${JSON.stringify(given)}`]
    return { ...(named?.run.isComplete === true ? named : first), steps: lints, notes }
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
    const changed = { run: step.run, format: 'auto', report: null, timeoutSeconds: STEP_SECONDS } as const
    const trial = await showTrial(trials, contract, {
      name: step.name,
      command: { ...command, ...changed, allowsSigusr1: false },
      isQuiet,
    })
    const { status, saw } = judgeExitCode(trial)
    if (status === 'ok') {
      kept.push(step)
      said.push(`\`${step.run}\` ${saw}: it must succeed too before an agent leaves IMPL.`)
    } else
      said.push(
        `\`${step.run}\` ${saw}: it fails before any task, so no gate checks it, and it may fail after a task too. Correct it, then run init again.`,
      )
  }
  return { steps: kept, notes: said }
}

const STEP_SECONDS = 600

function joinSteps(steps: readonly Step[], command: string): string {
  return [...steps.map(({ run }) => run), command].join(' && ')
}
