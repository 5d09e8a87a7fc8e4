/**
 * The path as other file systems may read it: ignoring case, invisible characters and other encodings of the same
 * letter (HFS+, APFS), trailing dots and spaces, and the stream name after a colon (NTFS). For comparing only.
 */
export function foldPath(path: string): string {
  const plain = PRINTABLE.test(path) ? path : path.normalize('NFKC').replaceAll(INVISIBLE, '')
  return plain.toLowerCase().split('/').map(foldName).join('/')
}

const PRINTABLE = /^[\x20-\x7e]*$/
const INVISIBLE = /\p{Default_Ignorable_Code_Point}+/gu

function foldName(name: string): string {
  const folded = name.replace(/:.*$/s, '').replace(/[. ]+$/, '')
  return folded === '' ? name : folded
}

/** A pattern for a folded name: as written, and as Windows shortens it (`.gitmodules` is also `gitmod~1`). */
export function makeFoldedNamePattern(name: string): string {
  return name
    .toLowerCase()
    .split('/')
    .map((part) =>
      SHORT.test(part) ? escapePattern(part) : `(?:${escapePattern(part)}|${makeShortNamePattern(part)})`,
    )
    .join('/')
}

// A short name has no other form.
const SHORT = /^[^.]{1,8}(\.[^.]{1,3})?$/
const BASE_CHARS = 6
const ENDING_CHARS = 3

function makeShortNamePattern(name: string): string {
  const visible = name.replace(/^\.+/, '')
  const dot = visible.lastIndexOf('.')
  const base = (dot === -1 ? visible : visible.slice(0, dot)).replaceAll('.', '').slice(0, BASE_CHARS)
  const ending = dot === -1 ? '' : `\\.${escapePattern(visible.slice(dot + 1, dot + 1 + ENDING_CHARS))}`
  return `${escapePattern(base)}~\\d+${ending}`
}

function escapePattern(text: string): string {
  return text.replaceAll('.', '\\.')
}
