import type { Json, JsonObject } from '../../src/core/json.js'

export interface Call {
  readonly name: string
  readonly input: JsonObject
  /** A tool of the harness itself and none of Phaselock's. */
  readonly isOwn?: boolean
  /** Its arguments are one text: only OpenAI has such tools. */
  readonly text?: string
}

/** What a model has before it when it is asked; everything follows from it, so that a new process goes on by itself. */
export interface Talk {
  /** Of the marker `[[script:NAME]]` in the task; null: asked for something else, a title for example. */
  readonly script: string | null
  readonly prompt: string
  /** The phase that the agent was started in. */
  readonly phase: string
  /** How often the model has spoken in this conversation. */
  readonly step: number
  readonly tools: readonly string[]
  /** Of all calls of this conversation, oldest first. */
  readonly results: readonly Result[]
}

export interface Result {
  readonly text: string
  readonly isError: boolean
}

/** What each answer of the model takes. */
export const USAGE = { input: 100, output: 20, cacheRead: 7, cacheWrite: 3 }

export interface Spoken {
  readonly call: Call | null
  readonly step: number
}

/** Who is asked for what, off the first words that carry a marker. */
export function about(texts: readonly string[], hasTools: boolean): Pick<Talk, 'script' | 'prompt' | 'phase'> {
  const prompt = texts.find((text) => MARKER.test(text)) ?? ''
  const [, script = null] = MARKER.exec(prompt) ?? []
  const [, phase = ''] = /The task is in phase (\w+)\./.exec(prompt) ?? []
  return { script: hasTools ? script : null, prompt, phase }
}

const MARKER = /\[\[script:(\w+)\]\]/

export function listOf(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? (value as readonly JsonObject[]) : []
}

/** Of a message: its text, or the texts of its parts. */
export function textOf(content: Json | undefined): string {
  if (typeof content === 'string') return content
  return listOf(content)
    .map(({ text }) => (typeof text === 'string' ? text : ''))
    .join('\n')
}
