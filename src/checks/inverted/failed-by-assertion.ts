import { CONNECTION, TIMEOUT } from '../red-green/failure-reasons.js'
import { parseCauseLine } from '../reports/causes.js'

// Errors that the rewriting itself may cause: an unknown name, a value of an unsupported kind.
const ARTEFACT =
  /^(?:E\s+)?(?:Uncaught )?(?:\w{1,80}\.){0,5}(?:Reference|Type|Name|Syntax|Indentation|UnboundLocal|Import|ModuleNotFound|Recursion|Range|Internal|Attribute)Error\b/
const PANIC = /^panic: (?!testing: )/
const ASSERTION = /\bAssertionError\b/

/**
 * Whether a test failed because of its assertions, as far as its message shows. In Python, an assertion that an
 * exception is raised fails with the exception itself.
 */
export function isAssertionFailure(message: string | null, about: { readonly expectsException: boolean }): boolean {
  const text = (message ?? '').trim()
  if (ASSERTION.test(text)) return true
  if (parseCauseLine(text) !== null || PANIC.test(text)) return false
  if (about.expectsException) return true
  return !ARTEFACT.test(text) && !TIMEOUT.test(text) && !CONNECTION.test(text)
}
