import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff'
import { plainText } from '../../core/plain-text.js'
import { nameFile } from './config-file.js'
import type { FileChange } from './connect.js'

/** The differences as `git diff` would show them. */
export function formatChanges(changes: readonly FileChange[], workspace: string, none: string): string {
  if (changes.length === 0) return `${none}: nothing to write.`
  return changes
    .map(({ plan, before, after }) => {
      const name = nameFile(plan.file, workspace)
      const [from, to] = [before === null ? '/dev/null' : name, after === null ? '/dev/null' : name]
      return createTwoFilesPatch(from, to, before ?? '', after ?? '', undefined, undefined, {
        context: 3,
        headerOptions: FILE_HEADERS_ONLY,
      })
    })
    .map((text) => plainText(text))
    .join('\n')
}
