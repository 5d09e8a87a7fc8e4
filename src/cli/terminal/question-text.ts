import type { JsonObject } from '../../core/json.js'
import { formatTime, toText } from '../client/answer-values.js'
import { toPlainLine, toPlainText } from './plain-text.js'
import { formatTable } from './table.js'
import { paintText } from './terminal.js'

export function formatQuestionTable(questions: readonly JsonObject[]): string {
  return formatTable(questions, [
    { title: 'ID', text: (one) => toText(one.id) },
    { title: 'STATUS', text: (one) => toText(one.status) },
    { title: 'TASK', text: (one) => toText(one.task_title), isFlexible: true },
    { title: 'QUESTION', text: (one) => toText(one.question), isFlexible: true },
  ])
}

/** One question whole, with its options numbered as `--option` takes them. */
export function formatQuestion(question: JsonObject): string {
  const field = (label: string, text: string): string => `  ${label.padEnd(10)} ${toPlainLine(text)}`
  const raw = toText(question.question)
  const text = toPlainText(raw)
  const hidden = raw.replaceAll('\r\n', '\n').length - text.length
  return [
    `${paintText('bold', toPlainLine(toText(question.id)))}  ${toPlainLine(toText(question.task_title))}`,
    field('Task', `${toText(question.task_id)}, agent ${toText(question.agent_id)}, phase ${toText(question.phase)}`),
    field('Status', toText(question.status)),
    field('Asked', formatTime(question.asked_at)),
    '',
    ...text.split('\n').map((line) => `  ${line}`),
    ...(hidden > 0 ? [`  ! ${hidden} control or invisible characters were taken out; --json shows them`] : []),
    ...listOptions(question).map((option, at) => `    ${at + 1}  ${toPlainLine(option)}`),
    ...formatAnswerLines(question),
    '',
  ].join('\n')
}

export function listOptions(question: JsonObject): readonly string[] {
  return Array.isArray(question.options) ? question.options.map((option) => String(option)) : []
}

function formatAnswerLines(question: JsonObject): readonly string[] {
  if (question.answer === null || question.answer === undefined) return []
  const lines = toPlainText(toText(question.answer)).split('\n')
  const by = `${toText(question.answered_by)}, ${formatTime(question.answered_at)}`
  return ['', `  ${paintText('bold', 'Answer')} by ${toPlainLine(by)}`, ...lines.map((line) => `  ${line}`)]
}
