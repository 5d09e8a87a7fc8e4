import { chmodSync, linkSync, mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { Knowledge } from '../../src/knowledge/knowledge.js'
import { FILE_BYTES_MAX } from '../../src/knowledge/sources.js'
import { isFullDepth } from '../depth.js'
import { asking, type Library, library } from './measure.js'

let lib: Library
afterEach(() => lib.end())

const files = async (knowledge: Knowledge, query: string) =>
  (await knowledge.search(asking(query))).results.map(({ file }) => file)

async function until(holds: () => Promise<boolean>): Promise<boolean> {
  for (let left = 100; left > 0; left -= 1) {
    if (await holds()) return true
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  return false
}

describe('the index', () => {
  it('[REQ-KNOW-10] only what has changed is read into it again', async () => {
    lib = library(Array.from({ length: 20 }, (_, at) => ({ file: `d/${at}.md`, text: `# Doc ${at}\n\nalpha\n` })))
    const knowledge = lib.open()
    await knowledge.settle()
    const { indexVersion } = await knowledge.status()
    expect(await knowledge.refresh()).toMatchObject({ added: 0, removed: 0, unchanged: 20 })
    expect((await knowledge.status()).indexVersion).toBe(indexVersion)
    lib.write('d/3.md', '# Doc 3\n\nbeta\n')
    lib.write('d/new.md', '# New\n\nbeta\n')
    lib.remove('d/4.md')
    expect(await knowledge.refresh()).toMatchObject({ added: 2, removed: 1, unchanged: 18 })
    expect(await files(knowledge, 'beta')).toEqual(expect.arrayContaining(['d/3.md', 'd/new.md']))
    expect((await knowledge.search(asking('alpha', { limit: 50 }))).results).toHaveLength(18)
    expect((await knowledge.status()).indexVersion).toBeGreaterThan(indexVersion)
  })

  it.runIf(isFullDepth())('[REQ-KNOW-10] a renamed file is found under its new name only', async () => {
    lib = library([{ file: 'old.md', text: '# Doc\n\nalpha\n' }])
    const knowledge = lib.open()
    await knowledge.settle()
    renameSync(join(lib.root, 'old.md'), join(lib.root, 'new.md'))
    await knowledge.refresh()
    expect(await files(knowledge, 'alpha')).toEqual(['new.md'])
  })

  it('[REQ-KNOW-10] after a restart nothing is read into it again', async () => {
    lib = library([{ file: 'a.md', text: '# Doc\n\nalpha\n' }])
    const first = lib.open()
    await first.settle()
    await first.close()
    const second = lib.open()
    expect(await second.refresh()).toMatchObject({ added: 0, unchanged: 1 })
    expect(await files(second, 'alpha')).toEqual(['a.md'])
  })

  it.runIf(isFullDepth())('[REQ-KNOW-10] a damaged index is made again', async () => {
    lib = library([{ file: 'a.md', text: '# Doc\n\nalpha\n' }])
    const first = lib.open()
    await first.settle()
    await first.close()
    const folder = join(lib.stateDir, 'knowledge')
    for (const name of readdirSync(folder)) writeFileSync(join(folder, name), 'no database '.repeat(1000))
    const second = lib.open()
    await second.settle()
    expect(await files(second, 'alpha')).toEqual(['a.md'])
  })

  it('[REQ-KNOW-11] the watcher finds new, changed and removed files, also in new folders', async () => {
    lib = library([{ file: 'a/one.md', text: '# One\n\nalpha\n' }])
    const knowledge = lib.open(undefined, { isWatching: true })
    await knowledge.settle()
    lib.write('a/one.md', '# One\n\nbeta\n')
    expect(await until(async () => (await files(knowledge, 'beta')).length === 1)).toBe(true)
    mkdirSync(join(lib.root, 'b/c'), { recursive: true })
    lib.write('b/c/two.md', '# Two\n\ngamma\n')
    expect(await until(async () => (await files(knowledge, 'gamma')).length === 1)).toBe(true)
    lib.remove('a/one.md')
    expect(await until(async () => (await files(knowledge, 'beta')).length === 0)).toBe(true)
  })

  it.runIf(isFullDepth())('[REQ-KNOW-11] the watcher finds the first file of a folder that was empty', async () => {
    lib = library([])
    mkdirSync(join(lib.root, 'docs/empty'), { recursive: true })
    const knowledge = lib.open(undefined, { isWatching: true, sources: ['docs/**/*.md'] })
    await knowledge.settle()
    lib.write('docs/empty/one.md', '# One\n\nalpha\n')
    expect(await until(async () => (await files(knowledge, 'alpha')).length === 1)).toBe(true)
  })

  it.runIf(isFullDepth())('[REQ-KNOW-12] a folder that may not be opened hides its own files only', async () => {
    lib = library([
      { file: 'a/one.md', text: '# One\n\nalpha\n' },
      { file: 'b/two.md', text: '# Two\n\nalpha\n' },
    ])
    const knowledge = lib.open()
    await knowledge.settle()
    lib.write('c/three.md', '# Three\n\nalpha\n')
    chmodSync(join(lib.root, 'b'), 0)
    const found = await knowledge.refresh()
    chmodSync(join(lib.root, 'b'), 0o755)
    // Whoever is root may open everything.
    expect(found).toMatchObject(process.getuid?.() === 0 ? { added: 1, removed: 0 } : { added: 1, removed: 1 })
  })

  it('[REQ-KNOW-12] links, files outside the globs and what installing makes are not read', async () => {
    lib = library([
      { file: 'docs/in.md', text: '# In\n\nalpha\n' },
      { file: 'other/out.md', text: '# Out\n\nalpha\n' },
      { file: 'docs/node_modules/x/readme.md', text: '# X\n\nalpha\n' },
      { file: 'docs/.git/x.md', text: '# X\n\nalpha\n' },
    ])
    const outside = join(lib.dir, 'outside.md')
    writeFileSync(outside, '# Outside\n\nalpha\n')
    mkdirSync(join(lib.dir, 'folder'))
    writeFileSync(join(lib.dir, 'folder', 'x.md'), '# Outside\n\nalpha\n')
    symlinkSync(outside, join(lib.root, 'docs', 'link.md'))
    symlinkSync(join(lib.dir, 'folder'), join(lib.root, 'docs', 'linked'))
    symlinkSync('../other/out.md', join(lib.root, 'docs', 'inside.md'))
    const knowledge = lib.open(undefined, { sources: ['docs/**/*.md'] })
    await knowledge.settle()
    expect(await files(knowledge, 'alpha')).toEqual(['docs/in.md'])
  })

  it.runIf(isFullDepth())(
    '[REQ-KNOW-12] a file that is too large is left out with its reason, and found no more if it was there',
    async () => {
      lib = library([{ file: 'a.md', text: '# A\n\nalpha\n' }])
      const knowledge = lib.open()
      await knowledge.settle()
      lib.write('a.md', `# A\n\nalpha ${'x'.repeat(FILE_BYTES_MAX)}\n`)
      await knowledge.refresh()
      expect(await files(knowledge, 'alpha')).toEqual([])
      expect((await knowledge.status()).skipped).toEqual([{ file: 'a.md', reason: expect.stringContaining('larger') }])
    },
  )

  it.runIf(isFullDepth())(
    '[REQ-KNOW-12] hard links, empty files, bytes that are not text and strange names do no harm',
    async () => {
      lib = library([
        { file: 'a.md', text: '# A\n\nalpha\n' },
        { file: 'empty.md', text: '' },
        { file: 'a\nb.md', text: '# Line\n\nalpha\n' },
        { file: '__proto__.md', text: '# P\n\nalpha\n' },
        { file: 'constructor.md', text: '# P\n\nalpha\n' },
      ])
      writeFileSync(join(lib.root, 'bytes.md'), Buffer.from([0, 255, 254, 10, 35, 32, 0, 97, 108, 112, 104, 97]))
      linkSync(join(lib.root, 'a.md'), join(lib.root, 'hard.md'))
      const knowledge = lib.open()
      await knowledge.settle()
      expect((await files(knowledge, 'alpha')).length).toBeGreaterThanOrEqual(4)
    },
  )

  it('[REQ-KNOW-13] what belonged to no phase before a restart and belongs to one now is not shown meanwhile', async () => {
    lib = library([{ file: 'a.md', text: '# A\n\nalpha\n' }])
    const first = lib.open()
    await first.settle()
    await first.close()
    lib.write('a.md', '---\nphase: DONE\n---\n# A\n\nalpha\n')
    const second = lib.open()
    for (let asked = 0; asked < 20; asked += 1)
      expect((await second.search(asking('alpha', { visible: ['PLAN'] }))).results).toEqual([])
    await second.refresh()
    expect((await second.search(asking('alpha', { visible: ['DONE'] }))).results).toHaveLength(1)
  })

  it('[REQ-KNOW-13] a document that a phase owns is shown with that phase only, from the moment it does', async () => {
    lib = library([{ file: 'a.md', text: '# A\n\nalpha\n' }])
    const first = lib.open()
    await first.settle()
    expect((await first.search(asking('alpha', { visible: [] }))).results).toHaveLength(1)
    await first.close()
    const second = lib.open(undefined, { owners: { 'a.md': ['DONE'] } })
    expect((await second.search(asking('alpha', { visible: [] }))).results).toEqual([])
    await second.settle()
    expect((await second.search(asking('alpha', { visible: [] }))).results).toEqual([])
    expect((await second.search(asking('alpha', { visible: ['DONE'] }))).results).toHaveLength(1)
  })

  it.runIf(isFullDepth())('[REQ-KNOW-14] a closed index refuses, and closing twice is fine', async () => {
    lib = library([])
    const knowledge = lib.open()
    await knowledge.close()
    await knowledge.close()
    await expect(knowledge.search(asking('x'))).rejects.toThrow('closed')
  })
})
