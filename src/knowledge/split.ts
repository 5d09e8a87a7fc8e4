import type { Block, Count } from './chunk.js'

interface Piece {
  readonly first: number
  readonly end: number
  readonly content: string
}

interface Limit {
  readonly tokensMax: number
  readonly count: Count
}

// A token has at least one character, so that a piece this long may hold too many and a shorter one never does by much.
const CHARS_PER_TOKEN_MAX = 4

/** Text that is no code and too long for one passage: between lines, and a line that is too long itself between words. */
export function splitOversize(lines: readonly string[], block: Block, limit: Limit): readonly Piece[] {
  const pieces: Piece[] = []
  let kept: { first: number; text: string[]; tokens: number } = { first: block.first, text: [], tokens: 0 }
  const close = (end: number): void => {
    const content = kept.text.join('\n').trimEnd()
    if (content.trim() !== '') pieces.push({ first: kept.first, end, content })
  }
  for (let at = block.first; at < block.end; at += 1) {
    for (const text of partsOf(lines[at] ?? '', limit)) {
      const tokens = limit.count(text) + 1
      if (kept.text.length > 0 && kept.tokens + tokens > limit.tokensMax) {
        close(at)
        kept = { first: at, text: [], tokens: 0 }
      }
      kept = { first: kept.first, text: [...kept.text, text], tokens: kept.tokens + tokens }
    }
  }
  close(block.end)
  return pieces
}

function partsOf(line: string, { tokensMax, count }: Limit): readonly string[] {
  if (line.length <= tokensMax || count(line) <= tokensMax) return [line]
  const charsMax = tokensMax * CHARS_PER_TOKEN_MAX
  const parts: string[] = []
  let from = 0
  while (from < line.length) {
    const most = Math.min(line.length, from + charsMax)
    const space = most < line.length ? line.lastIndexOf(' ', most) : most
    const end = wholeCharacter(line, space > from ? space : most)
    parts.push(line.slice(from, end))
    from = end
  }
  return parts
}

// Half of a pair of surrogates is no character.
function wholeCharacter(line: string, end: number): number {
  const code = line.charCodeAt(end - 1)
  return end < line.length && code >= 0xd800 && code <= 0xdbff ? end + 1 : end
}
