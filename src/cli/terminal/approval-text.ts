import type { Json, JsonObject } from '../../core/json.js'
import { formatTime, listOf, toObject, toText } from '../client/answer-values.js'
import { toPlainLine, toPlainText } from './plain-text.js'
import { formatTable } from './table.js'
import { paintText } from './terminal.js'

const LINES_MAX = 200
const LINE_CHARS_MAX = 2000

export function formatApprovalTable(approvals: readonly JsonObject[]): string {
  return formatTable(approvals, [
    { title: 'ID', text: (one) => toText(one.id) },
    { title: 'GATE', text: (one) => toText(one.gate), isFlexible: true },
    { title: 'STEP', text: (one) => `${toText(one.phase)} -> ${toText(one.target_phase)}` },
    { title: 'TASK', text: (one) => toText(one.task_title), isFlexible: true },
  ])
}

/** Exactly what is to be approved: every artifact with its digest and content. */
export function formatApproval(approval: JsonObject): string {
  const contents = toObject(approval.contents)
  const field = (label: string, text: string): string => `  ${label.padEnd(10)} ${toPlainLine(text)}`
  return [
    `${paintText('bold', toPlainLine(toText(approval.id)))}  ${toPlainLine(toText(approval.task_title))}`,
    field('Task', `${toText(approval.task_id)}, agent ${toText(approval.agent_id) || '-'}`),
    field('Step', `${toText(approval.phase)} -> ${toText(approval.target_phase)}, gate ${toText(approval.gate)}`),
    field('Approvers', formatApprovers(approval)),
    // The digest is of the files, too, and they are not shown here.
    field('Work tree', toText(approval.workspace)),
    field('Status', toText(approval.status)),
    field('Expires', formatTime(approval.expires_at)),
    field('Digest', toText(approval.digest)),
    ...listOf(approval.decisions).map((one) => field('Decided', formatDecision(one))),
    ...listOf(approval.warnings).map((one) => field('Warning', toText(one.message))),
    ...listOf(approval.artifacts).flatMap((artifact) => formatArtifactLines(artifact, contents[toText(artifact.type)])),
    ...(listOf(approval.artifacts).length === 0 ? ['', '  There are no artifacts.'] : []),
    ...formatEvidenceLines(toObject(approval.evidence)),
    '',
  ].join('\n')
}

/** What became of an approval with the answer that was just given. */
export function formatDecided(approval: JsonObject): string {
  if (approval.status !== 'pending') return `is ${toPlainLine(toText(approval.status))}`
  const given = listOf(approval.decisions).filter((one) => one.decision === 'approve').length
  const more = Number(approval.min_approvals) - given
  return `has your approval and needs ${more} more of ${toPlainLine(toText(approval.approvers))}`
}

/** Why an approval takes no answer any more. */
export function formatEnded(approval: JsonObject): string {
  const by = toPlainLine(toText(listOf(approval.decisions).at(-1)?.by))
  switch (approval.status) {
    case 'approved':
    case 'used':
      return `was approved already, by ${by}`
    case 'rejected':
      return `was rejected already, by ${by}`
    case 'expired':
      return `has expired: nobody answered until ${formatTime(approval.expires_at)}`
    default:
      return 'is void: the task does not wait with this content any more'
  }
}

function formatApprovers(approval: JsonObject): string {
  const names = toText(approval.approvers)
  if (approval.min_approvals !== 1) return `${toText(approval.min_approvals)} of ${names}`
  return names.includes(',') ? `one of ${names}` : names
}

function formatDecision({ decision, by, comment }: JsonObject): string {
  const said = toText(comment)
  return `${decision === 'approve' ? 'approved' : 'rejected'} by ${toText(by)}${said === '' ? '' : `: ${said}`}`
}

function formatArtifactLines(artifact: JsonObject, content: Json | undefined): readonly string[] {
  return [
    '',
    `${paintText('bold', toPlainLine(toText(artifact.type)))}  ${toText(artifact.bytes)} bytes, ${toText(artifact.grade)}`,
    `  sha256 ${toPlainLine(toText(artifact.sha256))}`,
    ...formatContentLines(content ?? null),
  ]
}

function formatEvidenceLines(evidence: JsonObject): readonly string[] {
  return Object.keys(evidence).length === 0 ? [] : ['', paintText('bold', 'Evidence'), ...formatContentLines(evidence)]
}

/** What an agent wrote, made safe to print, with a word about what is not shown. */
function formatContentLines(content: Json): readonly string[] {
  const raw = formatValue(content, '').replace(/^\n/, '')
  const text = toPlainText(raw)
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

/** A value as people read it: keys, lists with dashes, texts as they are. */
function formatValue(value: Json, indent: string): string {
  if (typeof value === 'string') return value.split('\n').join(`\n${indent}`)
  if (value === null || typeof value !== 'object') return String(value)
  if (Array.isArray(value)) {
    if (value.length === 0) return '(none)'
    return (value as readonly Json[])
      .map((one) => `\n${indent}- ${formatValue(one, `${indent}  `).trimStart()}`)
      .join('')
  }
  return sortTitleFirst(Object.entries(value as JsonObject))
    .map(([key, one]) => {
      const text = formatValue(one, `${indent}  `)
      return `\n${indent}${key}:${text.startsWith('\n') ? '' : ' '}${text}`
    })
    .join('')
}

// Contents are kept with their keys in order of the alphabet; people look for what it is about.
function sortTitleFirst(entries: readonly (readonly [string, Json])[]): readonly (readonly [string, Json])[] {
  return [...entries.filter(([key]) => key === 'title'), ...entries.filter(([key]) => key !== 'title')]
}

function cutLine(line: string): string {
  const left = line.length - LINE_CHARS_MAX
  return left <= 0
    ? line
    : `${line.slice(0, LINE_CHARS_MAX)}… ${left} characters are not shown: read them with \`phaselock approvals ID --json\``
}
