import type { Command } from 'commander'
import type { JsonObject } from '../../core/json.js'
import { given, listOf, textOf } from '../client/answer-values.js'
import { Client, segment } from '../client/client.js'
import { type ClientOptions, clientOptions } from '../client/connection.js'
import { namedTask } from '../client/named-task.js'
import { EXIT, Stop } from '../exit.js'
import { examples, positiveNumber } from '../options.js'
import { plainLine } from '../terminal/plain-text.js'
import { optionsOf, questionTable, questionText } from '../terminal/question-text.js'
import { print, printJson } from '../terminal/terminal.js'

const PAGE = 100
const QUESTION_ID = /^qst-\d+-/

/** `questions` and `answer`. */
export function addQuestionCommands(program: Command): void {
  clientOptions(
    program
      .command('questions')
      .argument('[id]', 'show this approval in full')
      .description('list the questions that agents have asked'),
  )
    .option('-a, --all', 'include answered and withdrawn questions')
    .option('--task <id>', 'only events of this task')
    .addHelpText('after', examples([['phaselock questions qst-7-task-1', 'one question with its options']]))
    .action((id: string | undefined, options: ListOptions) => list(new Client(options), id, options))
  clientOptions(
    program
      .command('answer')
      .argument('[id]', 'id of a question, or of a task with one open question (default: list the open questions)')
      .argument('[text...]', 'the answer; one of the options if the question has any')
      .description('answer a question of an agent; answers are final'),
  )
    .option('--option <number>', 'answer with the option that has this number', positiveNumber)
    .option('--other', 'answer with your own text instead of one of the options')
    .addHelpText(
      'after',
      examples([
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
    const question = await client.get(`/questions/${segment(await questionId(client, id))}`)
    return options.json === true ? printJson(question) : print(questionText(question))
  }
  const found: JsonObject = await client.get('/questions', {
    limit: PAGE,
    task_id: options.task,
    status: options.all === true ? undefined : 'open',
  })
  if (options.json === true) return printJson(found)
  const questions = listOf(found.questions)
  if (questions.length === 0) return print(options.all === true ? 'Nobody asked anything.' : 'No question is open.')
  print(questionTable(questions))
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
  const found = await questionId(client, id)
  const question = await client.get(`/questions/${segment(found)}`)
  const chosen = options.option === undefined ? text : optionAt(question, options.option)
  const known = optionsOf(question)
  if (question.status === 'open' && known.length > 0 && !known.includes(chosen) && options.other !== true)
    throw new Stop(
      EXIT.refused,
      `That is none of the options:\n${optionLines(question)}\nAnswer with --option NUMBER, or with --other and a text of your own.`,
    )
  const answered = await client.post(
    `/questions/${segment(found)}/answer`,
    given({ answer: chosen, other: options.other === true ? true : undefined }),
  )
  if (options.json === true) return printJson(answered)
  print(
    `${plainLine(textOf(answered.id))} is ${plainLine(textOf(answered.status))}: ${plainLine(textOf(answered.answer))}`,
  )
}

function optionAt(question: JsonObject, number: number): string {
  const options = optionsOf(question)
  const option = options[number - 1]
  if (option !== undefined) return option
  throw new Stop(
    EXIT.usage,
    options.length === 0
      ? `Question ${plainLine(textOf(question.id))} has no options: give a text.`
      : `There is no option ${number}. The options are:\n${optionLines(question)}`,
  )
}

function optionLines(question: JsonObject): string {
  return optionsOf(question)
    .map((one, at) => `  ${at + 1}  ${plainLine(one)}`)
    .join('\n')
}

/** The id of a question, where a task was named: of the only one that is open there. */
async function questionId(client: Client, id: string): Promise<string> {
  if (QUESTION_ID.test(id)) return id
  const task = await namedTask(client, id, 'question')
  const found = await client.get('/questions', { task_id: textOf(task.id), status: 'open', limit: PAGE })
  const open = listOf(found.questions)
  const [only] = open
  if (only === undefined) throw new Stop(EXIT.refused, `Task ${plainLine(id)} has no open question.`)
  if (open.length > 1)
    throw new Stop(
      EXIT.refused,
      `Task ${plainLine(id)} has ${open.length} open questions; name one:\n${questionTable(open)}`,
    )
  return textOf(only.id)
}
