import type { Command } from 'commander'
import type { JsonObject } from '../../core/json.js'
import { compact, listOf, toText } from '../client/answer-values.js'
import { Client, encodeSegment } from '../client/client.js'
import { addClientOptions, type ClientOptions } from '../client/connection.js'
import { findNamedTask } from '../client/named-task.js'
import { EXIT, Stop } from '../exit.js'
import { formatExamples, parsePositiveNumber } from '../options.js'
import { toPlainLine } from '../terminal/plain-text.js'
import { formatQuestion, formatQuestionTable, listOptions } from '../terminal/question-text.js'
import { print, printJson } from '../terminal/terminal.js'

const PAGE = 100
const QUESTION_ID = /^qst-\d+-/

/** `questions` and `answer`. */
export function addQuestionCommands(program: Command): void {
  addClientOptions(
    program
      .command('questions')
      .argument('[id]', 'show this approval in full')
      .description('list the questions that agents have asked'),
  )
    .option('-a, --all', 'include answered and withdrawn questions')
    .option('--task <id>', 'only events of this task')
    .addHelpText('after', formatExamples([['phaselock questions qst-7-task-1', 'one question with its options']]))
    .action((id: string | undefined, options: ListOptions) => list(new Client(options), id, options))
  addClientOptions(
    program
      .command('answer')
      .argument('[id]', 'id of a question, or of a task with one open question (default: list the open questions)')
      .argument('[text...]', 'the answer; one of the options if the question has any')
      .description('answer a question of an agent; answers are final'),
  )
    .option('--option <number>', 'answer with the option that has this number', parsePositiveNumber)
    .option('--other', 'answer with your own text instead of one of the options')
    .addHelpText(
      'after',
      formatExamples([
        ['phaselock answer qst-7-task-1 Use port 8080', ''],
        ['phaselock answer qst-7-task-1 --option 2', 'the second of its options'],
        ['phaselock answer qst-7-task-1 --other Neither of them', ''],
      ]),
    )
    .action((id: string | undefined, words: readonly string[], options: AnswerOptions) =>
      id === undefined ? list(new Client(options), undefined, options) : answer(id, words, options),
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
    const question = await client.get(`/questions/${encodeSegment(await findQuestionId(client, id))}`)
    return options.json === true ? printJson(question) : print(formatQuestion(question))
  }
  const found: JsonObject = await client.get('/questions', {
    limit: PAGE,
    task_id: options.task,
    status: options.all === true ? undefined : 'open',
  })
  if (options.json === true) return printJson(found)
  const questions = listOf(found.questions)
  if (questions.length === 0) return print(options.all === true ? 'Nobody asked anything.' : 'No question is open.')
  print(formatQuestionTable(questions))
  if (typeof found.next_cursor === 'string')
    print(`Only the first ${questions.length} are shown; name one with --task.`)
  if (questions.some((one) => one.status === 'open'))
    print('Look and answer: phaselock questions ID, phaselock answer ID TEXT')
}

async function answer(id: string, words: readonly string[], options: AnswerOptions): Promise<void> {
  const text = words.join(' ')
  if (options.option !== undefined && (text !== '' || options.other === true))
    throw new Stop(EXIT.usage, 'Give either --option NUMBER or a text of your own.')
  if (options.option === undefined && text.trim() === '')
    throw new Stop(EXIT.usage, 'Give the answer: a text, or --option NUMBER.')
  const client = new Client(options)
  const found = await findQuestionId(client, id)
  const question = await client.get(`/questions/${encodeSegment(found)}`)
  const chosen = options.option === undefined ? text : getOption(question, options.option)
  const known = listOptions(question)
  if (question.status === 'open' && known.length > 0 && !known.includes(chosen) && options.other !== true)
    throw new Stop(
      EXIT.refused,
      `That is none of the options:\n${formatOptionLines(question)}\nAnswer with --option NUMBER, or with --other and a text of your own.`,
    )
  const answered = await client.post(
    `/questions/${encodeSegment(found)}/answer`,
    compact({ answer: chosen, other: options.other === true ? true : undefined }),
  )
  if (options.json === true) return printJson(answered)
  print(
    `${toPlainLine(toText(answered.id))} is ${toPlainLine(toText(answered.status))}: ${toPlainLine(toText(answered.answer))}`,
  )
}

function getOption(question: JsonObject, number: number): string {
  const options = listOptions(question)
  const option = options[number - 1]
  if (option !== undefined) return option
  throw new Stop(
    EXIT.usage,
    options.length === 0
      ? `Question ${toPlainLine(toText(question.id))} has no options: give a text.`
      : `There is no option ${number}. The options are:\n${formatOptionLines(question)}`,
  )
}

function formatOptionLines(question: JsonObject): string {
  return listOptions(question)
    .map((option, at) => `  ${at + 1}  ${toPlainLine(option)}`)
    .join('\n')
}

/** The id of a question, where a task was named: of the only one that is open there. */
async function findQuestionId(client: Client, id: string): Promise<string> {
  if (QUESTION_ID.test(id)) return id
  const task = await findNamedTask(client, id, 'question')
  const found = await client.get('/questions', { task_id: toText(task.id), status: 'open', limit: PAGE })
  const open = listOf(found.questions)
  const [only] = open
  if (only === undefined) throw new Stop(EXIT.refused, `Task ${toPlainLine(id)} has no open question.`)
  if (open.length > 1)
    throw new Stop(
      EXIT.refused,
      `Task ${toPlainLine(id)} has ${open.length} open questions; name one:\n${formatQuestionTable(open)}`,
    )
  return toText(only.id)
}
