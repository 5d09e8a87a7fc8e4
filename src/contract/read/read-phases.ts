import {
  checked,
  choice,
  describedAs,
  filled,
  flag,
  globs,
  ID_PATTERN,
  type Kind,
  list,
  mapOf,
  path,
  positive,
  readList,
  type Scope,
  type TypeOf,
  text,
  texts,
} from '../schema/kinds.js'
import { isEmpty, maybe, need, object, otherwise, type ReadOf, unkept } from '../schema/object.js'
import type { Fields } from './fields.js'
import { autoSpawns, CONSENSUS } from './read-agents.js'
import { VALIDATION } from './read-blockers.js'
import { checkpoint } from './read-checkpoint.js'
import { gateOfPhase } from './read-gates.js'
import { id, settleId } from './read-id.js'
import { PHASE_TEXT } from './read-phase-text.js'
import { rule } from './read-rules.js'
import { NODE_TRANSITION } from './read-transitions.js'

const SHELL_ONLY = ['allowed_commands', 'forbidden_commands']
const PATHS_ONLY = ['allowed_patterns', 'forbidden_patterns']
const WITHOUT_PATHS = [
  ...['bash', 'run_tests', 'git_status', 'git_log', 'git_commit', 'ask_user_question', 'request_setup_change'],
  ...['request_dependency', 'web_fetch'],
]

/** The limits of one tool, which is the owner. */
const CONSTRAINT = object(
  'tool_constraint',
  'Tool constraints',
  {
    allowed_patterns: maybe(
      globs,
      'Paths the tool may touch; `@tests` for [`tests.patterns`](#tests). Not for tools without paths, such as `bash`.',
      '["tests/**"]',
      { unset: 'any path' },
    ),
    forbidden_patterns: maybe(globs, 'Paths it may not touch. Wins over `allowed_patterns`.', '["src/**"]'),
    allowed_commands: maybe(texts, '`bash` only: the words each simple command must begin with.', '["npm test"]', {
      unset: 'any command',
    }),
    forbidden_commands: maybe(texts, '`bash` only: the words no simple command may begin with.', '[git]'),
    network: maybe(flag, '`bash` only: whether the command may use the network of the machine.', 'false'),
    timeout_seconds: maybe(
      positive,
      '`bash` only: the time limit of a call, and the maximum that a call may ask for. Default: 60, and at most 600.',
      '60',
    ),
  },
  {
    words: '[constraints](#tool-constraints)',
    finish: (constraint, fields, { owner }) => {
      refuseMisplaced(fields, owner ?? '')
      return constraint
    },
  },
)
export type ConstraintDocument = TypeOf<typeof CONSTRAINT>

function refuseMisplaced(fields: Fields, tool: string): void {
  for (const key of tool === 'bash' ? [] : SHELL_ONLY) {
    if (fields.has(key))
      fields.reportBad(key, 'contract.invalid_value', `Only bash takes '${key}'.`, 'Move it under bash.')
  }
  for (const key of WITHOUT_PATHS.includes(tool) ? PATHS_ONLY : []) {
    const message = `The tool ${tool} has no path to compare with '${key}'.`
    const remedy = "Use the phase's writable to say what commands may change."
    if (fields.has(key)) fields.reportBad(key, 'contract.invalid_value', message, remedy)
  }
}

const artifactType = checked(
  { ...filled, words: 'id' },
  (type, bad) => {
    if (type === '' || new RegExp(ID_PATTERN).test(type)) return
    bad(`The artifact type '${type.slice(0, 80)}' is not accepted.`, undefined, 'contract.invalid_id')
  },
  { pattern: ID_PATTERN },
)

const ARTIFACT = object(
  'artifact',
  'Required artifacts',
  {
    type: need(artifactType, 'The type the artifact is handed in under.', 'plan_document'),
    schema: maybe(
      path,
      'The JSON Schema that it must match. See [built-in schemas](#built-in-schemas).',
      'schemas/plan.json',
      { unset: 'any JSON object' },
    ),
    description: otherwise(text, 'Shown to the agent.', 'The plan.', { fallback: '' }),
    validation: maybe(describedAs(list(VALIDATION)), 'Checks of this artifact.', '[{rule: has_summary}]'),
  },
  {
    words: '[artifacts](#required-artifacts)',
    finish: ({ validation, ...artifact }, _fields, scope) => ({
      ...artifact,
      validation: [
        ...(validation === undefined ? [] : (readList(VALIDATION, validation, scope, () => artifact.type) ?? [])),
      ],
    }),
  },
)
export type ArtifactDocument = TypeOf<typeof ARTIFACT>

const artifacts = checked(list(ARTIFACT), (required, _bad, { reading }) => {
  const seen = new Set<string>()
  for (const artifact of required) {
    if (seen.has(artifact.type)) {
      const message = `The artifact '${artifact.type}' is required twice in this phase.`
      reading.reportAt('contract.duplicate_id', [artifact, 'type'], message)
    }
    seen.add(artifact.type)
  }
})

const allowedTools: Kind<string[] | 'all'> = {
  read: (node, scope) => (node.kind === 'scalar' && node.value === 'all' ? 'all' : texts.read(node, scope)),
  json: { oneOf: [{ const: 'all' }, texts.json] },
  words: 'list of tools, or `all`',
}

const countFromZero: Kind<number> = {
  read: (node, scope) => (node.kind === 'scalar' && node.value === 0 ? 0 : positive.read(node, scope)),
  json: { type: 'integer', minimum: 0 },
  words: 'number',
}

