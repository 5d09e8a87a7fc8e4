import type { EvidenceField } from '../contract/contract.js'
import type { Json } from '../json.js'
import type { ObservedRun } from './observed-run.js'

/** The source of an observed evidence field: a member of a run of one of the contract's commands. */
export interface ObservedSource {
  readonly command: string
  readonly member: ObservedMember
}

/** Members of a run: `<command>_<member>` names one; a bare command name means `succeeded` or its percentage. */
export const OBSERVED_MEMBERS = ['succeeded', 'exit_code', 'passed', 'failed', 'skipped', 'total', 'coverage'] as const
type ObservedMember = (typeof OBSERVED_MEMBERS)[number]

const TYPE_OF: Readonly<Record<ObservedMember, 'boolean' | 'integer' | 'number'>> = {
  succeeded: 'boolean',
  exit_code: 'integer',
  passed: 'integer',
  failed: 'integer',
  skipped: 'integer',
  total: 'integer',
  coverage: 'number',
}

/** The run member that fills the field; null when name and type match none. */
export function findObservedSource(
  commands: Iterable<string>,
  name: string,
  type: EvidenceField['type'],
): ObservedSource | null {
  // If two command names share a prefix, the longer one is meant.
  const known = [...commands].sort((a, b) => b.length - a.length)
  for (const command of known) {
    if (name === command)
      return keepIfTypeFits({ command, member: type === 'boolean' ? 'succeeded' : 'coverage' }, type)
    const member = OBSERVED_MEMBERS.find((one) => name === `${command}_${one}`)
    if (member !== undefined) return keepIfTypeFits({ command, member }, type)
  }
  return null
}

function keepIfTypeFits(source: ObservedSource, type: EvidenceField['type']): ObservedSource | null {
  const given = TYPE_OF[source.member]
  return given === type || (given === 'integer' && type === 'number') ? source : null
}

type ObservedValue = { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly why: string }

/** The value from the run; a text if the run is unusable. */
export function readObservedValue(source: ObservedSource, run: ObservedRun): ObservedValue {
  if (run.wasStopped) return { ok: false, why: run.problem ?? 'it was stopped' }
  // A program's exit status is known whatever its output says.
  if (source.member === 'exit_code') return { ok: true, value: run.exitCode }
  if (source.member === 'succeeded') return { ok: true, value: run.exitCode === 0 }
  if (run.problem !== null) return { ok: false, why: run.problem }
  if (source.member === 'coverage') return readCoverage(run)
  if (run.counts === null) return { ok: false, why: 'it reported no counts' }
  const { passed, failed, skipped } = run.counts
  return { ok: true, value: source.member === 'total' ? passed + failed + skipped : run.counts[source.member] }
}

function readCoverage(run: ObservedRun): ObservedValue {
  if (run.exitCode !== 0 && run.explainedBy === undefined)
    return { ok: false, why: `it ended with exit code ${run.exitCode}` }
  return run.coverage === null ? { ok: false, why: 'it reported no coverage' } : { ok: true, value: run.coverage }
}
