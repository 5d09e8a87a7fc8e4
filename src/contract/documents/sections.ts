import type { Block, Heading } from './markdown.js'

const GATE = /\b(?:checkpoints?|evidence|validation gates?)\b/i
const EXAMPLE = /\bexamples?\b/i
const PHASE = /^phase\s+(\d{1,4})(?:\s*[:.–—-]\s*(.*))?$/i

/** The blocks below a heading, up to the next one of its level or above. */
export function getSection(blocks: readonly Block[], heading: Heading): readonly Block[] {
  const start = blocks.indexOf(heading) + 1
  const length = blocks.slice(start).findIndex((block) => isHeading(block) && block.level <= heading.level)
  return blocks.slice(start, length < 0 ? undefined : start + length)
}

/** Splits off the parts below headings that say example: they show evidence and require none. */
export function splitOffExamples(blocks: readonly Block[]): {
  readonly live: readonly Block[]
  readonly examples: readonly Block[]
} {
  const examples = new Set(
    blocks.flatMap((block) =>
      isHeading(block) && EXAMPLE.test(block.text) ? [block, ...getSection(blocks, block)] : [],
    ),
  )
  return { live: blocks.filter((block) => !examples.has(block)), examples: [...examples] }
}

/**
 * The headings that open a gate section. A heading inside such a section is part of it; the title counts only if there
 * is no other.
 */
export function findGateHeadings(blocks: readonly Block[], title: Heading | null): Heading[] {
  const said = blocks.filter((block): block is Heading => isHeading(block) && GATE.test(block.text))
  const others = said.filter((heading) => heading !== title)
  const outer: Heading[] = []
  let inside: ReadonlySet<Block> = new Set()
  for (const heading of others) {
    if (inside.has(heading)) continue
    outer.push(heading)
    inside = new Set(getSection(blocks, heading))
  }
  return outer.length > 0 ? outer : said.slice(0, 1)
}

/** The parts of `Phase 3: Analyse`; null for another heading. */
export function parsePhaseHeading(text: string): { readonly number: number; readonly name: string } | null {
  const found = PHASE.exec(text)
  if (found === null) return null
  const number = Number(found[1])
  return { number, name: found[2]?.trim() || `Phase ${number}` }
}

/** The heading that a link `#slug` leads to. */
export function findHeadingBySlug(blocks: readonly Block[], slug: string): Heading | null {
  const wanted = slug.toLowerCase()
  const found = blocks.find((block) => isHeading(block) && toSlug(block.text) === wanted)
  return found?.kind === 'heading' ? found : null
}

function toSlug(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}_\- ]/gu, '')
    .replaceAll(' ', '-')
}

export function isHeading(block: Block): block is Heading {
  return block.kind === 'heading' && block.isTop
}
