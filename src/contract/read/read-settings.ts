import type { Json, JsonObject } from '../../core/json.js'
import type { ContractDocument } from '../document.js'
import { findGlobProblem } from '../patterns.js'
import type { Fields } from './fields.js'
import { readAlerts } from './read-alerts.js'
import type { Reading } from './reading.js'

const TEST_PATTERNS = ['tests/**', '**/*.test.*', '**/*.spec.*', '**/__tests__/**']

const REPEAT_MAX = 20
const INVERTED_SECONDS_DEFAULT = 60

export function readTests(reading: Reading, root: Fields): ContractDocument['tests'] {
  const fields = root.openInner('tests', ['patterns', 'allow_changes', 'may_write', 'baseline', 'repeat', 'inverted'])
  if (fields === null) return { patterns: [...TEST_PATTERNS], allow_changes: false }
  const patterns = fields.getTexts('patterns') ?? [...TEST_PATTERNS]
  if (patterns.length === 0)
    fields.reportBad('patterns', 'contract.invalid_value', 'With no patterns, no file would be a test.')
  const mayWrite = fields.getTexts('may_write') ?? []
  for (const globs of [patterns, mayWrite])
    for (const [index, glob] of globs.entries()) {
      const problem = findGlobProblem(glob)
      const at = reading.locateReport(globs, index, 'contract.invalid_value')
      if (problem !== null) reading.report({ ...at, message: `The pattern '${glob}' is refused: ${problem}.` })
    }
  const baseline = fields.choice('baseline', ['tolerate', 'forbid'], 'tolerate')
  const repeat = fields.getPositive('repeat', 1)
  if (repeat > REPEAT_MAX)
    fields.reportBad('repeat', 'contract.invalid_value', `Tests are run at most ${REPEAT_MAX} times.`)
  const inverted = readInverted(fields)
  const tests = {
    patterns,
    allow_changes: fields.getFlag('allow_changes', false),
    // Defaults are left out: a contract that says nothing of them keeps its fingerprint.
    ...(mayWrite.length === 0 ? {} : { may_write: mayWrite }),
    ...(baseline === 'tolerate' ? {} : { baseline }),
    ...(repeat === 1 ? {} : { repeat }),
    ...(inverted === null ? {} : { inverted }),
  }
  return reading.made(tests, fields.node)
}

const INVERTED_REMEDY =
  'Write strict, or a map such as {max_seconds: 120, strict: true}. To do without the inverted run, remove the check tests_can_fail; to be warned only, give it severity: warning.'

/** `inverted: strict`, or a map. */
function readInverted(fields: Fields): NonNullable<ContractDocument['tests']['inverted']> | null {
  const given = fields.get('inverted')
  if (given?.kind === 'scalar') {
    if (given.value !== 'strict')
      fields.reportBad(
        'inverted',
        'contract.invalid_value',
        `tests.inverted cannot be '${given.value ?? ''}'.`,
        INVERTED_REMEDY,
      )
    return { strict: true }
  }
  const inner = fields.openInner('inverted', ['max_seconds', 'strict'])
  if (inner === null) return null
  const inverted = {
    ...(inner.has('max_seconds') ? { max_seconds: inner.getPositive('max_seconds', INVERTED_SECONDS_DEFAULT) } : {}),
    ...(inner.getFlag('strict', false) ? { strict: true as const } : {}),
  }
  return Object.keys(inverted).length === 0 ? null : inverted
}

export function readWeb(reading: Reading, root: Fields): ContractDocument['web'] {
  const fields = root.openInner('web', ['allowed_hosts'])
  if (fields === null) return { allowed_hosts: [] }
  const hosts = fields.getTexts('allowed_hosts') ?? []
  for (const [index, host] of hosts.entries()) {
    if (/^(\*\.)?[A-Za-z0-9.-]+(:\d+)?$/.test(host)) continue
    const at = reading.locateReport(hosts, index, 'contract.invalid_value')
    reading.report({ ...at, message: `'${host}' is not a host name.`, remedy: 'Write a host such as docs.python.org.' })
  }
  return reading.made({ allowed_hosts: hosts }, fields.node)
}

