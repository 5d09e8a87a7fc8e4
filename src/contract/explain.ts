import type { Contract, EvidenceField, Gate, Phase, Transition } from '../core/contract/contract.js'
import type { ConsensusPlan } from '../core/contract/contract-parts.js'
import type { JsonObject } from '../core/json.js'
import { listOpenedPaths } from '../core/paths/opened-paths.js'
import { listNeededReviews } from '../core/reviews/consensus-plan.js'
import { addReviewGate, REVIEW_GATE } from '../core/reviews/independent-review.js'
import { formatDuration } from '../core/text.js'
import { formatBlocker, formatConstraint, formatShortJson } from './explain-parts.js'
import { summarizeContract } from './explain-short.js'
import type { LoadedContract } from './load/load-contract.js'
import { formatOrigins, listOrigins } from './origins.js'

/**
 * How a contract was understood, as text, with the place of everything that its author wrote. `sources` adds where each
 * value of a contract with bases comes from.
 */
export function explainContract(
  result: LoadedContract,
  { sources = false }: { readonly sources?: boolean } = {},
): string {
  const explained = explainJson(result) as unknown as ExplainedContract
  const lines = [
    `${explained.name} ${explained.version} (${explained.hash.slice(0, 12)})`,
    ...(explained.description === '' ? [] : [explained.description]),
    `mode ${explained.mode}, starts in ${explained.start}`,
    ...(explained.tests === null ? [] : [`tests: ${explained.tests}`]),
    ...(explained.git === null ? [] : [`git: ${explained.git}`]),
    '',
    'In short',
    ...summarizeContract(result.contract),
    ...explained.phases.flatMap(formatPhaseLines),
    '',
    'Transitions',
    ...explained.transitions.map(
      (t) => `  ${t.from} -> ${t.to}${t.when === null ? '' : ` when ${t.when}`}, ${formatHeldBy(t.held_by)}  (${t.at})`,
    ),
  ]
  if (explained.extends.length > 0)
    lines.push(
      '',
      `Extends ${explained.extends.join(', ')}`,
      ...(sources
        ? ['Where each value comes from', ...formatOrigins(result).map((line) => `  ${line}`)]
        : ['  --sources lists where each value comes from']),
    )
  if (explained.not_enforced.length > 0) {
    lines.push(
      '',
      'Not enforced by this version',
      ...explained.not_enforced.map((entry) => `  ${entry.path}: ${entry.feature}`),
    )
  }
  return `${[...lines, '', ...WORDS].join('\n')}\n`
}

const WORDS = [
  'RED is the run in which Phaselock saw the new tests fail, GREEN the one in which all tests passed.',
  'A parked task waits until an operator resumes it.',
]

/** In JSON, for a way back that the agent takes by saying so. */
const CLAIM = 'its claim'

function formatHeldBy(holder: string): string {
  return holder === CLAIM ? 'open as soon as the agent says so' : `held by ${holder}`
}

interface Placed {
  readonly at: string
}

interface ExplainedContract {
  readonly name: string
  readonly version: string
  readonly hash: string
  readonly description: string
  readonly mode: string
  readonly start: string
  /** How Phaselock runs and judges the tests; null if the contract does not say. */
  readonly tests: string | null
  /** How agents' commits are made; null if the contract does not say. */
  readonly git: string | null
  readonly phases: readonly ExplainedPhase[]
  readonly transitions: readonly (Placed & { from: string; to: string; when: string | null; held_by: string })[]
  readonly not_enforced: readonly { path: string; feature: string }[]
  /** Files and presets, a base after those that it extends itself. */
  readonly extends: readonly string[]
  /** The place of each value that was written, by its path. */
  readonly origins: Readonly<Record<string, string>>
}

interface ExplainedPhase extends Placed {
  readonly id: string
  readonly name: string
  readonly is_final: boolean
  readonly allowed_tools: readonly string[] | 'all'
  readonly forbidden_tools: readonly string[]
  readonly constraints: readonly (Placed & { tool: string; text: string })[]
  readonly required_artifacts: readonly (Placed & { type: string; schema: string | null; checks: readonly string[] })[]
  readonly document: string | null
  readonly evidence: readonly (Placed & { field: string; text: string })[]
  readonly gates: readonly (Placed & { id: string; text: string; blockers: readonly (Placed & { text: string })[] })[]
  readonly consensus: (Placed & { readonly text: string }) | null
  /** Who reviews the work, if it is somebody else. */
  readonly review: (Placed & { text: string }) | null
  /** Protected and pinned paths that the phase opens by naming them. */
  readonly opens: readonly { readonly pattern: string; readonly kind: string; readonly why: string }[]
}

