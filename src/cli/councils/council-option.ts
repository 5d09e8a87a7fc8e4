import type { Json, JsonObject } from '../../core/json.js'
import { EXIT, Stop } from '../exit.js'

/** `--option key=value`: a number, true, false, null, a list with commas in brackets, or a text. */
export function parseOption(text: string, before: JsonObject = {}): JsonObject {
  const at = text.indexOf('=')
  const key = text.slice(0, at).trim().replaceAll('-', '_')
  if (at < 1 || key === '') throw new Stop(EXIT.usage, `'${text}' is not an option such as novelty=balanced.`)
  return { ...before, [key]: parseOptionValue(text.slice(at + 1).trim()) }
}

function parseOptionValue(text: string): Json {
  if (/^(true|false|null|-?\d{1,15})$/.test(text)) return JSON.parse(text) as Json
  const list = /^\[(.*)\]$/.exec(text)?.[1]
  if (list === undefined) return text
  return list
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')
}
