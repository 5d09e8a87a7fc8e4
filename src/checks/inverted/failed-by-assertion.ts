import { CONNECTION, TIMEOUT } from '../red-green/failure-reasons.js'
import { parseCauseLine } from '../reports/causes.js'

// Errors that a rewritten text may raise by itself: a name that is not there, a value of a kind that nothing takes.
const ARTEFACT =
  /^(?:E\s+)?(?:Uncaught )?(?:\w{1,80}\.){0,5}(?:Reference|Type|Name|Syntax|Indentation|UnboundLocal|Import|ModuleNotFound|Recursion|Range|Internal|Attribute)Error\b/
const PANIC = /^panic: (?!testing: )/
const ASSERTION = /\bAssertionError\b/

/**
 * Whether a test failed because of its assertions, as far as its message tells. Assertions that an exception is raised fail in
 * Python with the exception itself.
 */
export function isAssertionFailure(message: string | null, about: { readonly expectsException: boolean }): boolean {
  const text = (message ?? '').trim()
  if (ASSERTION.test(text)) return true
  if (parseCauseLine(text) !== null || PANIC.test(text)) return false
  if (about.expectsException) return true
  return !ARTEFACT.test(text) && !TIMEOUT.test(text) && !CONNECTION.test(text)
}