/** The same as JSON. Places read `file:line`. */
export function explainJson(result: LoadedContract): JsonObject {
  const { contract } = result
  const explained: ExplainedContract = {
    name: contract.name,
    version: contract.version,
    hash: contract.hash,
    description: contract.description,
    mode: contract.enforcement.mode,
    start: contract.start,
    tests: formatTests(contract),
    git: formatGit(contract),
    phases: [...contract.phases.values()].map((phase, index) => explainPhase(result, phase, index)),
    transitions: contract.transitions.map(({ from, to, when, gate }, index) => ({
      from,
      to,
      when,
      held_by: formatHolder(contract, { from, to, when, gate }),
      at: formatPlace(result, `transitions[${index}]`),
    })),
    not_enforced: contract.notEnforced,
    extends: [...new Set(result.bases.map(({ name }) => name))],
    origins: Object.fromEntries(listOrigins(result).map(({ path, file, line }) => [path, `${file}:${line}`])),
  }
  return explained as unknown as JsonObject
}

function formatTests({ commands, tests, phases }: Contract): string | null {
  const command = commands.get('tests')
  if (command === undefined) return null
  const isTurned = [...phases.values()].some(({ gates }) =>
    gates.some(({ blockers }) => blockers.some(({ check }) => check === 'tests_can_fail')),
  )
  const { strict, maxSeconds } = tests.inverted ?? {}
  const budget = maxSeconds === undefined ? '' : ` within ${formatDuration(maxSeconds, 'short')}`
  return [
    `Phaselock runs \`${command.run}\``,
    ...(tests.repeat === undefined ? [] : [`${tests.repeat} times`]),
    ...(tests.baseline === 'forbid' ? ['tests that failed before the task must pass too'] : []),
    ...(isTurned ? [`new tests are run again with other expectations and must fail then${budget}`] : []),
    ...(isTurned && strict === true ? ['strict: tests that cannot be judged block'] : []),
  ].join('; ')
}

function formatGit({ git }: Contract): string | null {
  if (git === undefined) return null
  return [
    git.author === undefined
      ? "commits are by the operator's git configuration"
      : `commits are by ${git.author.name} <${git.author.email}>`,
    git.hooks === 'run' ? 'hooks of the repository are run in the sandbox' : 'hooks of the repository are skipped',
    ...(git.sign === 'skip' ? ['commits are not signed'] : []),
  ].join('; ')
}

function explainPhase(result: LoadedContract, phase: Phase, index: number): ExplainedPhase {
  const base = `phases[${index}]`
  return {
    id: phase.id,
    name: phase.name,
    at: formatPlace(result, base),
    is_final: !result.contract.transitions.some((transition) => transition.from === phase.id),
    allowed_tools: phase.allowedTools,
    forbidden_tools: phase.forbiddenTools,
    constraints: [...phase.constraints].map(([tool, constraint]) => ({
      tool,
      text: formatConstraint(tool, constraint),
      at: formatPlace(result, `${base}.tool_constraints.${tool}`),
    })),
    required_artifacts: phase.requiredArtifacts.map((artifact, at) => ({
      type: artifact.type,
      schema: artifact.schema,
      checks: artifact.checks.map(formatBlocker),
      at: formatPlace(result, `${base}.required_artifacts[${at}]`),
    })),
    document: formatDocument(phase),
    evidence: [...phase.evidence].map(([field, evidence]) => ({
      field,
      text: formatEvidence(evidence),
      at: formatPlace(result, `${base}.checkpoint.evidence.${field}`),
    })),
    gates: phase.gates.map((gate, at) => ({
      id: gate.id,
      text: formatGate(gate),
      at: formatPlace(result, `${base}.gates[${at}]`),
      blockers: gate.blockers.map((blocker, n) => ({
        text: formatBlocker(blocker),
        at: formatPlace(result, `${base}.gates[${at}].blockers[${n}]`),
      })),
    })),
    consensus:
      phase.consensus === undefined
        ? null
        : { text: formatConsensus(phase.consensus), at: formatPlace(result, `${base}.consensus`) },
    review:
      phase.reviewBy === undefined ? null : { text: formatReview(phase), at: formatPlace(result, `${base}.review`) },
    opens: listOpenedPaths(result.contract)
      .filter((path) => path.phase === phase.id)
      .map(({ pattern, kind, why }) => ({ pattern, kind, why })),
  }
}

