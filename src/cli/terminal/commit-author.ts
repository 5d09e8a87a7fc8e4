import { readAuthor } from '../../app/trees/committing.js'
import type { GitSettings } from '../../app/trees/git-settings.js'
import { formatAuthor } from '../../core/contract/git-rules.js'
import { plainLine } from '../../core/plain-text.js'

/** Whose name commits of agents carry; `remedy` is empty where git knows the person. */
export function describeAuthor(settings: GitSettings): { readonly text: string; readonly remedy: string } {
  const text = `commits by ${plainLine(formatAuthor(readAuthor(settings)))}, the agent as co-author`
  if (settings.has('user.name') && settings.has('user.email')) return { text, remedy: '' }
  return {
    text: `${text}: git does not know your name and address`,
    remedy: 'Run: git config --global user.name "Your Name"; git config --global user.email you@example.org',
  }
}
