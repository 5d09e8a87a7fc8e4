// Control and format characters reorder, hide or join what stands around them: a name could pretend to be another.
const UNSEEN = /[\p{Cc}\p{Cf}]/gu

/** A text that an agent wrote, with characters that cannot be seen as their code, so that it reads as what it is. */
export function toPlainText(text: string): string {
  return text.replace(UNSEEN, (char) => (char === '\n' || char === '\t' ? char : `⟨${formatCode(char)}⟩`))
}

function formatCode(char: string): string {
  return `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
}
