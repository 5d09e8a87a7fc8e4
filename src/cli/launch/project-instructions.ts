import { lstatSync, readFileSync, realpathSync } from 'node:fs'
import { join, posix } from 'node:path'
import { isAtOrBelow } from '../../base/is-at-or-below.js'

const CHARS_MAX = 40_000
const IMPORTS_MAX = 10
const IMPORT = /^@([\w./-]+\.md)\s*$/

/**
 * The instructions of the project for the agent. A CLI that does not load the settings of the project does not load
 * these files either. A line such as `@AGENTS.md` is replaced by that file, once.
 */
export function readProjectInstructions(workspace: string, names: readonly string[]): string {
  const found = names.flatMap((name) => {
    const text = readInside(workspace, name)
    return text === null
      ? []
      : [`Contents of ${name}, the project's instructions:\n\n${fillImports(workspace, name, text)}`]
  })
  const all = found.join('\n\n')
  return all.length <= CHARS_MAX
    ? all
    : `${all.slice(0, CHARS_MAX)}\n… cut: the instructions are longer than ${CHARS_MAX} characters.`
}

function fillImports(workspace: string, name: string, text: string): string {
  let left = IMPORTS_MAX
  return text
    .split('\n')
    .map((line) => {
      const path = IMPORT.exec(line)?.[1]
      if (path === undefined || left === 0) return line
      left -= 1
      return readInside(workspace, posix.join(posix.dirname(name), path)) ?? line
    })
    .join('\n')
}

// Only a plain file of the tree itself: a link could show the model any file of the person.
function readInside(workspace: string, name: string): string | null {
  try {
    const path = join(realpathSync(workspace), name)
    if (!isAtOrBelow(realpathSync(workspace), realpathSync(path)) || !lstatSync(path).isFile()) return null
    return readFileSync(path, 'utf8').slice(0, CHARS_MAX)
  } catch {
    // There is none, or it cannot be read.
    return null
  }
}
