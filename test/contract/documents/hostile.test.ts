import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { loadContractText } from '../../../src/contract/load/load-contract.js'
import { depth } from '../../depth.js'
import { understood } from './phase.js'

const MS_MAX = 15_000

/** Texts that make careless parsers take minutes. */
const SLOW: readonly (readonly [string, string])[] = [
  ['dashes in a sentence', `Required: \`a\` ${'-'.repeat(300_000)} x`],
  ['spaces in a rule', `### Checkpoint\n\n- \`a\` (integer, at least 3${' '.repeat(300_000)}x y)`],
  ['many bold markers', `${'**required:** '.repeat(40_000)}`],
  ['many example headings', '### example\n'.repeat(40_000)],
  ['many gate sections', '### checkpoint\n'.repeat(40_000)],
  ['many tables', '|field|\n|-|\n|a|\n\n'.repeat(30_000)],
  ['many evidence blocks', '```yaml evidence\na: {type: string}\n```\n'.repeat(9_000)],
  ['many check boxes', `### Checkpoint\n\n${'- [ ] a {#a}\n'.repeat(30_000)}`],
  ['many names in one item', `### Checkpoint\n\n- ${'`b` (integer) `c` (integer) '.repeat(15_000)}`],
  ['many comments in HTML', `### Checkpoint\n\n<div>\n${'<!-- '.repeat(60_000)}`],
  ['spaces in HTML', `### Checkpoint\n\n<pre>\n${' \n'.repeat(100_000)}`],
  ['code that never ends', `\`\`\`\n${'## \n'.repeat(100_000)}`],
  ['open brackets', '['.repeat(100_000)],
  ['a deep quote', `${'>'.repeat(100_000)} Required: \`a\``],
]

describe('hostile documents', () => {
  it.each(SLOW)('[REQ-DOC-4] %s are decided in time, and open nothing', async (_name, text) => {
    const started = Date.now()
    const { problems } = await understood(text)
    expect(Date.now() - started).toBeLessThan(MS_MAX)
    expect(problems.length).toBeGreaterThan(0)
  })

  it('[REQ-DOC-4] whatever a document says, loading it answers', async () => {
    const part = fc.constantFrom(
      ...[
        '### Checkpoint\n',
        '## Phase 2: B\n',
        '- [ ] ',
        '- `a` (',
        'integer',
        ', at least ',
        '3',
        ')',
        '`',
        '**',
        '|',
        '\n',
      ],
      ...[
        'Required: ',
        'evidence:',
        '```yaml evidence\n',
        '```\n',
        'a: {type: integer}\n',
        '<!--',
        '-->',
        '---\n',
        '{#a}',
        '> ',
        '  ',
      ],
      ...[
        '\r',
        '\u2028',
        '__proto__',
        '&a',
        '*a',
        'checkpoint: none',
        '| field | type |\n| - | - |\n',
        '# Example\n',
        '{{task.title}}',
      ],
    )
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 40 }), async (parts) => {
        const text = `## Phase 1: A\n\n${parts.join('')}`
        const loaded = await loadContractText(text, { file: 'flow.md', baseDir: null })
        if (!loaded.ok) {
          expect(loaded.diagnostics.some((one) => one.severity === 'error')).toBe(true)
          return
        }
        const again = await loadContractText(JSON.stringify(loaded.document), { file: 'contract', baseDir: null })
        expect(again.ok && again.contract.hash).toBe(loaded.contract.hash)
      }),
      { numRuns: depth(50, 400) },
    )
  })
})
