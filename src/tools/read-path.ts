import type { CallPath } from '../core/tool-calls/call-facts.js'

const PATH_CHARS_MAX = 4096

/** A path inside the work tree, `/`-separated, or why it is not one. The code that opens the file checks again. */
export function readPath(given: string): CallPath {
  const refuse = (problem: string): CallPath => ({ path: given.slice(0, PATH_CHARS_MAX), problem })
  if (given === '') return refuse('is empty')
  if (given.length > PATH_CHARS_MAX) return refuse(`is longer than ${PATH_CHARS_MAX} characters`)
  if (given.includes('\0')) return refuse('contains a NUL character')
  if (given.includes('\\')) return refuse('contains a backslash; use "/"')
  if (given.startsWith('/') || /^[A-Za-z]:/.test(given))
    return refuse('is absolute; paths are relative to the work tree')
  const parts: string[] = []
  for (const part of given.split('/')) {
    if (part === '' || part === '.') continue
    if (part !== '..') parts.push(part)
    else if (parts.pop() === undefined) return refuse('leaves the work tree')
  }
  return { path: parts.length === 0 ? '.' : parts.join('/'), problem: null }
}