function formatPhaseLines(phase: ExplainedPhase): string[] {
  const tools = phase.allowed_tools === 'all' ? 'all' : phase.allowed_tools.join(', ') || 'none'
  return [
    '',
    `Phase ${phase.id}${phase.name === phase.id ? '' : ` "${phase.name}"`}${phase.is_final ? ', final' : ''}  (${phase.at})`,
    `  tools: ${tools}`,
    ...(phase.forbidden_tools.length === 0 ? [] : [`  forbidden: ${phase.forbidden_tools.join(', ')}`]),
    ...phase.constraints.map(({ tool, text, at }) => `  ${tool}: ${text}  (${at})`),
    ...phase.required_artifacts.flatMap(({ type, schema, checks, at }) => [
      `  artifact ${type}: ${schema ?? 'any object'}  (${at})`,
      ...checks.map((check) => `    ${check}`),
    ]),
    ...(phase.document === null ? [] : [`  document: ${phase.document}`]),
    ...phase.evidence.map(({ field, text, at }) => `  evidence ${field}: ${text}  (${at})`),
    ...phase.gates.flatMap(({ id, text, blockers, at }) => [
      `  gate ${id}: ${text}  (${at})`,
      ...blockers.map((blocker) => `    ${blocker.text}  (${blocker.at})`),
    ]),
    ...(phase.consensus === null ? [] : [`  consensus: ${phase.consensus.text}  (${phase.consensus.at})`]),
    ...(phase.review === null ? [] : [`  review: ${phase.review.text}  (${phase.review.at})`]),
    ...phase.opens.map(({ pattern, kind, why }) => `  opens ${pattern}: ${kind}, ${why}`),
  ]
}

function formatConsensus({ voters, question, options }: ConsensusPlan): string {
  const names = voters.map(({ id, program }) => (program === null ? id : `${id} (${program.harness})`))
  const quorum = options.quorum === null ? '' : `, at least ${options.quorum} for the winner`
  return `${names.join(', ')} vote${quorum}: ${question}`
}

function formatReview(phase: Phase): string {
  const reviewers = listNeededReviews(phase)
  const by = reviewers === null ? 'a person, by approval of the change' : reviewers.join(', ')
  return `by somebody other than the agent that did the work: ${by}`
}

function formatDocument({ document, evidence }: Phase): string | null {
  if (document === undefined) return null
  const { tasks, examples } = document
  return [
    `${document.totalTokens} tokens`,
    ...(tasks.length === 0 ? [] : [`tasks ${tasks.map((task) => task.id).join(', ')}`]),
    ...(Object.keys(examples).length === 0 ? [] : [`example of ${Object.keys(examples).join(', ')}`]),
    ...(evidence.size === 0 ? ['no checkpoint'] : []),
  ].join('; ')
}

function formatHolder(contract: Contract, { from, to, when, gate }: Transition): string {
  const order = [...contract.phases.keys()]
  // A claimed way back needs only its claim, whatever gates the phase has.
  if (when !== null && order.indexOf(to) <= order.indexOf(from)) return gate ?? CLAIM
  const phase = contract.phases.get(from)
  const gates = gate === null ? (phase?.gates ?? []).map((one) => one.id) : [gate]
  const isReviewed = addReviewGate(phase, phase?.gates.filter((one) => gates.includes(one.id)) ?? []).includes(
    REVIEW_GATE,
  )
  const held = isReviewed ? [...gates, REVIEW_GATE.id] : gates
  const all = phase?.consensus === undefined ? held : [...held, 'consensus']
  return all.length === 0 ? 'no gate' : all.join(', ')
}

const ON_TIMEOUT = { park: 'the task is parked', reject: 'it counts as rejected' } as const

function formatGate(gate: Gate): string {
  const next = gate.autoAdvance ? ', then Phaselock moves on by itself' : ''
  const time = formatDuration(gate.timeoutSeconds, 'short')
  if (gate.type === 'validation') return `validation within ${time}${next}`
  return `approval by ${gate.minApprovals} of ${gate.approvers.join(', ')} within ${time}, after that ${ON_TIMEOUT[gate.onTimeout]}`
}

function formatEvidence(field: EvidenceField): string {
  const { type, optional, description, grade, rules: _, source: __, ...bounds } = field
  const graded = grade === undefined || grade === 'reported' ? bounds : { ...bounds, grade }
  const given = Object.fromEntries(
    Object.entries(graded).filter(([, value]) => value !== null && value !== undefined),
  ) as JsonObject
  const shown = Object.keys(given).length === 0 ? '' : ` ${formatShortJson(given)}`
  return `${optional ? 'optional ' : ''}${type}${shown}${description === '' ? '' : `: ${description}`}`
}

function formatPlace(result: LoadedContract, path: string): string {
  const place = result.positions.get(path)
  return place === undefined ? `${result.file}, implied` : `${place.file ?? result.file}:${place.line}`
}
