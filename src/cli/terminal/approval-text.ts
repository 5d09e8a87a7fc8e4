import type { Approval, Artifact, Decision, Json, JsonObject, PassedGate, SinceLast } from 'phaselock/sdk'
import { formatEndedApproval } from '../../core/approvals/ended-approval.js'
import { plainLine, plainText } from '../../core/plain-text.js'
import { formatCount } from '../../core/text.js'
import { formatTime } from '../client/answer-values.js'
import { formatChecks, formatGatesBefore, formatGradeLegend } from './checks-text.js'
import { formatDiff, formatDiffStat } from './diff-text.js'
import { formatTable } from './table.js'
import { paintText } from './terminal.js'

const LINES_MAX = 200
const LINE_CHARS_MAX = 2000
const PATHS_MAX = 20

export function formatApprovalTable(approvals: readonly Approval[]): string {
  return formatTable(approvals, [
    { title: 'ID', text: (approval) => approval.id },
    { title: 'GATE', text: (approval) => approval.gate, isFlexible: true },
    { title: 'STEP', text: (approval) => `${approval.phase} -> ${approval.target_phase}` },
    { title: 'TASK', text: (approval) => approval.task_title, isFlexible: true },
  ])
}

interface ApprovalOptions {
  readonly stat?: boolean
  /** The gates of the task. */
  readonly gates?: readonly PassedGate[]
}

/** Exactly the content to approve: every artifact with its digest and content, the checks, and the diff. */
export function formatApproval(approval: Approval, options: ApprovalOptions = {}): string {
  const { contents = {}, artifacts } = approval
  const field = (label: string, text: string): string => `  ${label.padEnd(10)} ${plainLine(text)}`
  return [
    `${paintText('bold', plainLine(approval.id))}  ${plainLine(approval.task_title)}`,
    field('Task', `${approval.task_id}, agent ${approval.agent_id ?? '-'}`),
    field('Step', `${approval.phase} -> ${approval.target_phase}, gate ${approval.gate}`),
    field('Approvers', formatApprovers(approval)),
    field('Work tree', approval.workspace),
    ...(approval.outdated === true ? [field('Outdated', OUTDATED)] : []),
    field('Status', approval.status),
    field('Expires', formatTime(approval.expires_at)),
    field('Digest', approval.digest),
    ...approval.decisions.map((decision) => field('Decided', formatDecision(decision))),
    ...approval.warnings.map((warning) => field('Warning', String(warning.message))),
    ...artifacts.flatMap((artifact) =>
      formatArtifactLines(artifact, omitShown(approval, artifact.type, contents[artifact.type])),
    ),
    ...(artifacts.length === 0 ? ['', '  There are no artifacts.'] : []),
    ...formatEvidenceLines(approval.evidence),
    ...formatLastLines(approval.since_last ?? null),
    ...formatCheckLines(approval, options.gates ?? []),
    ...formatDiffLines(approval, options),
    '',
  ].join('\n')
}

const OUTDATED = 'the work tree changed since the request; the diff shows what was asked about'

function formatLastLines(last: SinceLast | null): readonly string[] {
  if (last === null) return []
  const said = last.comment === '' ? '' : `: ${last.comment}`
  const paths = last.changed_paths ?? []
  const changed = [...last.changed_artifacts, ...paths.slice(0, PATHS_MAX)].map((name) => `  ${plainLine(name)}`)
  const more = paths.length > PATHS_MAX ? [`  and ${paths.length - PATHS_MAX} more`] : []
  return [
    '',
    `${paintText('bold', 'Since the last request')}  ${plainLine(`${last.decision}${last.by === null ? '' : ` by ${last.by}`}${said}`)}`,
    ...(changed.length === 0 ? ['  nothing changed'] : [...changed, ...more]),
  ]
}

function formatCheckLines(
  { checks = [], refusals = [], phase }: Approval,
  gates: readonly PassedGate[],
): readonly string[] {
  const before = formatGatesBefore(gates, phase)
  const graded = before.length === 0 ? checks : [...checks, ...gates.flatMap((gate) => gate.checks)]
  return [
    ...before,
    ...(checks.length === 0 ? [] : ['', paintText('bold', 'Checks'), ...formatChecks(checks)]),
    ...formatGradeLegend(graded),
    ...(refusals.length === 0 ? [] : ['', `${formatCount(refusals.length, 'refusal')} on the way`]),
  ]
}

/** The artifact that Phaselock makes of the changes has the diff and the checks too. Each is shown once, at the end. */
export const CHANGES_ARTIFACT = 'changes_to_review'

