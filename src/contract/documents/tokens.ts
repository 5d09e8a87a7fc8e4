// The counter's time grows with the square of a run: longer runs are cut. No natural word is as long.
const RUN_CHARS_MAX = 100
const LONG_RUN = new RegExp(`(\\S{${RUN_CHARS_MAX},}|\\s{${RUN_CHARS_MAX},})`)
const CUT = new RegExp(`[^]{1,${RUN_CHARS_MAX}}`, 'g')

/** The number of tokens of each text. The counter is large, so it is loaded on first use. */
export async function countTokens(texts: readonly string[]): Promise<readonly number[]> {
  if (texts.length === 0) return []
  const { countTokens: count } = await import('gpt-tokenizer/encoding/o200k_base')
  // Names of special tokens in a document are ordinary text.
  const asText = { disallowedSpecial: new Set<string>() }
  return texts.map((text) =>
    text
      .split(LONG_RUN)
      .flatMap((piece) => (piece.length < RUN_CHARS_MAX || !LONG_RUN.test(piece) ? [piece] : (piece.match(CUT) ?? [])))
      .reduce((sum, piece) => sum + (piece === '' ? 0 : count(piece, asText)), 0),
  )
}
