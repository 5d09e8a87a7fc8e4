const TITLE_CHARS_MAX = 200
const SHORT_CHARS_MAX = 120

/** The title of a task from what a person typed; a text that is too long for one is the description as well. */
export function toTaskRequest(text: string): { readonly title: string; readonly description?: string } {
  const [line = ''] = text.trim().split('\n')
  if (text.trim() === line && line.length <= TITLE_CHARS_MAX) return { title: text }
  return { title: shortenTitle(line), description: text }
}

// At the end of a sentence, otherwise between two words.
function shortenTitle(line: string): string {
  if (line.length <= SHORT_CHARS_MAX) return line
  const start = line.slice(0, SHORT_CHARS_MAX)
  const sentence = /^.{20,}?[.:;](?=\s)/.exec(start)?.[0]
  return sentence === undefined ? `${start.replace(/\s+\S*$/, '')} …` : sentence.slice(0, -1)
}
