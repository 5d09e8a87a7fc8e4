import { realpathSync } from 'node:fs'
import type { Contract } from '../../core/contract/contract.js'
import type { Finding } from '../finding.js'
import { surveyFolder } from '../init/survey.js'
import { runTrials, showTrial } from '../trial/run-trials.js'
import type { Trials } from '../trial/trial.js'
import { judgeExitCode, judgeTests } from '../trial/trial-text.js'

const NAME = 'tests'

interface TestsToTry {
  readonly workspace: string
  readonly contract: Contract
  readonly contractFile: string
  readonly contractBases: readonly string[]
  /** Whether it is this repository's contract, and not a bundled one. */
  readonly isOwn: boolean
  readonly isWanted: boolean
  readonly isQuiet: boolean
}

/** Runs the test command of the contract as a gate would, and the other commands of the gates. */
export async function checkTests(about: TestsToTry): Promise<readonly Finding[]> {
  const { contract, isOwn, isWanted } = about
  const command = contract.commands.get('tests')
  if (command === undefined) return []
  if (!isWanted) return [makeWarning(NAME, 'not tried (--no-trial)', '')]
  const survey = surveyFolder(about.workspace)
  if (survey.files.length === 0)
    return [
      makeWarning(NAME, 'not tried: the repository is empty', 'Add a first source file, then run: phaselock init'),
    ]
  if (!isOwn) return [makeWarning(NAME, 'not tried: this repository has no contract of its own', 'Run: phaselock init')]
  const git = survey.hasGit
    ? []
    : [makeWarning('git repository', 'none: changes cannot be compared or committed', 'Run: git init')]
  const broken = survey.problem === null ? [] : [makeMissing('manifest', survey.problem, 'Correct the file.')]
  return [...git, ...broken, ...(await tryCommands(about, survey.install))]
}

function tryCommands(about: TestsToTry, install: string): Promise<readonly Finding[]> {
  const { workspace, contractFile, contractBases } = about
  return runTrials<readonly Finding[]>(
    { tree: realpathSync(workspace), contractFile, contractBases },
    (trials) => tryEach(trials, about, install),
    ({ missing, remedy }) => [makeWarning(NAME, `not tried: no sandbox (${missing})`, remedy)],
  )
}

async function tryEach(trials: Trials, about: TestsToTry, install: string): Promise<readonly Finding[]> {
  const { contract, isQuiet } = about
  const advice = {
    tree: about.workspace,
    change: 'change commands.tests.run in the contract to the command',
    longer: 'raise commands.tests.timeout_seconds in the contract',
    part: 'let commands.tests.run name a part of it that is enough for your tasks',
    mayWrite: 'tests.may_write in the contract',
    allowSignal: 'set sigusr1: allow for it in the contract (commands.tests: {run: …, sigusr1: allow})',
    install: install === '' ? 'see its documentation' : install,
  }
  const findings: Finding[] = []
  for (const [name, command] of contract.commands) {
    const trial = await showTrial(trials, contract, { name, command, isQuiet })
    const { status, saw, remedies, lastLines } = name === NAME ? judgeTests(trial, advice) : judgeExitCode(trial)
    findings.push({
      name: name === NAME ? NAME : `command ${name}`,
      status: status === 'error' ? 'missing' : status,
      detail: `\`${command.run}\` ${saw}`,
      remedy: remedies.join(' '),
      ...(lastLines.length === 0 ? {} : { last_lines: lastLines }),
    })
  }
  return findings
}

function makeWarning(name: string, detail: string, remedy: string): Finding {
  return { name, status: 'warning', detail, remedy }
}

function makeMissing(name: string, detail: string, remedy: string): Finding {
  return { name, status: 'missing', detail, remedy }
}
