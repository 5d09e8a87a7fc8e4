import { isDeepStrictEqual } from 'node:util'
import { matchesPattern } from '../../contract/patterns.js'
import type { Json } from '../../core/json.js'
import { toOneLine } from '../reports/text.js'
import type { ExpectedResult, HttpExpected } from './example.js'
import type { HttpAnswer } from './http-exchange.js'

const SHOWN_CHARS_MAX = 200
const MATCHED_CHARS_MAX = 64 * 1024

/** The requirement on a text; `what` names the text in the answer. */
interface TextExpected {
  readonly what: string
  readonly text: string | null
  readonly json?: Json
  readonly matches: string | null
}

/** How the answer of a command differs from the expected one; null when it does not. */
export function findDifference(
  expect: Omit<ExpectedResult, 'http'>,
  seen: { readonly exitCode: number; readonly stdout: string; readonly stderr: string },
): string | null {
  if (seen.exitCode !== expect.exitCode) {
    return `expected exit code ${expect.exitCode}, got ${seen.exitCode}${formatStderr(seen.stderr)}`
  }
  const { stdout: text, matches } = expect
  const json = 'stdoutJson' in expect ? { json: expect.stdoutJson } : {}
  return findTextDifference({ what: 'stdout', text, matches, ...json }, seen.stdout)
}

export function answerDifference(expect: HttpExpected, answer: HttpAnswer): string | null {
  if (answer.status !== expect.status)
    return `expected status ${expect.status}, got ${answer.status} with ${formatText(answer.body)}`
  const { text, matches } = expect
  const json = 'json' in expect ? { json: expect.json } : {}
  return findTextDifference({ what: 'the body', text, matches, ...json }, answer.body)
}

function findTextDifference(expect: TextExpected, seen: string): string | null {
  const { what, text, json, matches } = expect
  if (text !== null && stripLastBreak(text) !== stripLastBreak(seen))
    return `expected ${what} ${formatText(text)}, got ${formatText(seen)}`
  if (json !== undefined) {
    const read = parseJson(seen)
    if (read === undefined) return `expected ${what} to be JSON, got ${formatText(seen)}`
    if (!isDeepStrictEqual(read, json))
      return `expected ${what} to be the JSON ${formatText(JSON.stringify(json))}, got ${formatText(JSON.stringify(read))}`
  }
  if (matches !== null && !matchesPattern(matches, seen.slice(0, MATCHED_CHARS_MAX)))
    return `expected ${what} to match ${formatText(matches)}, got ${formatText(seen)}`
  return null
}

// Most programs print a final line break, and most people leave it out when they write the expected output.
function stripLastBreak(text: string): string {
  return text.replace(/\r?\n$/, '')
}

function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}

/** On one line, bounded and printable. */
export function formatText(text: string): string {
  return toOneLine(JSON.stringify(text.slice(0, SHOWN_CHARS_MAX * 2)), SHOWN_CHARS_MAX)
}

export function formatStderr(stderr: string): string {
  return stderr.trim() === '' ? '' : `. It wrote to stderr: ${formatText(stderr.trim())}`
}
