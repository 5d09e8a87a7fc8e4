import { afterEach, describe, expect, it } from 'vitest'
import { listRelated } from '../../src/knowledge/related-words.js'
import type { Document } from './corpus/corpus.js'
import { asking, type Library, library } from './measure.js'

const FILLER = Array.from({ length: 20 }, (_, at) => ({
  file: `notes/${at}.md`,
  text: `# Note ${at}\n\nGranite, basalt and slate number ${at}.\n`,
}))

describe('searching by words alone', () => {
  let lib: Library = library()
  afterEach(() => lib.end())

  const filesFor = async (documents: readonly Document[], query: string, limit = 5): Promise<readonly string[]> => {
    lib = library([...FILLER, ...documents])
    const knowledge = lib.open()
    await knowledge.settle()
    return (await knowledge.search(asking(query, { limit }))).results.map(({ file }) => file)
  }

  it('[REQ-KNOW-22] every form of a word leads to related words, and an unknown one to none', () => {
    expect(listRelated('purchases')).toEqual(listRelated('purchase'))
    expect(listRelated('purchase').length).toBeGreaterThan(0)
    for (const word of ['xyzzyplugh', '"', 'a" OR "b', '*']) expect(listRelated(word), word).toEqual([])
  })

  it('[REQ-KNOW-22] a related word is found, after the word itself', async () => {
    const documents = [
      { file: 'a.md', text: '# One\n\nWe may acquire it.\n' },
      { file: 'b.md', text: '# Two\n\nThe purchase was approved.\n' },
    ]
    expect(await filesFor(documents, 'purchase')).toEqual(['b.md', 'a.md'])
  })

  it('[REQ-KNOW-22] short and long forms find each other', async () => {
    const documents = [
      { file: 'short.md', text: '# One\n\nThe k8s nodes are drained.\n' },
      { file: 'long.md', text: '# Two\n\nKubernetes nodes are drained.\n' },
    ]
    expect(await filesFor(documents, 'k8s')).toEqual(['short.md', 'long.md'])
    await lib.end()
    expect(await filesFor(documents, 'Kubernetes')).toEqual(['long.md', 'short.md'])
  })

  it('[REQ-KNOW-22] the parts of an identifier are found, and an identifier by its parts', async () => {
    const documents = [
      { file: 'a.md', text: '# One\n\nSet `maxWombatCount` first.\n' },
      { file: 'b.md', text: '# Two\n\nA wombat sleeps.\n' },
    ]
    expect(await filesFor(documents, 'wombat')).toEqual(expect.arrayContaining(['a.md', 'b.md']))
    await lib.end()
    expect((await filesFor(documents, 'maxWombatCount')).slice(0, 2)).toEqual(['a.md', 'b.md'])
  })

  it('[REQ-KNOW-22] words of the path and of the title in the front matter are found', async () => {
    const documents = [
      { file: 'team/wombat-care.md', text: 'Twice a day.\n' },
      { file: 'other.md', text: '---\ntitle: Numbat care\n---\nOnce a day.\n' },
    ]
    expect(await filesFor(documents, 'wombat')).toEqual(['team/wombat-care.md'])
    await lib.end()
    expect(await filesFor(documents, 'numbat')).toEqual(['other.md'])
  })

  it('[REQ-KNOW-23] a long section takes one place while others have none', async () => {
    const long = Array.from({ length: 6 }, (_, at) => `Wombat ${at}. ${'The wombat digs a burrow. '.repeat(30)}`)
    const documents = [
      { file: 'long.md', text: `# Wombats\n\n${long.join('\n\n')}\n` },
      { file: 'one.md', text: '# Food\n\nGrass for the wombat.\n' },
      { file: 'two.md', text: '# Sleep\n\nBy day the wombat sleeps in the shade of a tree.\n' },
    ]
    expect([...(await filesFor(documents, 'wombat', 3))].sort()).toEqual(['long.md', 'one.md', 'two.md'])
    await lib.end()
    const all = await filesFor(documents, 'wombat', 50)
    expect(all.filter((file) => file === 'long.md').length).toBeGreaterThan(3)
  })

  it('[REQ-KNOW-7] hidden documents change no score through related words or through their length in sections', async () => {
    const scoresBeside = async (hidden: string) => {
      lib = library([
        ...FILLER,
        { file: 'a.md', text: '# One\n\nWe may acquire it.\n\n## Two\n\nBy the board.\n' },
        ...Array.from({ length: 30 }, (_, at) => ({ file: `phases/DONE/${at}.md`, text: `# X\n\n${hidden}\n` })),
      ])
      const knowledge = lib.open()
      await knowledge.settle()
      const { results } = await knowledge.search(asking('purchase by the board', { visible: [] }))
      await lib.end()
      return results
    }
    const first = await scoresBeside('acquire purchase board')
    expect(first[0]?.file).toBe('a.md')
    expect(await scoresBeside('quartz granite cobalt')).toEqual(first)
  })
})
