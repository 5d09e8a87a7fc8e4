import { takesPathsAlone } from '../contract/check/test-files-schema.js'
import type { Contract } from '../core/contract/contract.js'
import type { ObservedRun } from '../core/evidence/observed-run.js'
import { isRedPhase } from '../core/evidence/red-gate.js'
import type { Json, JsonObject } from '../core/json.js'
import { asList, asObject, type Check, type CheckInputs, fails, field, holds, isText } from './check-inputs.js'
import { type Criterion, openCriteria } from './red-green/red-criteria.js'
import { isTestPath, type NamedTest, namedTests } from './test-files/test-files.js'

export const planHasAcceptanceCriteria: Check = ({ all }) => {
  const plan = asObject(all.get('plan_document'))
  if (plan === null) return fails('there is no plan_document')
  const criteria = criteriaOf(plan)
  if (criteria.length === 0) return fails('no acceptance criterion is given')
  const measurable = criteria.filter((one) => isText(field(one, 'criterion')) && isText(field(one, 'how_to_verify')))
  return measurable.length > 0
    ? holds(`${measurable.length} measurable criteria`)
    : fails('no criterion has both "criterion" and "how_to_verify"')
}

export const scopeIsBounded: Check = ({ all }) => {
  const scope = asObject(all.get('scope_definition')) ?? asObject(field(asObject(all.get('plan_document')), 'scope'))
  if (scope === null) return fails('there is neither a scope_definition nor a plan_document.scope')
  const empty = ['in_scope', 'out_of_scope'].filter((name) => asList(field(scope, name)).length === 0)
  return empty.length === 0
    ? holds('in_scope and out_of_scope are given')
    : fails(`${empty.join(' and ')} ${empty.length === 1 ? 'is' : 'are'} empty`)
}

export const noOpenQuestions: Check = ({ ofVisit }) => {
  const open = [...ofVisit].flatMap(([type, content]) =>
    openQuestions(field(asObject(content), 'open_questions')).map(() => type),
  )
  return open.length === 0
    ? holds('no open question')
    : fails(`${open.length} open question${open.length === 1 ? '' : 's'} in ${[...new Set(open)].join(', ')}`)
}

// Questions in another form than a list are questions all the same.
function openQuestions(value: Json | undefined): readonly Json[] {
  if (value === undefined || value === null) return []
  if (Array.isArray(value)) return (value as readonly Json[]).filter(isOpen)
  if (typeof value === 'object') return Object.keys(value).length === 0 ? [] : [value]
  return isOpen(value) ? [value] : []
}

function isOpen(question: Json): boolean {
  return typeof question === 'string' ? question.trim() !== '' : question !== null
}

function criteriaOf(plan: JsonObject | null): readonly JsonObject[] {
  return asList(field(plan, 'acceptance_criteria'))
    .map(asObject)
    .filter((one) => one !== null)
}

/** Every criterion is covered by a test file that is named, exists in the work tree and, as reported, ran. */
export const testsExistForAcceptanceCriteria: Check = async (inputs) => {
  const plan = asObject(inputs.all.get('plan_document'))
  const criteria = criteriaOf(plan)
  const files = namedTests(inputs)
  if (files.length === 0) return fails('test_files names no test file')
  const missing = await missingFiles(inputs, files)
  if (missing.length > 0) return fails(`not in the work tree: ${missing.join(', ')}`, 'artifact')
  const isTogether = takesPathsAlone(inputs.contract.schemas, testFilesSchemas(inputs.contract))
  const odd = isTogether ? files.filter(({ path }) => !isTestPath(inputs.contract, path ?? '')) : []
  if (odd.length > 0) return fails(`no test files: ${odd.map(({ path }) => path).join(', ')}`, 'artifact')
  // A schema that takes paths alone leaves no room for `covers`: there all named test files count for every criterion.
  // Which form counts is the contract's to say, never the agent's.
  const covered = new Set(files.flatMap(({ covers }) => covers))
  const open = isTogether ? [] : criteria.filter((one) => !namesOf(one).some((name) => covered.has(name)))
  if (open.length > 0) return fails(`no test covers ${open.map(nameOf).join(', ')}`)
  const observed = inputs.observed.get('tests')
  if (observed !== undefined && isJudgedByRun(inputs, observed)) {
    const named = criteria.map((one) => ({ names: namesOf(one), shown: nameOf(one) }))
    const unheld = await openCriteria(inputs, observed, { criteria: named, files, isTogether })
    if (unheld.length > 0) return fails(`no new test fails for ${unheld.join(' | ')}`, 'observed')
  }
  const run = asObject(inputs.ofVisit.get('test_run_result'))
  const ran = Number(field(run, 'passed') ?? 0) + Number(field(run, 'failed') ?? 0)
  const ranNothing = run !== null && !(ran > 0) && !(Number(field(run, 'exit_code')) !== 0)
  if (ranNothing) return fails('the reported test run ran no test')
  return holds(`${criteria.length} criteria covered by ${files.length} files`)
}

/** The criteria of the plan, and whether all named test files stand for each of them. */
export function planCriteria(inputs: Pick<CheckInputs, 'all' | 'contract'>): {
  readonly criteria: readonly Criterion[]
  readonly isTogether: boolean
} {
  const criteria = criteriaOf(asObject(inputs.all.get('plan_document')))
  return {
    criteria: criteria.map((one) => ({ names: namesOf(one), shown: nameOf(one) })),
    isTogether: takesPathsAlone(inputs.contract.schemas, testFilesSchemas(inputs.contract)),
  }
}

function namesOf(criterion: JsonObject): readonly string[] {
  return [field(criterion, 'id'), field(criterion, 'criterion')].filter(isText).map((name) => name.trim())
}

// At a gate that is no RED only the files are looked at. That nothing failed at all, tests_are_failing says alone.
function isJudgedByRun({ contract, task, baseline }: CheckInputs, { exitCode }: ObservedRun): boolean {
  const phase = contract.phases.get(String(task.phase))
  if (baseline === undefined || baseline === null || !isRedPhase(phase)) return false
  const blocks = (phase?.gates ?? []).flatMap((gate) => gate.blockers)
  return exitCode !== 0 || !blocks.some((one) => one.check === 'tests_are_failing' && one.severity === 'blocking')
}

function testFilesSchemas(contract: Contract): readonly (string | null)[] {
  return [...contract.phases.values()]
    .flatMap((phase) => phase.requiredArtifacts)
    .filter((artifact) => artifact.type === 'test_files')
    .map((artifact) => artifact.schema)
}

async function missingFiles(inputs: CheckInputs, files: readonly NamedTest[]): Promise<readonly string[]> {
  const missing: string[] = []
  for (const { path } of files)
    if (path === null || (await inputs.tree.hash(path)) === null) missing.push(path ?? '(no path)')
  return missing
}

const NAME_CHARS_MAX = 80

function nameOf(criterion: JsonObject): string {
  const name = field(criterion, 'id') ?? field(criterion, 'criterion')
  return JSON.stringify(isText(name) ? name.slice(0, NAME_CHARS_MAX) : '(unnamed)')
}
