import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { type Document, isMap, isScalar, isSeq, parseDocument, type YAMLMap } from 'yaml'
import { type BundledContract, bundledContract } from '../../contract/bundled-contracts.js'
import { formatText } from '../../contract/format-diagnostics.js'
import { type LoadedContract, loadContractText } from '../../contract/load/load-contract.js'
import { plainLine } from '../../core/plain-text.js'
import { shortPath } from '../contracts/choose-contract.js'
import { pinTrusted, trustPlace } from '../contracts/trust.js'
import { EXIT, Stop } from '../exit.js'
import { CONTRACT_FILE, WORKFLOW_FOLDER } from '../places.js'
import { programName, shellWord } from '../program-name.js'
import { agentSteps, stepLines } from '../terminal/next-steps.js'
import { canAsk, confirm, print, printJson, tell } from '../terminal/terminal.js'
import { wrapped } from '../workflow/run-text.js'
import { writeDocuments } from './init-documents.js'
import { notJudged } from './init-judged.js'
import { type Survey, survey } from './survey.js'

const WIDTH = 79

type Template = Exclude<BundledContract, 'test-generation'> | 'documents'

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
  const found = survey(folder)
  if (options.json !== true) print(surveyText(found))
  await mayWrite(file, options)
  const loaded = await writeTemplate(file, found, options.template)
  trustOwn(file, loaded)
  const not_judged = notJudged(found, loaded.contract)
  if (options.json === true)
    return printJson({ file, template: options.template, hash: loaded.contract.hash, ...asJson(found), not_judged })
  if (loaded.warnings.length > 0) tell(formatText(loaded.warnings))
  print(`\nWrote ${shortPath(file)}: ${[...loaded.contract.phases.keys()].join(' -> ')}`)
  if (not_judged.length > 0) print(`\nNot judged here:\n${not_judged.flatMap(bulleted).join('\n')}`)
  print(`\nNext:\n${nextLines(folder, loaded).join('\n')}`)
}

function bulleted(text: string): readonly string[] {
  return wrapped(text, '    ', WIDTH).map((line, at) => (at === 0 ? `  - ${line.trimStart()}` : line))
}

// Who runs `init` vouches for what it writes. Where that cannot be recorded, the first start asks.
function trustOwn(file: string, loaded: LoadedContract): void {
  try {
    pinTrusted(trustPlace(file), loaded, 'init')
  } catch (error) {
    const reason = error instanceof Error ? plainLine(error.message) : 'fault'
    tell(`The contract could not be recorded as accepted (${reason}). Accept it with: ${programName()} trust`)
  }
}

// Commands are printed for the folder of the contract: there they find it, and the server.
function nextLines(folder: string, loaded: LoadedContract): readonly string[] {
  const program = programName(folder)
  const agents = loaded.contract.agents ?? new Map()
  const isHere = folder === process.cwd()
  return [
    ...(isHere ? [] : [`  cd ${shellWord(folder)}`]),
    ...stepLines([
      {
        label: 'Read it, change it',
        command: `${program} explain`,
        notes: [`Once a server has used it, a changed text counts after: ${program} trust`],
      },
      { label: 'Start the server', command: `${program} up` },
      ...agentSteps({ program, agents, environment: process.env, where: '' }),
    ]),
  ]
}

async function writeTemplate(file: string, found: Survey, template: Template): Promise<LoadedContract> {
  if (template === 'documents') return writeDocuments(file, found.testCommand)
  const folder = dirname(file)
  const text = contractFor(found, template)
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
      `${shortPath(file)} is there already and was left as it is. Overwrite it with --force.`,
    )
  if (!(await confirm(`${shortPath(file)} is there already. Overwrite it?`)))
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

function surveyText(found: Survey): string {
  const why = found.because === '' ? '' : ` (${found.because})`
  return [
    `Project    ${plainLine(found.project)}`,
    `Language   ${found.language}${why}`,
    `Tests      ${found.testCommand ?? 'no test command found: set commands.tests.run in the contract'}`,
    `Git        ${found.hasGit ? 'yes' : 'no: changes cannot be compared; run `git init`'}`,
  ].join('\n')
}

function asJson(found: Survey) {
  return { project: found.project, language: found.language, test_command: found.testCommand, git: found.hasGit }
}

/** The bundled contract, made this repository's own: how its tests are run and where they lie. */
function contractFor(found: Survey, template: Exclude<Template, 'documents'>): string {
  const document = parseDocument(
    readFileSync(bundledContract(template), 'utf8').replace(/^# yaml-language-server.*\n/, ''),
  )
  document.commentBefore = [
    ` The contract of ${plainLine(found.project)}: which steps an agent takes, and what opens the way to the next.`,
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
  const hasReport = isSeq(artifacts) && artifacts.items.some((one) => isMap(one) && one.get('type') === 'review_report')
  if (!hasReport) return
  phase.set('review', document.createNode({ by: 'other' }, { flow: true }))
  const prompt = phase.get('prompt', true)
  if (isScalar(prompt)) prompt.value = `${String(prompt.value)}${REVIEWED_BY_OTHER}`
}

const REVIEWED_BY_OTHER = 'Your own report does not open the gate: somebody else looks at the change and approves it.\n'