export interface Recovery {
  readonly gateTimeout: 'park' | 'reject'
  /** What is kept in the document: the parts beside the gates' time-out, which goes into each gate. */
  readonly kept: JsonObject | null
}

/** `recovery:`; `escalate_to_human` is another word for park. */
export function readRecovery(reading: Reading, root: Fields): Recovery {
  const fields = root.openInner('recovery', ['agent_crash', 'orchestrator_crash', 'gate_timeout'])
  if (fields === null) return { gateTimeout: 'park', kept: null }
  const gate = fields.openInner('gate_timeout', ['action', 'preserve_state'])
  const action = gate?.choice('action', ['park', 'reject', 'escalate_to_human'], 'park') ?? 'park'
  if (gate !== null && !gate.getFlag('preserve_state', true)) {
    gate.reportBad('preserve_state', 'contract.effect_differs', 'State is always kept when a gate times out.')
  }
  const kept: Record<string, Json> = {}
  const agent = fields.openInner('agent_crash', ['action', 'max_retries', 'backoff_seconds'])
  if (agent !== null) {
    const crash = {
      action: agent.choice('action', ['retry', 'park', 'escalate_to_human'], 'retry'),
      max_retries: agent.getPositive('max_retries', 3),
      backoff_seconds: agent.getPositive('backoff_seconds', 60),
    }
    kept.agent_crash = reading.made(crash, agent.node)
  }
  const own = fields.openInner('orchestrator_crash', ['resume_from', 'checkpoint_interval_seconds'])
  if (own !== null) {
    const message =
      'Nothing acknowledged is lost: after a crash work resumes from the last event, not from a checkpoint.'
    for (const key of ['resume_from', 'checkpoint_interval_seconds']) {
      if (own.has(key)) own.reportBad(key, 'contract.effect_differs', message)
    }
    const crash: Record<string, Json> = {}
    if (own.has('resume_from')) crash.resume_from = own.getText('resume_from')
    if (own.has('checkpoint_interval_seconds')) {
      crash.checkpoint_interval_seconds = own.getPositive('checkpoint_interval_seconds', 300)
    }
    kept.orchestrator_crash = reading.made(crash, own.node)
  }
  const gateTimeout = action === 'reject' ? 'reject' : 'park'
  return { gateTimeout, kept: Object.keys(kept).length === 0 ? null : reading.made(kept, fields.node) }
}

const METRICS_DIFFER =
  'The list chooses nothing: GET /metrics and GET /metrics/summary always serve everything that is counted.'

export function readMonitoring(reading: Reading, root: Fields): JsonObject | null {
  const fields = root.openInner('monitoring', ['metrics', 'export', 'alerts'])
  if (fields === null) return null
  const monitoring: Record<string, Json> = {}
  const metrics = fields.getTexts('metrics')
  if (metrics !== null) monitoring.metrics = metrics
  if (metrics !== null && metrics.length > 0) fields.reportBad('metrics', 'contract.effect_differs', METRICS_DIFFER)
  const target = fields.openInner('export', ['type', 'path'])
  if (target !== null) {
    const type = target.choice('type', ['jsonl', 'prometheus'], 'jsonl')
    monitoring.export = reading.made(
      { type, ...(target.has('path') ? { path: target.getText('path') } : {}) },
      target.node,
    )
    const message = 'Metrics are served by the server; no file is written.'
    if (type === 'jsonl' && target.has('type'))
      target.reportBad(
        'type',
        'contract.effect_differs',
        'Metrics are served in the format of Prometheus, not as lines of JSON.',
      )
    if (target.has('path')) target.reportBad('path', 'contract.effect_differs', message)
  }
  const alerts = fields.list('alerts')
  if (alerts !== null) monitoring.alerts = reading.made(readAlerts(reading, alerts), alerts)
  return Object.keys(monitoring).length === 0 ? null : reading.made(monitoring, fields.node)
}

export function readKnowledge(reading: Reading, root: Fields): JsonObject | null {
  const fields = root.openInner('knowledge', ['sources'])
  if (fields === null) return null
  if (!fields.has('sources')) fields.reportMissing('sources', '["docs/**/*.md"]')
  return reading.made({ sources: fields.getTexts('sources') ?? [] }, fields.node)
}
