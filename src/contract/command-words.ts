/** A word of an own tool's command consists of literal text and arguments: `--file={path}` has one of each. */
export type WordPart = { readonly text: string } | { readonly arg: string }

/** Argument names that a placeholder can name. */
export const ARG_NAME = '\\w{1,64}'

export function splitWord(word: string): readonly WordPart[] {
  const parts: WordPart[] = []
  let end = 0
  for (const match of word.matchAll(new RegExp(`\\{(${ARG_NAME})\\}`, 'g'))) {
    if (match.index > end) parts.push({ text: word.slice(end, match.index) })
    parts.push({ arg: match[1] ?? '' })
    end = match.index + match[0].length
  }
  if (end < word.length) parts.push({ text: word.slice(end) })
  return parts
}

interface Arg {
  readonly path?: 'read' | 'write' | null | undefined
}

/** Why a word of a command cannot be used; null when it can. `index` is its place in the command. */
export function findWordProblem(word: string, index: number, argOf: (name: string) => Arg | undefined): string | null {
  const parts = splitWord(word)
  for (const [at, part] of parts.entries()) {
    if (!('arg' in part)) continue
    const arg = argOf(part.arg)
    if (arg === undefined) return `'{${part.arg}}' is not an argument of this tool.`
    if (index === 0) return `The program itself cannot be an argument ('{${part.arg}}').`
    // The constraint applies to the argument alone: text joined to it would make it another path.
    if ((arg.path ?? null) !== null && !(isSeparated(parts[at - 1]) && parts[at + 1] === undefined))
      return `The path '{${part.arg}}' is joined to other text of the word '${word}'.`
  }
  return null
}

function isSeparated(part: WordPart | undefined): boolean {
  return part === undefined || ('text' in part && part.text.endsWith('='))
}
