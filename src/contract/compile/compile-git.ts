import { type GitRules, parseAuthor } from '../../core/contract/git-rules.js'
import type { JsonObject } from '../../core/json.js'

/** `read-git.ts` made it, and only in this shape. */
export function compileGit({ author, hooks, sign }: JsonObject): GitRules {
  const parsed = parseAuthor(String(author ?? ''))
  return {
    ...(parsed === null ? {} : { author: parsed }),
    ...(hooks === 'run' ? { hooks } : {}),
    ...(sign === 'skip' ? { sign } : {}),
  }
}
