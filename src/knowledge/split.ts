/** The range of a block in the syntax tree; a code block is never split. */
export interface Block {
  readonly first: number
  readonly end: number
  readonly isWhole: boolean
}

export type Count = (text: string) => number

interface Piece {
  readonly first: number
  readonly end: number
  readonly content: string
}

interface Limit {
  readonly tokensMax: number
  readonly count: Count
}

/**
 * Text other than code that is too long for one passage: split between lines, and a line that is too long between
 * words.
 */
export function splitOversize(lines: readonly string[], block: Block, limit: Limit): readonly Piece[] {
  const pieces: Piece[] = []
  let kept: { first: number; text: string[]; tokens: number } = { first: block.first, text: [], tokens: 0 }
  const close = (end: number): void => {
    const content = kept.text.join('\n').trimEnd()
    if (content.trim() !== '') pieces.push({ first: kept.first, end, content })
  }
  for (let at = block.first; at < block.end; at += 1) {
    for (const [part, text] of splitLine(lines[at] ?? '', limit).entries()) {
      const tokens = limit.count(text) + 1
      // Parts of one line are not joined again: there was no line break between them.
      if (kept.text.length > 0 && (part > 0 || kept.tokens + tokens > limit.tokensMax)) {
        close(at)
        kept = { first: at, text: [], tokens: 0 }
      }
      kept = { first: kept.first, text: [...kept.text, text], tokens: kept.tokens + tokens }
    }
  }
  close(block.end)
  return pieces
}

// In halves, at a space if one is near: a word may be one long run, and a character several tokens.
function splitLine(line: string, limit: Limit): readonly string[] {
  if (line.length < 2 || limit.count(line) <= limit.tokensMax) return [line]
  const middle = Math.ceil(line.length / 2)
  const space = line.lastIndexOf(' ', middle)
  const end = alignToCharacter(line, space > middle / 2 ? space : middle)
  if (end >= line.length) return [line]
  return [...splitLine(line.slice(0, end), limit), ...splitLine(line.slice(end), limit)]
}

// Half a surrogate pair is not a character.
function alignToCharacter(line: string, end: number): number {
  const code = line.charCodeAt(end - 1)
  return end < line.length && code >= 0xd800 && code <= 0xdbff ? end + 1 : end
}
