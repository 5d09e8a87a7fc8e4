import { isObject, type JsonObject } from '../../core/json.js'
import { plainLine, plainText } from '../../core/plain-text.js'
import { compact } from '../client/answer-values.js'
import { Stop } from '../exit.js'
import type { Chat } from '../launch/ask-people.js'
import type { SessionServer } from '../launch/session-server.js'
import { findProgramName } from '../program-name.js'

const TITLE_CHARS_MAX = 200
const TEXT_CHARS_MAX = 4000

export const BEGIN_TASK = 'begin_task'

/** With it a session makes a task of what the person asked for. The person confirms it. */
export const BEGIN_TASK_TOOL: JsonObject = {
  name: BEGIN_TASK,
  description:
    'Add a task for what the person asked for, when there is none to claim. The person is asked to confirm it. Then call claim_task with its id.',
  inputSchema: {
    type: 'object',
    additionalProperties: false,
    required: ['title'],
    properties: {
      title: { type: 'string', minLength: 1, maxLength: TITLE_CHARS_MAX, description: 'What to do, in one line.' },
      description: { type: 'string', maxLength: TEXT_CHARS_MAX, description: 'What the person said about it.' },
    },
  },
  annotations: { readOnlyHint: false },
}

const FORM = {
  type: 'object',
  properties: { begin: { type: 'string', title: 'Begin this task', enum: ['yes', 'no'] } },
  required: ['begin'],
} as const

/** Adds the task if the person agrees. A chat without forms cannot ask: then the person adds it in a terminal. */
export async function beginTask(server: SessionServer, args: JsonObject, chat: Chat): Promise<JsonObject> {
  const title = typeof args.title === 'string' ? plainLine(args.title).trim().slice(0, TITLE_CHARS_MAX) : ''
  const description = typeof args.description === 'string' ? args.description.slice(0, TEXT_CHARS_MAX) : ''
  if (title === '') return makeRefusal('invalid_request', 'title: must be a text.')
  const byHand = `Ask the person to type in another terminal: ${findProgramName()} task add ${JSON.stringify(title)}\nThen call claim_task.`
  if (chat.ask === null) return makeRefusal('not_permitted', `Only a person adds tasks here. ${byHand}`)
  const message = [
    'The agent wants to begin a task in this repository:',
    `│ ${title}`,
    ...plainText(description)
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => `│ ${line}`),
  ].join('\n')
  const { action, content } = await chat.ask({ message, schema: FORM as JsonObject }, chat.signal)
  if (action !== 'accept' || !isObject(content) || content.begin !== 'yes')
    return makeRefusal('not_permitted', `The person did not begin this task. Ask what they want instead. ${byHand}`)
  try {
    const task = await (await server.operator()).addTask(compact({ title, description }))
    const said = { task_id: task.id, title: task.title, next_step: `Call claim_task with task_id ${task.id}.` }
    return { content: [{ type: 'text', text: JSON.stringify(said) }], structuredContent: said }
  } catch (error) {
    if (!(error instanceof Stop)) throw error
    return makeRefusal('not_permitted', error.message)
  }
}

function makeRefusal(code: string, detail: string): JsonObject {
  return { content: [{ type: 'text', text: detail }], structuredContent: { code, detail }, isError: true }
}
