import { REVIEWER_NAME } from '../../core/reviews/review.js'
import type { GateDocument } from '../document.js'
import type { ListNode, MapNode, SourceNode } from '../load/yaml.js'
import { Fields, readText } from './fields.js'
import { readBlockers } from './read-blockers.js'
import { readId } from './read-id.js'
import type { Reading } from './reading.js'

const GATE_TYPES = ['approval', 'validation'] as const
export const TIMEOUT_ACTIONS = ['park', 'reject'] as const
const GATE_SECONDS_DEFAULT = 3600
const GATE_KEYS = [
  'id',
  'type',
  'approvers',
  'min_approvals',
  'timeout_seconds',
  'on_timeout',
  'auto_advance',
  'blockers',
]

/** What operators, their roles and reviewers can be called. */
const APPROVER_NAME = new RegExp(`${REVIEWER_NAME}|^[A-Za-z0-9_.-]{1,64}$`)

export interface GateDefaults {
  readonly onTimeout: (typeof TIMEOUT_ACTIONS)[number]
  /** The top-level `gates` map, which transitions and phases name. */
  readonly shared: MapNode | null
}

/** The gates that stand inside a phase; a text names a gate of the top-level map. */
export function readGates(reading: Reading, list: ListNode, defaults: GateDefaults): GateDocument[] {
  return list.items.flatMap((item) => {
    if (item.kind !== 'scalar') return readGate(reading, item, defaults, null)
    const name = readText(reading, item)
    return name === null ? [] : copySharedGate(reading, name, defaults, item)
  })
}

/** A copy of the gate `name` of the top-level map. */
export function copySharedGate(
  reading: Reading,
  name: string,
  defaults: GateDefaults,
  asked: SourceNode,
): GateDocument[] {
  const entry = defaults.shared?.entries.get(name)
  if (entry !== undefined) return readGate(reading, entry.value, defaults, name)
  const known = [...(defaults.shared?.entries.keys() ?? [])]
  reading.report({
    code: 'contract.unknown_gate',
    at: asked.at,
    message: `The gate '${name}' is not defined.`,
    remedy: `Known gates: ${known.length === 0 ? 'none' : known.join(', ')}.`,
  })
  return []
}

export function readGate(
  reading: Reading,
  node: SourceNode,
  defaults: GateDefaults,
  name: string | null,
): GateDocument[] {
  const fields = Fields.openFields(reading, node, GATE_KEYS)
  if (fields === null) return []
  const id = readId(fields, name, 'plan_approval')
  if (!fields.has('type')) fields.reportMissing('type', 'approval')
  const type = fields.choice('type', GATE_TYPES, 'validation')
  const blockers = fields.list('blockers')
  const gate: GateDocument = {
    id,
    type,
    ...(type === 'approval' ? readApproval(fields) : refuseApproval(fields)),
    timeout_seconds: fields.getPositive('timeout_seconds', GATE_SECONDS_DEFAULT),
    on_timeout: fields.choice('on_timeout', TIMEOUT_ACTIONS, defaults.onTimeout),
    auto_advance: fields.getFlag('auto_advance', false),
    blockers: blockers === null ? [] : reading.made(readBlockers(reading, blockers), blockers),
  }
  if (gate.auto_advance && type === 'approval') {
    fields.reportBad(
      'auto_advance',
      'contract.invalid_value',
      'Only a validation gate can advance by itself.',
      'Remove auto_advance.',
    )
  }
  return [reading.made(gate, node)]
}

function readApproval(fields: Fields): Pick<GateDocument, 'approvers' | 'min_approvals'> {
  const approvers = fields.getTexts('approvers') ?? ['human']
  const min_approvals = fields.getPositive('min_approvals', 1)
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
  return { approvers, min_approvals }
}

function refuseApproval(fields: Fields): Record<string, never> {
  for (const key of ['approvers', 'min_approvals']) {
    if (!fields.has(key)) continue
    fields.reportBad(
      key,
      'contract.invalid_value',
      `A validation gate takes no '${key}'.`,
      'Use type: approval, or remove it.',
    )
  }
  return {}
}
