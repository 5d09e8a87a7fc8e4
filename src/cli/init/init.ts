import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { type Document, isMap, isScalar, isSeq, parseDocument, type YAMLMap } from 'yaml'
import { type BundledContract, findBundledContract } from '../../contract/bundled-contracts.js'
import { formatText } from '../../contract/format-diagnostics.js'
import { type LoadedContract, loadContractText } from '../../contract/load/load-contract.js'
import { shortenPath } from '../contracts/choose-contract.js'
import { pinTrusted, resolveTrustPlace } from '../contracts/trust.js'
import { EXIT, Stop } from '../exit.js'
import { CONTRACT_FILE, WORKFLOW_FOLDER } from '../places.js'
import { findProgramName, quoteShellWord } from '../program-name.js'
import { formatStepLines, listAgentSteps } from '../terminal/next-steps.js'
import { toPlainLine } from '../terminal/plain-text.js'
import { canAsk, confirm, print, printJson, tell } from '../terminal/terminal.js'
import { wrapText } from '../workflow/run-text.js'
import { writeDocuments } from './init-documents.js'
import { listNotJudged } from './init-judged.js'
import { type Survey, surveyFolder } from './survey.js'

const WIDTH = 79

export type Template = Exclude<BundledContract, 'test-generation'> | 'documents'

export interface InitOptions {
  readonly template: Template
  readonly force?: boolean
  readonly yes?: boolean
  readonly json?: boolean
}

/** Looks at a repository and writes a contract that loads there. */
export async function init(dir: string, options: InitOptions): Promise<void> {
  const folder = resolve(dir)
  if (!existsSync(folder) || !statSync(folder).isDirectory()) throw new Stop(EXIT.usage, `${dir} is not a folder.`)
  const file = join(folder, options.template === 'documents' ? WORKFLOW_FOLDER : CONTRACT_FILE)
  const found = surveyFolder(folder)
  if (options.json !== true) print(formatSurvey(found))
  await mayWrite(file, options)
  const loaded = await writeTemplate(file, found, options.template)
  pinOwnContract(file, loaded)
  const not_judged = listNotJudged(found, loaded.contract)
  if (options.json === true)
    return printJson({ file, template: options.template, hash: loaded.contract.hash, ...toJson(found), not_judged })
  if (loaded.warnings.length > 0) tell(formatText(loaded.warnings))
  print(`\nWrote ${shortenPath(file)}: ${[...loaded.contract.phases.keys()].join(' -> ')}`)
  if (not_judged.length > 0) print(`\nNot judged here:\n${not_judged.flatMap(formatBullets).join('\n')}`)
  print(`\nNext:\n${formatNextLines(folder, loaded).join('\n')}`)
}

function formatBullets(text: string): readonly string[] {
  return wrapText(text, '    ', WIDTH).map((line, at) => (at === 0 ? `  - ${line.trimStart()}` : line))
}

// Who runs `init` vouches for what it writes. Where that cannot be recorded, the first start asks.
function pinOwnContract(file: string, loaded: LoadedContract): void {
  try {
    pinTrusted(resolveTrustPlace(file), loaded, 'init')
  } catch (error) {
    const reason = error instanceof Error ? toPlainLine(error.message) : 'fault'
    tell(`The contract could not be recorded as accepted (${reason}). Accept it with: ${findProgramName()} trust`)
  }
}

// Commands are printed for the folder of the contract: there they find it, and the server.
function formatNextLines(folder: string, loaded: LoadedContract): readonly string[] {
  const program = findProgramName(folder)
  const agents = loaded.contract.agents ?? new Map()
  const isHere = folder === process.cwd()
  return [
    ...(isHere ? [] : [`  cd ${quoteShellWord(folder)}`]),
    ...formatStepLines([
      {
        label: 'Read it, change it',
        command: `${program} explain`,
        notes: [`Once a server has used it, a changed text counts after: ${program} trust`],
      },
      { label: 'Start the server', command: `${program} up` },
      ...listAgentSteps({ program, agents, environment: process.env, where: '' }),
    ]),
  ]
}

