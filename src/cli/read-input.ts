import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs'
import { isObject, type Json, type JsonObject } from '../core/json.js'
import { plainLine } from '../core/plain-text.js'
import { EXIT, Stop } from './exit.js'

const STDIN = 0
const FILE_BYTES_MAX = 4 * 1024 * 1024

/** The text of a named file; `-` is standard input. */
export function readInput(file: string, what = file): string {
  try {
    return readFileSync(file === '-' ? STDIN : file, 'utf8')
  } catch (error) {
    throw unreadable(what, error)
  }
}

/** The text of a regular file that is not too large. */
export function readRegularFile(file: string): string {
  let handle: number | null = null
  try {
    handle = openSync(file, 'r')
    const about = fstatSync(handle)
    if (!about.isFile()) throw new Stop(EXIT.usage, `${file} is not a file.`)
    if (about.size > FILE_BYTES_MAX) throw new Stop(EXIT.usage, `${file} is larger than ${FILE_BYTES_MAX} bytes.`)
    return readFileSync(handle, 'utf8')
  } catch (error) {
    throw unreadable(file, error)
  } finally {
    if (handle !== null) closeSync(handle)
  }
}

/** The JSON value of the text. */
export function parseJson(text: string, what: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch (error) {
    throw new Stop(EXIT.usage, `${what} cannot be read as JSON: ${(error as Error).message}`)
  }
}

/** The JSON object of the text; null when it is something else. */
export function readJsonObject(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}

/** Why a file cannot be used, in one line. */
function unreadable(what: string, error: unknown): Stop {
  if (error instanceof Stop) return error
  return new Stop(
    EXIT.usage,
    plainLine(`${what} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'fault'}).`),
  )
}
