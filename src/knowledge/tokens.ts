import { countTokens as countWithBpe } from 'gpt-tokenizer/encoding/o200k_base'

// Merging pairs takes more than linear time in a word without spaces: longer runs are counted in pieces.
const PIECE_CHARS_MAX = 4_000

/** The number of tokens that a text costs a model, counted with a real vocabulary. */
export function countTokens(text: string): number {
  let count = 0
  for (let at = 0; at < text.length; at += PIECE_CHARS_MAX)
    count += countWithBpe(text.slice(at, at + PIECE_CHARS_MAX), {
      allowedSpecial: new Set(),
      disallowedSpecial: new Set(),
    })
  return count
}
