import type { JsonObject } from '../../core/json.js'
import { textOf, timeOf } from '../client/answer-values.js'
import { plainLine, plainText } from './plain-text.js'
import { table } from './table.js'
import { paint } from './terminal.js'

export function questionTable(questions: readonly JsonObject[]): string {
  return table(questions, [
    { title: 'ID', text: (one) => textOf(one.id) },
    { title: 'STATUS', text: (one) => textOf(one.status) },
    { title: 'TASK', text: (one) => textOf(one.task_title), isFlexible: true },
    { title: 'QUESTION', text: (one) => textOf(one.question), isFlexible: true },
  ])
}

/** One question whole, with its options numbered as `--option` takes them. */
export function questionText(question: JsonObject): string {
  const field = (label: string, text: string): string => `  ${label.padEnd(10)} ${plainLine(text)}`
  const raw = textOf(question.question)
  const text = plainText(raw)
  const hidden = raw.replaceAll('\r\n', '\n').length - text.length
  return [
    `${paint('bold', plainLine(textOf(question.id)))}  ${plainLine(textOf(question.task_title))}`,
    field('Task', `${textOf(question.task_id)}, agent ${textOf(question.agent_id)}, phase ${textOf(question.phase)}`),
    field('Status', textOf(question.status)),
    field('Asked', timeOf(question.asked_at)),
    '',
    ...text.split('\n').map((line) => `  ${line}`),
    ...(hidden > 0 ? [`  ! ${hidden} control or invisible characters were taken out; --json shows them`] : []),
    ...optionsOf(question).map((option, at) => `    ${at + 1}  ${plainLine(option)}`),
    ...answerLines(question),
    '',
  ].join('\n')
}

export function optionsOf(question: JsonObject): readonly string[] {
  return Array.isArray(question.options) ? question.options.map((one) => String(one)) : []
}

function answerLines(question: JsonObject): readonly string[] {
  if (question.answer === null || question.answer === undefined) return []
  const lines = plainText(textOf(question.answer)).split('\n')
  const by = `${textOf(question.answered_by)}, ${timeOf(question.answered_at)}`
  return ['', `  ${paint('bold', 'Answer')} by ${plainLine(by)}`, ...lines.map((line) => `  ${line}`)]
}
