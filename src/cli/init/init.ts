import { existsSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { readGitSettings } from '../../app/trees/git-settings.js'
import { findBundledContract } from '../../contract/bundled-contracts.js'
import { formatText } from '../../contract/format-diagnostics.js'
import { type LoadedContract, loadContractFile, loadContractText } from '../../contract/load/load-contract.js'
import type { Contract } from '../../core/contract/contract.js'
import { plainLine } from '../../core/plain-text.js'
import { shortenPath } from '../contracts/choose-contract.js'
import { pinTrusted, resolveTrustPlace } from '../contracts/trust.js'
import { EXIT, Stop } from '../exit.js'
import { CONTRACT_FILE, WORKFLOW_FOLDER } from '../places.js'
import { findProgramName, quoteShellWord } from '../program-name.js'
import { formatStepLines, listAgentSteps } from '../terminal/next-steps.js'
import { canAsk, confirm, confirmUsual, print, printJson, tell } from '../terminal/terminal.js'
import { wrapText } from '../workflow/run-text.js'
import { choosePreset } from './choose-preset.js'
import { chooseProject } from './choose-project.js'
import { buildContract } from './contract-text.js'
import type { FoundTests } from './found-tests.js'
import { writeDocuments } from './init-documents.js'
import { listNotJudged } from './init-judged.js'
import { formatSurvey, formatTrial, toJson } from './init-text.js'
import type { Survey } from './survey.js'
import { findTestPatterns } from './test-patterns.js'
import { keepUntried, type TriedTests, tryTests } from './try-tests.js'

const WIDTH = 79

/** A bundled contract of one file, or `documents`. */
type Template = string

export interface InitOptions {
  readonly template: Template
  readonly language?: string
  readonly tests?: string
  readonly coverage?: string
  readonly timeout?: number
  readonly mayWrite?: readonly string[]
  /** Whether the tests may send SIGUSR1; left out: they may not, and a terminal is asked. */
  readonly sigusr1?: 'allow' | 'refuse'
  /** False with `--no-trial`. */
  readonly trial: boolean
  readonly force?: boolean
  readonly yes?: boolean
  readonly json?: boolean
}

/** Inspects a repository, tries its tests, and writes a contract that loads there. */
export async function init(dir: string, options: InitOptions): Promise<void> {
  if (!existsSync(dir) || !statSync(dir).isDirectory()) throw new Stop(EXIT.usage, `${dir} is not a folder.`)
  const folder = realpathSync(dir)
  const file = join(folder, options.template === 'documents' ? WORKFLOW_FOLDER : CONTRACT_FILE)
  const isAgreed = await mayOverwrite(file, options)
  const survey = await chooseProject(folder, options)
  if (options.json !== true)
    print(
      formatSurvey(survey, {
        ...options,
        ...{ settings: await readGitSettings(folder, process.env), activeEnvironment: process.env.VIRTUAL_ENV },
      }),
    )
  const base = await loadBundled(options.template)
  const tried = base.commands.has('tests') ? await tryProject(folder, survey, { base, options }) : null
  if (options.json !== true && tried !== null) print(formatTrial(tried))
  await askToWrite(file, tried, isAgreed, options)
  const patterns = findTestPatterns(survey.language, { ...survey, run: tried?.run ?? null })
  const found = {
    ...{
      project: survey.project,
      language: survey.language,
      command: tried?.command ?? null,
      allowsSigusr1: tried?.allowsSigusr1 === true,
      reportFile: tried === null ? undefined : survey.reportFile,
      patterns,
      steps: tried?.steps ?? [],
    },
    ...{ timeoutSeconds: options.timeout ?? null, mayWrite: options.mayWrite ?? [] },
    coverage: tried?.coverage ?? null,
    preset: tried === null ? null : choosePreset(survey, tried.run),
  }
  const loaded = await writeTemplate(file, found, options.template)
  pinOwnContract(file, loaded)
  const not_judged = listNotJudged({ ...survey, hasRun: tried?.run != null }, loaded.contract)
  if (options.json === true) {
    const about = { file, template: options.template, hash: loaded.contract.hash, ...toJson(survey, tried) }
    return printJson({
      ...about,
      ...(tried === null ? {} : { test_patterns: loaded.contract.tests.patterns }),
      not_judged,
    })
  }
  if (loaded.warnings.length > 0) tell(formatText(loaded.warnings))
  print(`\nWrote ${shortenPath(file)}: ${[...loaded.contract.phases.keys()].join(' -> ')}`)
  if (tried !== null) print(`Test files: ${loaded.contract.tests.patterns.join(', ')}`)
  if (not_judged.length > 0) print(`\nNot judged here:\n${not_judged.flatMap(formatBullets).join('\n')}`)
  print(`\nNext:\n${formatNextLines(file, loaded).join('\n')}`)
}

function formatBullets(text: string): readonly string[] {
  return wrapText(text, '    ', WIDTH).map((line, at) => (at === 0 ? `  - ${line.trimStart()}` : line))
}

async function loadBundled(template: Template): Promise<Contract> {
  const loaded = await loadContractFile(findBundledContract(template === 'documents' ? 'test-generation' : template))
  if (!loaded.ok) throw new Error(`the bundled contract ${template} does not load`)
  return loaded.contract
}

async function tryProject(
  tree: string,
  survey: Survey,
  { base, options }: { readonly base: Contract; readonly options: InitOptions },
): Promise<TriedTests | null> {
  const bundled = base.commands.get('tests')
  if (survey.testCommand === null || bundled === undefined) {
    if (options.trial) throw new Stop(EXIT.refused, explainNoTests(survey), { ...toJson(survey, null) })
    return null
  }
  const allowsSigusr1 = options.sigusr1 === 'allow'
  if (!options.trial) {
    const coverage = options.coverage === undefined ? null : { run: options.coverage, report: 'coverage/lcov.info' }
    return { ...keepUntried(survey, { run: survey.testCommand, allowsSigusr1 }), coverage }
  }
  const patterns = findTestPatterns(survey.language, { ...survey, run: null })
  const contract = { ...base, tests: { ...base.tests, patterns, mayWrite: options.mayWrite ?? [] } }
  const timeoutSeconds = options.timeout ?? bundled.timeoutSeconds
  const command = { ...bundled, run: survey.testCommand, timeoutSeconds, ...survey.reportFile, allowsSigusr1 }
  const { coverage, json, yes, sigusr1 } = options
  const isQuiet = json === true
  const signal = { given: sigusr1, isUnasked: isQuiet || yes === true }
  return tryTests({ tree, survey, contract, command, coverage, signal, isQuiet })
}

const OTHERWISE =
  'Name the command with --tests "COMMAND", add --no-trial to write the contract untried, or choose --template plan-review, which runs no tests.'

function explainNoTests({ problem, files, language, because }: Survey): string {
  if (problem !== null) return `${problem}; nothing was written. Correct it and run init again. ${OTHERWISE}`
  if (files.length === 0)
    return `This repository is empty; nothing was written. Add a first source file and how its tests are run (such as scripts.test in package.json), then run init again. ${OTHERWISE}`
  const where = language === 'unknown' ? 'No known build file was found' : `${because} names no tests`
  return `${where}; nothing was written. ${OTHERWISE}`
}

/** Whether the user already agreed to write the file. */
async function mayOverwrite(file: string, options: InitOptions): Promise<boolean> {
  if (!existsSync(file) || options.force === true) return options.force === true || options.yes === true
  if (options.yes === true || !canAsk())
    throw new Stop(EXIT.refused, `${shortenPath(file)} already exists and was not changed. Overwrite it with --force.`)
  if (!(await confirm(`${shortenPath(file)} already exists. Overwrite it?`)))
    throw new Stop(EXIT.refused, 'It was not changed.')
  return true
}

async function askToWrite(
  file: string,
  tried: TriedTests | null,
  isAgreed: boolean,
  options: InitOptions,
): Promise<void> {
  const isUnread = tried?.verdict?.status === 'error'
  if (isUnread && (options.yes === true || !canAsk()))
    throw new Stop(EXIT.refused, `The test command cannot be used as it is; nothing was written. ${UNREAD}`, {
      ...(tried === null ? {} : { trial: toJson(null, tried).trial }),
    })
  if (isAgreed && !isUnread) return
  if (!canAsk()) throw new Stop(EXIT.refused, `Nothing was written: add --yes to write ${shortenPath(file)}.`)
  const isWanted = isUnread
    ? await confirm(`Gates that need the tests stay closed until the command can be read. Write ${shortenPath(file)}?`)
    : await askUsual(file, tried)
  if (!isWanted) throw new Stop(EXIT.refused, 'Nothing was written.')
}

function askUsual(file: string, tried: TriedTests | null): Promise<boolean> {
  if (tried !== null) print('Wrong test command? Answer n and run init with --tests COMMAND.')
  return confirmUsual(`Write ${shortenPath(file)}?`)
}

const UNREAD = 'Fix the problems above and run init again, or write the contract untried with --no-trial.'

async function writeTemplate(file: string, found: FoundTests, template: Template): Promise<LoadedContract> {
  if (template === 'documents') return writeDocuments(file, found)
  const text = buildContract(found, template)
  const loaded = await loadContractText(text, { file: CONTRACT_FILE, baseDir: dirname(file) })
  if (!loaded.ok)
    throw new Stop(
      EXIT.refused,
      `${formatText(loaded.diagnostics)}The contract would not load here; nothing was written.`,
    )
  write(file, text)
  return loaded
}

function write(file: string, text: string): void {
  try {
    // A link could lead out of the repository: it is replaced, not followed.
    rmSync(file, { force: true })
    writeFileSync(file, text, { flag: 'wx' })
  } catch (error) {
    throw new Stop(EXIT.refused, `${file} cannot be written (${(error as NodeJS.ErrnoException).code ?? 'fault'}).`)
  }
}

// Running `init` means accepting what it writes. If that cannot be recorded, the first start asks.
function pinOwnContract(file: string, loaded: LoadedContract): void {
  try {
    pinTrusted(resolveTrustPlace(file), loaded, 'init')
  } catch (error) {
    const reason = error instanceof Error ? plainLine(error.message) : 'fault'
    tell(`The contract could not be recorded as accepted (${reason}). Accept it with: ${findProgramName()} trust`)
  }
}

// Commands are printed for the folder of the contract: there they find it, and the server.
function formatNextLines(file: string, loaded: LoadedContract): readonly string[] {
  const [folder, name] = [dirname(file), basename(file)]
  const program = findProgramName(folder)
  const agents = loaded.contract.agents ?? new Map()
  const isHere = folder === process.cwd()
  return [
    ...(isHere ? [] : [`  cd ${quoteShellWord(folder)}`]),
    ...formatStepLines([
      {
        label: 'Read what it asks for',
        command: `${program} explain`,
        notes: [`To change it, edit ${name}. Accept later changes with: ${program} trust`],
      },
      ...(existsSync(join(folder, '.git'))
        ? [{ label: 'Commit it', command: `git add ${name} && git commit -m "Workflow for agents"` }]
        : []),
      ...listAgentSteps({ program, agents, environment: process.env, where: '', isDown: true }),
    ]),
  ]
}