const REVIEW = object('review', 'Independent review', {
  by: otherwise(choice(['other'] as const), 'Somebody other than the agent that did the work.', 'other', {
    fallback: 'other',
  }),
})

const FIELDS = {
  id: maybe(id, 'Unique; letters, digits, `_`, `.` and `-`, at most 64.', 'PLAN', { unset: 'required in a list' }),
  name: maybe(text, 'What people read.', 'Plan', { unset: 'the id' }),
  description: maybe(text, 'What the phase is for.', 'Propose a plan.'),
  prompt: otherwise(
    text,
    'Shown to the agent on entering. May hold [placeholders](#placeholders).',
    'Propose a plan for {{task.title}}.',
    { fallback: '' },
  ),
  allowed_tools: maybe(
    allowedTools,
    'The tools the agent may use, or [groups](extends.md#groups-of-tools) of them.',
    '["@read", bash]',
    {
      unset: 'none (in nodes: `all`)',
    },
  ),
  forbidden_tools: otherwise(
    { ...texts, words: 'list of tools' },
    'The tools or groups it may not use. Wins over `allowed_tools`.',
    '[bash]',
    { fallback: [] },
  ),
  tool_constraints: otherwise(
    mapOf(CONSTRAINT),
    'Limits of single tools, by tool name; `@read`, `@write` and `@shell` stand for their tools.',
    '{bash: {network: false}}',
    {
      fallback: {},
      unset: 'none',
    },
  ),
  writable: maybe(
    globs,
    'What may change in the work tree in this phase, by any means. `[]` means nothing.',
    '["tests/**"]',
    { unset: 'derived from the write tools' },
  ),
  required_artifacts: otherwise(artifacts, 'What must be handed in to leave the phase.', '[{type: plan_document}]', {
    fallback: [],
  }),
  checkpoint: maybe(
    checkpoint,
    'Evidence fields that must hold to leave the phase.',
    '{evidence: {count: {type: integer}}}',
  ),
  gates: otherwise(
    list(gateOfPhase),
    'The gates between this phase and the next. A text names a gate of the top-level map.',
    '[{id: plan_approval, type: approval}]',
    { fallback: [] },
  ),
  rules: maybe(
    describedAs(list(rule)),
    'Anti-patterns that interrupt the work.',
    '[{token_budget: {max_tokens: 5000}}]',
  ),
  consensus: maybe(CONSENSUS, 'Agents that vote as part of leaving the phase.', '{agents: [a, b], question: Ready?}'),
  auto_spawn: maybe(autoSpawns, 'Agents started on entering the phase.', '[{agent: reviewer}]', { isNone: isEmpty }),
  review: maybe(REVIEW, 'Who has to review the work before the phase is left.', '{by: other}'),
  tasks_in_order: otherwise(flag, 'Hand out the tasks of a document phase one at a time.', 'true', { fallback: false }),
  min_verified: otherwise(countFromZero, 'How many evidence fields must be graded above `reported`.', '1', {
    fallback: 0,
  }),
  document: maybe(
    PHASE_TEXT,
    'Where the phase was read from; part of the canonical form of a [workflow of documents](documents.md).',
    '{content: Read.}',
  ),
}

function finishPhase(phase: ReadOf<typeof FIELDS>, fields: Fields, scope: Scope) {
  const { rules, ...rest } = phase
  const settled = settleId(fields, phase.id, scope.owner, FIELDS.id.example)
  // Errors of a rule carry its id.
  const read = rules === undefined ? null : readList(rule, rules, scope, (index) => `${settled}[${index}]`)
  const made = {
    ...rest,
    id: settled,
    name: phase.name ?? settled,
    description: phase.description ?? '',
    allowed_tools: phase.allowed_tools ?? [],
    ...(read === null || read.length === 0 ? {} : { rules: read }),
  }
  completeReviewRules(made)
  return made
}

export type PhaseDocument = ReturnType<typeof finishPhase>
export const PHASE = object('phase', 'Phases', FIELDS, { finish: finishPhase })

/** A phase of a `nodes:` file. */
export const NODE = object(
  'node',
  'Nodes',
  {
    ...FIELDS,
    summary: maybe(text, 'Another word for `description`.', 'Write code.'),
    transitions: unkept(
      describedAs(list(NODE_TRANSITION)),
      'Where the node leads. `to: done` ends the run without `done` being written as a node; `to: restart_cycle` goes to the start node.',
      '[{when: code_complete, to: review}]',
      { words: 'list of [transitions](#transitions) without `from`', unset: 'none: the node is final' },
    ),
  },
  {
    finish: ({ summary = '', ...node }, fields, scope): PhaseDocument =>
      finishPhase(
        { ...node, description: node.description ?? summary, allowed_tools: node.allowed_tools ?? 'all' },
        fields,
        scope,
      ),
  },
)

// A review rule without names uses those of the phase's gates; if there are none, it requires at least one review.
function completeReviewRules(phase: Pick<PhaseDocument, 'gates' | 'required_artifacts'>): void {
  const demanded = phase.gates.flatMap((gate) => gate.blockers.flatMap((blocker) => blocker.required_reviews ?? []))
  for (const artifact of phase.required_artifacts) {
    for (const validation of artifact.validation) {
      if (validation.rule !== 'all_review_models_completed' || validation.required_reviews !== undefined) continue
      if (demanded.length > 0) validation.required_reviews = [...new Set(demanded)]
      else {
        validation.rule = 'expression'
        validation.when = `"reviews" in artifacts.${artifact.type} && size(artifacts.${artifact.type}.reviews) > 0`
      }
    }
  }
}
