import { readFileSync } from 'node:fs'

/** A fenced block of a Markdown file. The first word after the fence is its language, the rest are its marks. */
export interface Block {
  readonly file: string
  /** The line of the opening fence, from 1. */
  readonly line: number
  readonly language: string
  readonly marks: readonly string[]
  readonly text: string
}

export const ROOT = new URL('../../', import.meta.url).pathname

export function readDoc(file: string): string {
  return readFileSync(`${ROOT}${file}`, 'utf8')
}

/** Every fenced block of the file, in order. A fence that is never closed is a fault of the document. */
export function blocksOf(file: string): readonly Block[] {
  const blocks: Block[] = []
  let open: { line: number; info: readonly string[]; text: string[] } | null = null
  for (const [index, line] of readDoc(file).split('\n').entries()) {
    if (open === null) {
      const fence = /^```(.*)$/.exec(line)
      if (fence !== null) open = { line: index + 1, info: (fence[1] ?? '').trim().split(/\s+/), text: [] }
    } else if (line === '```') {
      const [language = '', ...marks] = open.info
      blocks.push({ file, line: open.line, language, marks, text: `${open.text.join('\n')}\n` })
      open = null
    } else open.text.push(line)
  }
  if (open !== null) throw new Error(`${file}:${open.line}: the block is not closed`)
  return blocks
}

export function placeOf(block: Block): string {
  return `${block.file}:${block.line}`
}

/** The body of each `##` section by its heading, back-quotes taken off. */
export function sectionsOf(file: string, level = 2): ReadonlyMap<string, string> {
  const mark = `${'#'.repeat(level)} `
  const sections = new Map<string, string>()
  let heading: string | null = null
  let isFenced = false
  for (const line of readDoc(file).split('\n')) {
    if (line.startsWith('```')) isFenced = !isFenced
    if (!isFenced && /^#{1,6} /.test(line) && line.indexOf(' ') <= level) {
      heading = line.startsWith(mark) ? line.slice(mark.length).replaceAll('`', '').trim() : null
      if (heading !== null && sections.has(heading)) throw new Error(`${file}: the heading ${heading} is there twice`)
      if (heading !== null) sections.set(heading, '')
    } else if (heading !== null) sections.set(heading, `${sections.get(heading)}${line}\n`)
  }
  return sections
}
