import type { Contract, Gate, Phase } from '../core/contract/contract.js'
import { addReviewGate, REVIEW_GATE } from '../core/reviews/independent-review.js'

const WRITES = ['write_files', 'edit_files', 'bash']
const MESSAGES_MAX = 4
const PATTERNS_MAX = 3
const ID_WIDTH = 10

/** Each phase in a sentence or two: what may change in it, and what opens the way on. For the first look at a contract. */
export function summarizeContract({ phases, tests }: Contract): readonly string[] {
  return [...phases.values()].map((phase) => {
    const asked = addReviewGate(phase, phase.gates)
    const conditions = [
      ...asked.filter((gate) => gate !== REVIEW_GATE).flatMap(listConditions),
      ...listPeople(phase, asked),
    ]
    const isLast = phase === [...phases.values()].at(-1)
    const way =
      conditions.length === 0 ? 'Nothing more is asked' : `${isLast ? 'To end' : 'To go on'}: ${conditions.join('; ')}`
    return `  ${phase.id.padEnd(ID_WIDTH)} ${describeWriting(phase, tests.patterns)}. ${way}.`
  })
}

function describeWriting(phase: Phase, tests: readonly string[]): string {
  const { allowedTools, forbiddenTools, writable, constraints } = phase
  const mayUse = (tool: string): boolean =>
    !forbiddenTools.includes(tool) && (allowedTools === 'all' || allowedTools.includes(tool))
  if (writable?.length === 0 || !WRITES.some(mayUse)) return 'The agent changes no file'
  const { allowedPatterns = null, forbiddenPatterns = [] } = constraints.get('write_files') ?? {}
  const only = writable ?? allowedPatterns
  if (only !== null) return `The agent changes ${haveAll(only, tests) ? 'tests' : listPatterns(only)} only`
  return `The agent changes ${haveAll(forbiddenPatterns, tests) ? 'code, and no tests' : 'files'}`
}

function haveAll(patterns: readonly string[], tests: readonly string[]): boolean {
  return tests.length > 0 && tests.every((pattern) => patterns.includes(pattern))
}

function listPatterns(patterns: readonly string[]): string {
  const more = patterns.length - PATTERNS_MAX
  return `${patterns.slice(0, PATTERNS_MAX).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

function listConditions({ blockers }: Gate): readonly string[] {
  const said = blockers
    .filter(({ severity }) => severity === 'blocking')
    .map(({ message, check }) => (message === '' ? check : message.charAt(0).toLowerCase() + message.slice(1)))
  const more = said.length - MESSAGES_MAX
  return more > 0 ? [...said.slice(0, MESSAGES_MAX), `and ${more} more`] : said
}

function listPeople({ gates, consensus }: Phase, asked: readonly Gate[]): readonly string[] {
  const approvals = gates.filter(({ type }) => type === 'approval')
  return [
    ...approvals.map(({ approvers }) =>
      approvers.includes('human') ? 'you approve' : `${approvers.join(' or ')} approves`,
    ),
    ...(asked.includes(REVIEW_GATE) ? ['you approve the change'] : []),
    ...(consensus === undefined ? [] : ['its reviewers vote for it']),
  ]
}
