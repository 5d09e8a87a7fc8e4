import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Chunk, splitMarkdown } from '../../src/knowledge/chunk.js'
import { countTokens } from '../../src/knowledge/tokens.js'

const FILE_CHUNKS_MAX = 2_000
const CHUNK_TOKENS_MAX = 256
function cut(text: string, firstLine = 1): readonly Chunk[] {
  const chunked = splitMarkdown(text, firstLine, countTokens)
  if (!chunked.ok) throw new Error(chunked.reason)
  return chunked.chunks
}

const words = (count: number): string => Array.from({ length: count }, (_, at) => `word${at}`).join(' ')

describe('cutting documents', () => {
  it('[REQ-KNOW-1] a passage ends at the next heading and knows all headings above it', () => {
    const chunks = cut('# Book\nfirst\n## Part\nsecond\n### Page\nthird\n## Other\nfourth')
    expect(chunks.map(({ path, content }) => [path.join('/'), content])).toEqual([
      ['Book', 'first'],
      ['Book/Part', 'second'],
      ['Book/Part/Page', 'third'],
      ['Book/Other', 'fourth'],
    ])
  })

  it('[REQ-KNOW-1] a heading inside code, a quote, a list or a comment does not count as a heading', () => {
    const text = '# Real\n```\n# code\n```\n\n    # indented\n\n> # quoted\n\n- # listed\n\n<!--\n# comment\n-->\n\nend'
    expect(new Set(cut(text).map(({ path }) => path.join('/')))).toEqual(new Set(['Real']))
  })

  it('[REQ-KNOW-1] a heading that is underlined is one', () => {
    expect(cut('Title\n=====\ntext\n\nSub\n---\nmore').map(({ path }) => path.join('/'))).toEqual([
      'Title',
      'Title/Sub',
    ])
  })

  it('[REQ-KNOW-1] a passage says in which line of the file it begins', () => {
    const chunks = cut('# A\n\n\ntext\n\n## B\n\nmore', 5)
    expect(chunks.map(({ startLine }) => startLine)).toEqual([8, 12])
  })

  it('[REQ-KNOW-2] a block of code is never split, however long it is', () => {
    const code = `\`\`\`js\n${Array.from({ length: 400 }, (_, at) => `call(${at})\n`).join('\n')}\`\`\``
    const chunks = cut(`# Code\nbefore\n\n${code}\n\nafter`)
    expect(chunks.filter(({ content }) => content.includes('call('))).toHaveLength(1)
    expect(chunks.find(({ content }) => content.includes('call('))?.content).toBe(code)
  })

  it('[REQ-KNOW-2] code inside a list or a quote is not split either', () => {
    const code = Array.from({ length: 300 }, (_, at) => `  call(${at})`)
    const list = `- item ${words(300)}\n\n  \`\`\`\n${code.join('\n')}\n  \`\`\`\n\n- last`
    const quote = `> ${words(300)}\n>\n> \`\`\`\n${code.map((line) => `> ${line}`).join('\n')}\n> \`\`\``
    for (const text of [list, quote])
      expect(cut(text).filter(({ content }) => content.includes('call('))).toHaveLength(1)
  })

  it('[REQ-KNOW-2] a passage without code has at most as many tokens as the model reads, counted for real', () => {
    const texts = [
      words(5000),
      'a'.repeat(50_000),
      '漢字'.repeat(3000),
      '🙂'.repeat(3000),
      `- ${words(900)}\n`.repeat(3),
    ]
    for (const text of texts) {
      const chunks = cut(`# Long\n\n${text}`)
      expect(chunks.length).toBeGreaterThan(1)
      for (const { tokens, content } of chunks) {
        expect(tokens).toBe(countTokens(content))
        expect(tokens).toBeLessThanOrEqual(CHUNK_TOKENS_MAX)
      }
    }
  })

  it('[REQ-KNOW-2] nothing of a text is lost by cutting', () => {
    const bare = (text: string): string => text.replace(/\s/g, '')
    fc.assert(
      fc.property(fc.array(fc.lorem({ maxCount: 60, mode: 'words' }), { maxLength: 12 }), (parts) => {
        const text = parts.join('\n\n')
        expect(
          bare(
            cut(text)
              .map(({ content }) => content)
              .join(''),
          ),
        ).toBe(bare(text))
      }),
      { numRuns: 50 },
    )
  })

  it('[REQ-KNOW-2] a document with too many or too large passages is refused with its reason, not cut short', () => {
    const many = splitMarkdown('# h\ntext\n'.repeat(FILE_CHUNKS_MAX + 1), 1, countTokens)
    expect(many).toEqual({ ok: false, reason: expect.stringContaining('passages') })
    const large = splitMarkdown(`x\n\n\`\`\`\n${'y'.repeat(100_000)}\n\`\`\``, 1, () => 1000)
    expect(large).toEqual({ ok: false, reason: expect.stringContaining('line 3') })
  })

  it('[REQ-KNOW-2] documents made to be slow are cut in bounded time', () => {
    const hostile = [
      '> '.repeat(20_000),
      '- '.repeat(20_000),
      '['.repeat(100_000),
      '`'.repeat(100_000),
      '* a\n'.repeat(20_000),
      `${'|'.repeat(20_000)}\n${'|-'.repeat(10_000)}`,
      'a'.repeat(400_000),
      '<!--'.repeat(50_000),
    ]
    for (const text of hostile) {
      const started = performance.now()
      splitMarkdown(text, 1, countTokens)
      expect(performance.now() - started, text.slice(0, 20)).toBeLessThan(10_000)
    }
  })
})
