import { type GitRules, parseAuthor } from '../../core/contract/git-rules.js'
import type { GitDocument } from '../read/read-git.js'

export function compileGit({ author, hooks, sign }: GitDocument): GitRules {
  const parsed = parseAuthor(author ?? '')
  return {
    ...(parsed !== null && { author: parsed }),
    ...(hooks === 'run' && { hooks }),
    ...(sign === 'skip' && { sign }),
  }
}