function omitShown({ diff, checks = [] }: Approval, type: string, content: Json | undefined): Json | undefined {
  if (type !== CHANGES_ARTIFACT || diff?.available !== true || !isObject(content) || !Array.isArray(content.changes))
    return content
  const changes = (content.changes as readonly Json[]).map((change) =>
    isObject(change) && typeof change.diff === 'string' ? { ...change, diff: 'below, under Changes' } : change,
  )
  const { checks: own, ...rest } = content
  return { ...rest, ...(own === undefined || checks.length > 0 ? {} : { checks: own }), changes }
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function formatDiffLines({ diff }: Approval, { stat }: { readonly stat?: boolean }): readonly string[] {
  // Before anything may be written there is nothing to say about changes.
  if (diff === undefined || (diff.available && diff.totals.files === 0)) return []
  return ['', paintText('bold', 'Changes'), stat === true ? formatDiffStat(diff) : formatDiff(diff)]
}

/** The state of an approval after the answer that was just given. */
export function formatDecided({ status, decisions, min_approvals, approvers }: Approval): string {
  if (status !== 'pending') return `is ${plainLine(status)}`
  const more = min_approvals - decisions.filter((decision) => decision.decision === 'approve').length
  return `has your approval and needs ${more} more of ${plainLine(approvers.join(', '))}`
}

/** Why an approval cannot be answered any more. */
export function formatEnded({ status, expires_at, decisions }: Approval): string {
  const ended = {
    status,
    expiresAt: Date.parse(expires_at),
    decisions: decisions.map(({ by, comment, at, channel }) => ({
      ...{ by, comment: comment ?? '', at: Date.parse(at) },
      ...(channel === undefined ? {} : { channel }),
    })),
  }
  return plainLine(formatEndedApproval(ended, Date.now()))
}

function formatApprovers({ approvers, min_approvals }: Approval): string {
  const names = approvers.map((name) => (name === 'human' ? 'a person' : name)).join(', ')
  if (min_approvals !== 1) return `${min_approvals} of ${names}`
  return approvers.length > 1 ? `one of ${names}` : names
}

function formatDecision({ decision, by, comment }: Decision): string {
  const said = comment === null || comment === '' ? '' : `: ${comment}`
  return `${decision === 'approve' ? 'approved' : 'rejected'} by ${by}${said}`
}

/** An agent's value as lines of plain text. */
export function formatContent(content: Json): readonly string[] {
  return plainText(formatValue(content, '').replace(/^\n/, '')).split('\n')
}

function formatArtifactLines(artifact: Artifact, content: Json | undefined): readonly string[] {
  return [
    '',
    `${paintText('bold', plainLine(artifact.type))}  ${artifact.bytes} bytes, ${artifact.grade}`,
    `  sha256 ${plainLine(artifact.sha256)}`,
    ...formatContentLines(content ?? null),
  ]
}

function formatEvidenceLines(evidence: JsonObject): readonly string[] {
  return Object.keys(evidence).length === 0 ? [] : ['', paintText('bold', 'Evidence'), ...formatContentLines(evidence)]
}

/** An agent's text made safe to print, with a note about what is not shown. */
function formatContentLines(content: Json): readonly string[] {
  const raw = formatValue(content, '').replace(/^\n/, '')
  const text = plainText(raw)
  const lines = text.split('\n')
  const hidden = raw.length - text.length
  return [
    ...lines.slice(0, LINES_MAX).map((line) => `  ${cutLine(line)}`),
    ...(lines.length > LINES_MAX
      ? [`  … ${lines.length - LINES_MAX} lines are not shown: read them with \`phaselock approvals ID --json\``]
      : []),
    ...(hidden > 0 ? [`  ! ${hidden} control or invisible characters were taken out; --json shows them`] : []),
  ]
}

/** A value formatted for people: keys, lists with dashes, texts unchanged. */
function formatValue(value: Json, indent: string): string {
  if (typeof value === 'string') return value.split('\n').join(`\n${indent}`)
  if (value === null || typeof value !== 'object') return String(value)
  if (Array.isArray(value)) {
    if (value.length === 0) return '(none)'
    return (value as readonly Json[])
      .map((one) => `\n${indent}- ${formatValue(one, `${indent}  `).trimStart()}`)
      .join('')
  }
  return sortTopicFirst(Object.entries(value as Readonly<Record<string, Json>>))
    .map(([key, one]) => {
      const text = formatValue(one, `${indent}  `)
      return `\n${indent}${key}:${text.startsWith('\n') ? '' : ' '}${text}`
    })
    .join('')
}

// Stored contents have their keys in alphabetical order; people look for the topic first.
const TOPICS = ['title', 'id', 'criterion', 'path', 'run', 'summary']

function sortTopicFirst(entries: readonly (readonly [string, Json])[]): readonly (readonly [string, Json])[] {
  const placeOf = ([key]: readonly [string, Json]): number =>
    (TOPICS.indexOf(key) + TOPICS.length + 1) % (TOPICS.length + 1)
  return entries.toSorted((a, b) => placeOf(a) - placeOf(b))
}

function cutLine(line: string): string {
  const left = line.length - LINE_CHARS_MAX
  return left <= 0
    ? line
    : `${line.slice(0, LINE_CHARS_MAX)}… ${left} characters are not shown: read them with \`phaselock approvals ID --json\``
}
