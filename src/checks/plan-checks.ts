import { isPathsOnly } from '../contract/check/test-files-schema.js'
import type { Contract } from '../core/contract/contract.js'
import type { ObservedRun } from '../core/evidence/observed-run.js'
import { isRedPhase } from '../core/evidence/red-gate.js'
import type { Json, JsonObject } from '../core/json.js'
import {
  asList,
  asObject,
  type Check,
  type CheckInputs,
  failCheck,
  getField,
  isText,
  passCheck,
} from './check-inputs.js'
import { type Criterion, openCriteria } from './red-green/red-criteria.js'
import { isTestPath, listNamedTests, type NamedTest } from './test-files/test-files.js'

export const checkPlanHasCriteria: Check = ({ all }) => {
  const plan = asObject(all.get('plan_document'))
  if (plan === null) return failCheck('there is no plan_document')
  const criteria = listCriteria(plan)
  if (criteria.length === 0) return failCheck('no acceptance criterion is given')
  const measurable = criteria.filter(
    (one) => isText(getField(one, 'criterion')) && isText(getField(one, 'how_to_verify')),
  )
  return measurable.length > 0
    ? passCheck(measurable.length === 1 ? '1 measurable criterion' : `${measurable.length} measurable criteria`)
    : failCheck('no criterion has both "criterion" and "how_to_verify"')
}

export const checkScopeIsBounded: Check = ({ all }) => {
  const scope = asObject(all.get('scope_definition')) ?? asObject(getField(asObject(all.get('plan_document')), 'scope'))
  if (scope === null) return failCheck('there is neither a scope_definition nor a plan_document.scope')
  const empty = ['in_scope', 'out_of_scope'].filter((name) => asList(getField(scope, name)).length === 0)
  return empty.length === 0
    ? passCheck('in_scope and out_of_scope are given')
    : failCheck(`${empty.join(' and ')} ${empty.length === 1 ? 'is' : 'are'} empty`)
}

export const checkNoOpenQuestions: Check = ({ ofVisit }) => {
  const open = [...ofVisit].flatMap(([type, content]) =>
    openQuestions(getField(asObject(content), 'open_questions')).map(() => type),
  )
  return open.length === 0
    ? passCheck('no open question')
    : failCheck(`${open.length} open question${open.length === 1 ? '' : 's'} in ${[...new Set(open)].join(', ')}`)
}

// Questions in a form other than a list count too.
function openQuestions(value: Json | undefined): readonly Json[] {
  if (value === undefined || value === null) return []
  if (Array.isArray(value)) return (value as readonly Json[]).filter(isOpen)
  if (typeof value === 'object') return Object.keys(value).length === 0 ? [] : [value]
  return isOpen(value) ? [value] : []
}

function isOpen(question: Json): boolean {
  return typeof question === 'string' ? question.trim() !== '' : question !== null
}

function listCriteria(plan: JsonObject | null): readonly JsonObject[] {
  return asList(getField(plan, 'acceptance_criteria'))
    .map(asObject)
    .filter((one) => one !== null)
}

/** What to do about a criterion whose tests pass before the change. */
const HOLDS_ALREADY =
  'Write a failing test for each criterion that is named, then request the transition again. A criterion that holds already, such as what must stay as it is, has no failing test: show it in a test that also expects something new, or ask with ask_user_question for a return to PLAN, where it belongs into scope.out_of_scope.'

