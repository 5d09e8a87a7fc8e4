const CHARS_MAX = 9000

/** Longer texts are written to a file by Claude Code instead of being shown to the model; others cut them. */
export function shortenText(text: string): string {
  return text.length <= CHARS_MAX ? text : `${text.slice(0, CHARS_MAX - 1).toWellFormed()}…`
}
