import type { Question } from 'phaselock/sdk'
import { plainLine } from '../../core/plain-text.js'
import { type CliCommand, serverCommand } from '../cli-command.js'
import { compact } from '../client/answer-values.js'
import { type Client, openClient } from '../client/client.js'
import type { ClientOptions } from '../client/connection.js'
import { findNamedTask } from '../client/named-task.js'
import { EXIT, Stop } from '../exit.js'
import { parsePositiveNumber } from '../options.js'
import { formatQuestion, formatQuestionTable } from '../terminal/question-text.js'
import { print, printJson, show } from '../terminal/terminal.js'

const PAGE = 100
const QUESTION_ID = /^qst-\d+-/

/** `questions` and `answer`. */
export function addQuestionCommands(program: CliCommand): void {
  serverCommand(program, 'questions', 'list the questions that agents have asked')
    .argument('[id]', 'show this question in full')
    .option('-a, --all', 'include answered and withdrawn questions')
    .option('--task <id>', 'only questions of this task')
    .examples(['phaselock questions qst-7-task-1', 'one question with its options'])
    .asks((client, options: ListOptions, id: string | undefined) => list(client, id, options))
  serverCommand(program, 'answer', 'answer a question of an agent; answers are final')
    .argument('[id]', 'id of a question, or of a task with one open question (default: list the open questions)')
    .argument('[text...]', 'the answer; one of the options if the question has any')
    .option('--option <number>', 'answer with the option that has this number', parsePositiveNumber)
    .option('--other', 'answer with your own text instead of one of the options')
    .examples(
      'phaselock answer qst-7-task-1 Use port 8080',
      ['phaselock answer qst-7-task-1 --option 2', 'the second of its options'],
      'phaselock answer qst-7-task-1 --other Neither of them',
    )
    .action(async (id: string | undefined, words: readonly string[], options: AnswerOptions) =>
      id === undefined ? list(await openClient(options), id, options) : answer(id, words, options),
    )
}

interface ListOptions extends ClientOptions {
  readonly all?: boolean
  readonly task?: string
}

interface AnswerOptions extends ClientOptions {
  readonly option?: number
  readonly other?: boolean
}

async function list(client: Client, id: string | undefined, options: ListOptions): Promise<void> {
  if (id !== undefined) {
    const question = await client.question(await findQuestionId(client, id))
    return show(options, question, formatQuestion(question))
  }
  const status = options.all === true ? undefined : 'open'
  const found = await client.questions({ limit: PAGE, task_id: options.task, status })
  if (options.json === true) return printJson(found)
  const { questions, next_cursor } = found
  if (questions.length === 0) return print(options.all === true ? 'Nobody asked anything.' : 'No question is open.')
  print(formatQuestionTable(questions))
  if (next_cursor !== null) print(`Only the first ${questions.length} are shown; name one with --task.`)
  if (questions.some((one) => one.status === 'open'))
    print('Look and answer: phaselock questions ID, phaselock answer ID TEXT')
}

async function answer(id: string, words: readonly string[], options: AnswerOptions): Promise<void> {
  const text = words.join(' ')
  if (options.option !== undefined && (text !== '' || options.other === true))
    throw new Stop(EXIT.usage, 'Give either --option NUMBER or a text of your own.')
  if (options.option === undefined && text.trim() === '')
    throw new Stop(EXIT.usage, 'Give the answer: a text, or --option NUMBER.')
  const client = await openClient(options)
  const question = await client.question(await findQuestionId(client, id))
  const chosen = chooseAnswer(question, text, options)
  const known = question.options
  if (question.status === 'open' && known.length > 0 && !known.includes(chosen) && options.other !== true)
    throw new Stop(
      EXIT.refused,
      `That is none of the options:\n${formatOptionLines(question)}\nAnswer with its number, or with --other and a text of your own.`,
    )
  const body = compact({ answer: chosen, other: options.other === true ? true : undefined })
  const answered = await client.answer(question.id, body)
  const said = `${plainLine(answered.id)} is ${plainLine(answered.status)}: ${plainLine(answered.answer)}`
  show(options, answered, said)
}

/** A number alone is that of an option, as they are listed, unless an option reads like that itself. */
function chooseAnswer(question: Question, text: string, { option, other }: AnswerOptions): string {
  if (option !== undefined) return getOption(question, option)
  const isNumber = /^[1-9]\d{0,2}$/.test(text.trim()) && question.options.length > 0 && !question.options.includes(text)
  return isNumber && other !== true ? getOption(question, Number(text)) : text
}

const CHOOSE = 'Answer with the number of one, or with --other and a text of your own.'

function getOption(question: Question, number: number): string {
  const option = question.options[number - 1]
  if (option !== undefined) return option
  throw new Stop(
    EXIT.usage,
    question.options.length === 0
      ? `Question ${plainLine(question.id)} has no options: give a text.`
      : `There is no option ${number}. The options are:\n${formatOptionLines(question)}\n${CHOOSE}`,
  )
}

function formatOptionLines({ options }: Question): string {
  return options.map((option, at) => `  ${at + 1}  ${plainLine(option)}`).join('\n')
}

/** The id of a question; for a task, of its only open one. */
async function findQuestionId(client: Client, id: string): Promise<string> {
  if (QUESTION_ID.test(id)) return id
  const task = await findNamedTask(client, id, 'question')
  const { questions } = await client.questions({ task_id: task.id, status: 'open', limit: PAGE })
  const [only] = questions
  if (only === undefined) throw new Stop(EXIT.refused, `Task ${plainLine(id)} has no open question.`)
  if (questions.length === 1) return only.id
  const named = formatQuestionTable(questions)
  throw new Stop(EXIT.refused, `Task ${plainLine(id)} has ${questions.length} open questions; name one:\n${named}`)
}