async function writeTemplate(file: string, found: Survey, template: Template): Promise<LoadedContract> {
  if (template === 'documents') return writeDocuments(file, found.testCommand)
  const folder = dirname(file)
  const text = buildContract(found, template)
  const loaded = await loadContractText(text, { file: CONTRACT_FILE, baseDir: folder })
  if (!loaded.ok)
    throw new Stop(
      EXIT.refused,
      `${formatText(loaded.diagnostics)}The contract would not load here; nothing was written.`,
    )
  write(file, text)
  return loaded
}

async function mayWrite(file: string, options: InitOptions): Promise<void> {
  if (!existsSync(file) || options.force === true) return
  if (options.yes === true || !canAsk())
    throw new Stop(
      EXIT.refused,
      `${shortenPath(file)} is there already and was left as it is. Overwrite it with --force.`,
    )
  if (!(await confirm(`${shortenPath(file)} is there already. Overwrite it?`)))
    throw new Stop(EXIT.refused, 'It was left as it is.')
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

function formatSurvey(found: Survey): string {
  const why = found.because === '' ? '' : ` (${found.because})`
  return [
    `Project    ${toPlainLine(found.project)}`,
    `Language   ${found.language}${why}`,
    `Tests      ${found.testCommand ?? 'no test command found: set commands.tests.run in the contract'}`,
    `Git        ${found.hasGit ? 'yes' : 'no: changes cannot be compared; run `git init`'}`,
  ].join('\n')
}

function toJson(found: Survey) {
  return { project: found.project, language: found.language, test_command: found.testCommand, git: found.hasGit }
}

/** The bundled contract, made this repository's own: how its tests are run and where they lie. */
function buildContract(found: Survey, template: Exclude<Template, 'documents'>): string {
  const document = parseDocument(
    readFileSync(findBundledContract(template), 'utf8').replace(/^# yaml-language-server.*\n/, ''),
  )
  document.commentBefore = [
    ` The contract of ${toPlainLine(found.project)}: which steps an agent takes, and what opens the way to the next.`,
    ' Check it with `phaselock validate`, see what was understood with `phaselock explain`.',
    ' While a server runs, editors find its schema at http://localhost:8000/schemas/agent_workflow.schema.json',
  ].join('\n')
  if (found.testCommand !== null && document.hasIn(['commands', 'tests', 'run']))
    document.setIn(['commands', 'tests', 'run'], found.testCommand)
  const phases = document.get('phases')
  for (const phase of isSeq(phases) ? phases.items : []) {
    if (!isMap(phase)) continue
    const prompt = phase.get('prompt', true)
    const runsTests = phase.get('id') === 'TDD' || phase.get('id') === 'IMPL'
    if (runsTests && found.testCommand !== null && isScalar(prompt))
      prompt.value = `${String(prompt.value)}The tests are run with: ${found.testCommand}\n`
    reviewByOther(phase, document)
    if (found.language !== 'Java' && found.language !== 'Kotlin') continue
    for (const kind of ['allowed_patterns', 'forbidden_patterns']) {
      const patterns = phase.getIn(['tool_constraints', 'write_files', kind], true)
      if (runsTests && isSeq(patterns)) patterns.add('src/test/**')
    }
  }
  return document.toString({ lineWidth: 118 })
}

// Who did the work does not review it: a person approves, unless reviewers are named later.
function reviewByOther(phase: YAMLMap, document: Document): void {
  const artifacts = phase.get('required_artifacts')
  const hasReport =
    isSeq(artifacts) && artifacts.items.some((item) => isMap(item) && item.get('type') === 'review_report')
  if (!hasReport) return
  phase.set('review', document.createNode({ by: 'other' }, { flow: true }))
  const prompt = phase.get('prompt', true)
  if (isScalar(prompt)) prompt.value = `${String(prompt.value)}${REVIEWED_BY_OTHER}`
}

const REVIEWED_BY_OTHER = 'Your own report does not open the gate: somebody else looks at the change and approves it.\n'
