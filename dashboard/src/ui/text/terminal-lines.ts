const ESC = '\\u001b'
const STRING_END = `(?:\\u0007|${ESC}\\\\)?`

const ESCAPES = new RegExp(
  [
    // Titles, links, clipboards.
    `${ESC}\\][^\\u0007${ESC}]*${STRING_END}`,
    // Device control strings and private messages.
    `${ESC}[PX^_][^${ESC}]*${STRING_END}`,
    // Colours and cursor movements.
    `(?:${ESC}\\[|\\u009b)[0-?]*[ -/]*[@-~]?`,
    `${ESC}[ -/]*[0-~]`,
  ].join('|'),
  'g',
)
// biome-ignore lint/suspicious/noControlCharactersInRegex: this is the character that is taken out
const BACKSPACE = /[^\n]\u0008/g

/** Terminal output as text: colours, cursor movements, titles and links are taken out; a redrawn line is its last state. */
export function stripTerminal(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(ESCAPES, '')
    .replace(BACKSPACE, '')
    .split('\n')
    .map((line) => line.slice(line.lastIndexOf('\r', line.length - 2) + 1).replace(/\r$/, ''))
    .join('\n')
}

/** The last lines of terminal output, and how many were left out before them. */
export function takeLastLines(
  text: string,
  linesMax: number,
): { readonly lines: readonly string[]; readonly left: number } {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  const left = Math.max(0, lines.length - linesMax)
  return { lines: lines.slice(left), left }
}
