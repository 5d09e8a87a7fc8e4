/** Number of characters of a text: a surrogate pair is one. */
export function countChars(text: string): number {
  let count = text.length
  for (let at = 0; at + 1 < text.length; at++) {
    if (isPair(text, at)) {
      count--
      at++
    }
  }
  return count
}

/** The first characters of a text, never splitting one; lone surrogates become U+FFFD. */
export function takeFirstChars(text: string, charsMax: number): string {
  let end = 0
  for (let count = 0; count < charsMax && end < text.length; count++) end += isPair(text, end) ? 2 : 1
  return text.slice(0, end).toWellFormed()
}

function isPair(text: string, at: number): boolean {
  return isWithin(text.charCodeAt(at), 0xd800) && isWithin(text.charCodeAt(at + 1), 0xdc00)
}

/** Each kind of surrogate has a block of 1024. */
function isWithin(unit: number, from: number): boolean {
  return unit >= from && unit < from + 0x400
}
