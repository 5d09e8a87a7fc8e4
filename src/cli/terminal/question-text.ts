import type { Question } from 'phaselock/sdk'
import { plainLine, plainText } from '../../core/plain-text.js'
import { formatTime } from '../client/answer-values.js'
import { formatTable } from './table.js'
import { paintText } from './terminal.js'

export function formatQuestionTable(questions: readonly Question[]): string {
  return formatTable(questions, [
    { title: 'ID', text: (question) => question.id },
    { title: 'STATUS', text: (question) => question.status },
    { title: 'TASK', text: (question) => question.task_title, isFlexible: true },
    { title: 'QUESTION', text: (question) => question.question, isFlexible: true },
  ])
}

/** One question in full, with its options numbered for `--option`. */
export function formatQuestion(question: Question): string {
  const field = (label: string, text: string): string => `  ${label.padEnd(10)} ${plainLine(text)}`
  const raw = question.question
  const text = plainText(raw)
  const hidden = raw.replaceAll('\r\n', '\n').length - text.length
  return [
    `${paintText('bold', plainLine(question.id))}  ${plainLine(question.task_title)}`,
    field('Task', `${question.task_id}, agent ${question.agent_id}, phase ${question.phase}`),
    field('Status', question.status),
    field('Asked', formatTime(question.asked_at)),
    '',
    ...text.split('\n').map((line) => `  ${line}`),
    ...(hidden > 0 ? [`  ! ${hidden} control or invisible characters were taken out; --json shows them`] : []),
    ...question.options.map((option, at) => `    ${at + 1}  ${plainLine(option)}`),
    ...formatAnswerLines(question),
    '',
  ].join('\n')
}

function formatAnswerLines(question: Question): readonly string[] {
  if (question.answer === null) return []
  const lines = plainText(question.answer).split('\n')
  const by = `${question.answered_by}, ${formatTime(question.answered_at)}`
  return ['', `  ${paintText('bold', 'Answer')} by ${plainLine(by)}`, ...lines.map((line) => `  ${line}`)]
}
