import type { Question } from 'phaselock/sdk'
import { plainLine, plainText } from '../../core/plain-text.js'
import { timeOf } from '../client/answer-values.js'
import { table } from './table.js'
import { paint } from './terminal.js'

export function questionTable(questions: readonly Question[]): string {
  return table(questions, [
    { title: 'ID', text: (one) => one.id },
    { title: 'STATUS', text: (one) => one.status },
    { title: 'TASK', text: (one) => one.task_title, isFlexible: true },
    { title: 'QUESTION', text: (one) => one.question, isFlexible: true },
  ])
}

/** One question whole, with its options numbered as `--option` takes them. */
export function questionText(question: Question): string {
  const field = (label: string, text: string): string => `  ${label.padEnd(10)} ${plainLine(text)}`
  const raw = question.question
  const text = plainText(raw)
  const hidden = raw.replaceAll('\r\n', '\n').length - text.length
  return [
    `${paint('bold', plainLine(question.id))}  ${plainLine(question.task_title)}`,
    field('Task', `${question.task_id}, agent ${question.agent_id}, phase ${question.phase}`),
    field('Status', question.status),
    field('Asked', timeOf(question.asked_at)),
    '',
    ...text.split('\n').map((line) => `  ${line}`),
    ...(hidden > 0 ? [`  ! ${hidden} control or invisible characters were taken out; --json shows them`] : []),
    ...question.options.map((option, at) => `    ${at + 1}  ${plainLine(option)}`),
    ...answerLines(question),
    '',
  ].join('\n')
}

function answerLines(question: Question): readonly string[] {
  if (question.answer === null) return []
  const lines = plainText(question.answer).split('\n')
  const by = `${question.answered_by}, ${timeOf(question.answered_at)}`
  return ['', `  ${paint('bold', 'Answer')} by ${plainLine(by)}`, ...lines.map((line) => `  ${line}`)]
}
