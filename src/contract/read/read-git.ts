import { parseAuthor } from '../../core/contract/git-rules.js'
import { checked, choice, filled, type TypeOf } from '../schema/kinds.js'
import { maybe, object } from '../schema/object.js'

const author = checked(
  filled,
  (name, bad) => {
    const remedy = 'Write a name and an address, such as "Ada Lovelace <ada@example.org>".'
    if (parseAuthor(name) === null) bad(`'${name}' does not name an author.`, remedy)
  },
  { pattern: '^[^<>\\n]*[^<>\\s] <[^<>\\s]+@[^<>\\s]+>$' },
)

/** Defaults are left out, so that a contract that does not set them keeps its fingerprint. */
export const GIT = object('git', 'Git', {
  author: maybe(author, 'Author and committer.', '"Ada Lovelace <ada@example.org>"', {
    words: '`Name <address>`',
    unset:
      '`user.name` and `user.email` of the repository, else of the operator who runs the server, else `agent <agent@localhost>`',
  }),
  hooks: maybe(
    choice(['run', 'skip'] as const),
    'Whether `pre-commit`, `prepare-commit-msg` and `commit-msg` of the repository are [run in the sandbox](#hooks-of-the-repository) before a commit.',
    'run',
    { unset: '`skip`', isNone: (mode) => mode === 'skip' },
  ),
  sign: maybe(
    choice(['refuse', 'skip'] as const),
    'What happens where git is set to sign commits (`commit.gpgsign`): `refuse` refuses the task at claim, `skip` commits without a signature.',
    'skip',
    { unset: '`refuse`', isNone: (mode) => mode === 'refuse' },
  ),
})
export type GitDocument = TypeOf<typeof GIT>