/** Every criterion is covered by a named test file that exists in the work tree and, as reported, ran. */
export const checkTestsExistForCriteria: Check = async (inputs) => {
  const plan = asObject(inputs.all.get('plan_document'))
  const criteria = listCriteria(plan)
  const files = listNamedTests(inputs)
  if (files.length === 0) return failCheck('test_files names no test file')
  const missing = await findMissingFiles(inputs, files)
  if (missing.length > 0) return failCheck(`not in the work tree: ${missing.join(', ')}`, 'artifact')
  const isTogether = isPathsOnly(inputs.contract.schemas, listTestFilesSchemas(inputs.contract))
  const odd = isTogether ? files.filter(({ path }) => !isTestPath(inputs.contract, path ?? '')) : []
  if (odd.length > 0) return failCheck(`not test files: ${odd.map(({ path }) => path).join(', ')}`, 'artifact')
  // A schema that accepts only paths leaves no room for `covers`: then all named test files count for every criterion.
  // The contract decides which form counts, never the agent.
  const covered = new Set(files.flatMap(({ covers }) => covers))
  const open = isTogether ? [] : criteria.filter((one) => !listNames(one).some((name) => covered.has(name)))
  if (open.length > 0) return failCheck(`no test covers ${open.map(getName).join(', ')}`)
  const observed = inputs.observed.get('tests')
  if (observed !== undefined && isJudgedByRun(inputs, observed)) {
    const named = criteria.map((one) => ({ names: listNames(one), shown: getName(one) }))
    const unheld = await openCriteria(inputs, observed, { criteria: named, files, isTogether })
    if (unheld.length > 0) {
      const failed = failCheck(`no new test fails for ${unheld.join(' | ')}`, 'observed')
      return unheld.some((text) => / already pass/.test(text)) ? { ...failed, remedy: HOLDS_ALREADY } : failed
    }
  }
  const run = asObject(inputs.ofVisit.get('test_run_result'))
  const ran = Number(getField(run, 'passed') ?? 0) + Number(getField(run, 'failed') ?? 0)
  const ranNothing = run !== null && !(ran > 0) && !(Number(getField(run, 'exit_code')) !== 0)
  if (ranNothing) return failCheck('the reported test run ran no test')
  return passCheck(
    `${criteria.length === 1 ? '1 criterion' : `${criteria.length} criteria`} covered by ${files.length === 1 ? '1 file' : `${files.length} files`}`,
  )
}

/** The criteria of the plan, and whether all named test files count for each of them. */
export function planCriteria(inputs: Pick<CheckInputs, 'all' | 'contract'>): {
  readonly criteria: readonly Criterion[]
  readonly isTogether: boolean
} {
  const criteria = listCriteria(asObject(inputs.all.get('plan_document')))
  return {
    criteria: criteria.map((one) => ({ names: listNames(one), shown: getName(one) })),
    isTogether: isPathsOnly(inputs.contract.schemas, listTestFilesSchemas(inputs.contract)),
  }
}

function listNames(criterion: JsonObject): readonly string[] {
  return [getField(criterion, 'id'), getField(criterion, 'criterion')].filter(isText).map((name) => name.trim())
}

// At a gate other than RED only the files are checked. That nothing failed at all is reported by tests_are_failing
// alone.
function isJudgedByRun({ contract, task, baseline }: CheckInputs, { exitCode }: ObservedRun): boolean {
  const phase = contract.phases.get(String(task.phase))
  if (baseline === undefined || baseline === null || !isRedPhase(phase)) return false
  const blocks = (phase?.gates ?? []).flatMap((gate) => gate.blockers)
  return exitCode !== 0 || !blocks.some((block) => block.check === 'tests_are_failing' && block.severity === 'blocking')
}

function listTestFilesSchemas(contract: Contract): readonly (string | null)[] {
  return [...contract.phases.values()]
    .flatMap((phase) => phase.requiredArtifacts)
    .filter((artifact) => artifact.type === 'test_files')
    .map((artifact) => artifact.schema)
}

async function findMissingFiles(inputs: CheckInputs, files: readonly NamedTest[]): Promise<readonly string[]> {
  const missing: string[] = []
  for (const { path } of files)
    if (path === null || (await inputs.tree.hash(path)) === null) missing.push(path ?? '(no path)')
  return missing
}

const NAME_CHARS_MAX = 80

function getName(criterion: JsonObject): string {
  const name = getField(criterion, 'id') ?? getField(criterion, 'criterion')
  return JSON.stringify(isText(name) ? name.slice(0, NAME_CHARS_MAX) : '(unnamed)')
}
