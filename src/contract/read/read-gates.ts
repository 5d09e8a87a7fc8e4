import { REVIEWER_NAME } from '../../core/reviews/review.js'
import type { SourceNode } from '../load/yaml.js'
import { has, hasNone, when } from '../schema/conditions.js'
import {
  choice,
  filled,
  flag,
  type Kind,
  list,
  positive,
  readText,
  type Scope,
  type TypeOf,
  texts,
} from '../schema/kinds.js'
import { maybe, need, object, otherwise, type ReadOf } from '../schema/object.js'
import type { Fields } from './fields.js'
import { BLOCKER } from './read-blockers.js'
import { id, settleId } from './read-id.js'
import type { Reading } from './reading.js'

/** Valid names of operators, roles and reviewers. */
const APPROVER_NAME = new RegExp(`${REVIEWER_NAME}|^[A-Za-z0-9_.-]{1,64}$`)

const FIELDS = {
  id: maybe(id, 'Unique in its phase.', 'plan_approval', { unset: 'required in a list' }),
  type: need(
    choice(['approval', 'validation'] as const, 'validation'),
    'Whether somebody must approve, or only checks must hold.',
    'approval',
  ),
  approvers: maybe(
    texts,
    'Approval gates: who may approve. `human` is every operator without the role `ci`; `orchestrator` alone approves when every blocking check holds; together with `human`, the human decides. Any other name is an operator, a role, or a reviewer of the task who answers with its review token.',
    '[human]',
    { words: 'list of names or roles', unset: '`[human]`', json: { minItems: 1 } },
  ),
  min_approvals: maybe(positive, 'Approval gates: how many must approve the same content.', '2', { unset: '`1`' }),
  timeout_seconds: otherwise(positive, 'How long the approval or the checks may take.', '3600', { fallback: 3600 }),
  on_timeout: maybe(choice(['park', 'reject'] as const, 'park'), 'What happens when the time is over.', 'park', {
    unset: '`recovery.gate_timeout.action`, else `park`',
  }),
  auto_advance: otherwise(
    flag,
    'Validation gates: Phaselock makes the transition itself as soon as the checks hold ([below](#auto-advance)).',
    'true',
    { fallback: false },
  ),
  blockers: otherwise(list(BLOCKER), 'The checks that must hold.', '[{check: all_tests_pass}]', { fallback: [] }),
}

export type GateDocument = TypeOf<typeof GATE>
export const GATE = object('gate', 'Gates', FIELDS, {
  json: {
    allOf: [
      when(has('type', { const: 'validation' }), hasNone(['approvers', 'min_approvals']), {
        properties: { auto_advance: { const: false } },
      }),
      when(has('approvers', { type: 'array', items: { const: 'orchestrator' } }), {
        properties: { min_approvals: { maximum: 1 } },
      }),
    ],
  },
  finish: ({ approvers, min_approvals, ...gate }, fields, { reading, owner }) => {
    if (gate.auto_advance && gate.type === 'approval') {
      const message = 'Only a validation gate can advance by itself.'
      fields.reportBad('auto_advance', 'contract.invalid_value', message, 'Remove auto_advance.')
    }
    const approval = { approvers: approvers ?? ['human'], min_approvals: min_approvals ?? 1 }
    if (gate.type === 'approval') checkApproval(fields, approval)
    else refuseApproval(fields)
    return {
      ...gate,
      id: settleId(fields, gate.id, owner, FIELDS.id.example),
      on_timeout: gate.on_timeout ?? reading.gates.onTimeout,
      ...(gate.type === 'approval' ? approval : ({} as Partial<typeof approval>)),
    }
  },
})

function checkApproval(
  fields: Fields,
  { approvers, min_approvals }: Required<Pick<ReadOf<typeof FIELDS>, 'approvers' | 'min_approvals'>>,
): void {
  if (approvers.length === 0) {
    fields.reportBad('approvers', 'contract.no_approver', 'The approval gate lists no approver.')
  } else if (approvers.every((approver) => approver === 'orchestrator') && min_approvals > 1) {
    const message = `${min_approvals} approvals are demanded, but only the orchestrator could answer.`
    fields.reportBad('min_approvals', 'contract.no_approver', message, 'Add human, or demand one approval.')
  } else if (!approvers.some((name) => APPROVER_NAME.test(name))) {
    const message = `Nobody can be called ${approvers.map((name) => `'${name.slice(0, 80)}'`).join(', ')}.`
    fields.reportBad(
      'approvers',
      'contract.no_approver',
      message,
      'List human, or names of operators, roles or reviewers.',
    )
  } else if (approvers.includes('orchestrator') && approvers.includes('human')) {
    fields.reportBad(
      'approvers',
      'contract.human_decides',
      "With both 'human' and 'orchestrator' listed, the human decides.",
    )
  }
}

function refuseApproval(fields: Fields): void {
  for (const key of ['approvers', 'min_approvals']) {
    const message = `A validation gate takes no '${key}'.`
    if (fields.has(key)) fields.reportBad(key, 'contract.invalid_value', message, 'Use type: approval, or remove it.')
  }
}

/** A gate of a phase; a text names a gate of the top-level map. */
export const gateOfPhase: Kind<GateDocument> = {
  ...GATE,
  json: { oneOf: [filled.json, { allOf: [GATE.json, { required: ['id'] }] }] },
  read: (node, scope) => {
    if (node.kind !== 'scalar') return GATE.read(node, scope)
    const name = readText(scope.reading, node)
    return name === null ? null : readSharedGate(scope.reading, name, node)
  },
}

/** A copy of the gate `name` of the top-level map. */
export function readSharedGate(reading: Reading, name: string, asked: SourceNode): GateDocument | null {
  const { shared } = reading.gates
  const entry = shared?.entries.get(name)
  const scope: Scope = { reading, key: name, example: '', owner: name }
  if (entry !== undefined) return GATE.read(entry.value, scope)
  reading.report({
    code: 'contract.unknown_gate',
    at: asked.at,
    message: `The gate '${name}' is not defined.`,
    remedy: `Known gates: ${[...(shared?.entries.keys() ?? [])].join(', ') || 'none'}.`,
  })
  return null
}
