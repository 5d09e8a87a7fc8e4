import { parseAuthor } from '../../core/contract/git-rules.js'
import type { JsonObject } from '../../core/json.js'
import type { Fields } from './fields.js'
import type { Reading } from './reading.js'

/** `git:`; defaults are left out, so that a contract that says nothing of them keeps its fingerprint. */
export function readGit(reading: Reading, root: Fields): JsonObject | null {
  const fields = root.openInner('git', ['author', 'hooks', 'sign'])
  if (fields === null) return null
  const author = fields.getText('author')
  if (fields.has('author') && parseAuthor(author) === null)
    fields.reportBad(
      'author',
      'contract.invalid_value',
      `'${author}' does not name an author.`,
      'Write a name and an address, such as "Ada Lovelace <ada@example.org>".',
    )
  const isRun = fields.choice('hooks', ['run', 'skip'], 'skip') === 'run'
  const isUnsigned = fields.choice('sign', ['refuse', 'skip'], 'refuse') === 'skip'
  const git = {
    ...(author === '' ? {} : { author }),
    ...(isRun ? { hooks: 'run' } : {}),
    ...(isUnsigned ? { sign: 'skip' } : {}),
  }
  return Object.keys(git).length === 0 ? null : reading.made(git, fields.node)
}
