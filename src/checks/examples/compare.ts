import { isDeepStrictEqual } from 'node:util'
import { matchesPattern } from '../../contract/patterns.js'
import type { Json } from '../../core/json.js'
import { oneLine } from '../reports/text.js'
import type { Expected, HttpExpected } from './example.js'
import type { HttpAnswer } from './http-exchange.js'

const SHOWN_CHARS_MAX = 200
const MATCHED_CHARS_MAX = 64 * 1024

/** What a text must be; `what` names it in the answer. */
interface TextExpected {
  readonly what: string
  readonly text: string | null
  readonly json?: Json
  readonly matches: string | null
}

/** How what a command answered differs from what is expected; null when it does not. */
export function differenceOf(
  expect: Omit<Expected, 'http'>,
  seen: { readonly exitCode: number; readonly stdout: string; readonly stderr: string },
): string | null {
  if (seen.exitCode !== expect.exitCode) {
    return `expected exit code ${expect.exitCode}, got ${seen.exitCode}${saidText(seen.stderr)}`
  }
  const { stdout: text, matches } = expect
  const json = 'stdoutJson' in expect ? { json: expect.stdoutJson } : {}
  return textDifference({ what: 'stdout', text, matches, ...json }, seen.stdout)
}

export function answerDifference(expect: HttpExpected, answer: HttpAnswer): string | null {
  if (answer.status !== expect.status)
    return `expected status ${expect.status}, got ${answer.status} with ${shown(answer.body)}`
  const { text, matches } = expect
  const json = 'json' in expect ? { json: expect.json } : {}
  return textDifference({ what: 'the body', text, matches, ...json }, answer.body)
}

function textDifference(expect: TextExpected, seen: string): string | null {
  const { what, text, json, matches } = expect
  if (text !== null && withoutLastBreak(text) !== withoutLastBreak(seen))
    return `expected ${what} ${shown(text)}, got ${shown(seen)}`
  if (json !== undefined) {
    const read = parsed(seen)
    if (read === undefined) return `expected ${what} to be JSON, got ${shown(seen)}`
    if (!isDeepStrictEqual(read, json))
      return `expected ${what} to be the JSON ${shown(JSON.stringify(json))}, got ${shown(JSON.stringify(read))}`
  }
  if (matches !== null && !matchesPattern(matches, seen.slice(0, MATCHED_CHARS_MAX)))
    return `expected ${what} to match ${shown(matches)}, got ${shown(seen)}`
  return null
}

// Most programs end what they print with a line break, and most people leave it out when they say what is printed.
function withoutLastBreak(text: string): string {
  return text.replace(/\r?\n$/, '')
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}

/** On one line, bounded and printable. */
export function shown(text: string): string {
  return oneLine(JSON.stringify(text.slice(0, SHOWN_CHARS_MAX * 2)), SHOWN_CHARS_MAX)
}

export function saidText(stderr: string): string {
  return stderr.trim() === '' ? '' : `. It wrote to stderr: ${shown(stderr.trim())}`
}
