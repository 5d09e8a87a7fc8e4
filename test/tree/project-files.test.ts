import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { restoreListing } from '../../src/tree/listings.js'
import { type ProjectFiles, ProjectFilesReader } from '../../src/tree/project-files.js'
import { indexTree, KnownContents } from '../../src/tree/tree-contents.js'
import { NOT_THE_PROJECT, openWorkTree } from '../../src/tree/work-tree.js'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'phaselock-project-'))
  put('.gitignore', 'out/\n*.log\n')
  for (const path of ['b/c.js', 'b-c.js', 'b.js', 'out/x.txt', 'out/target/y', 'run.log', 'b/dist/d.js']) put(path)
  for (const path of ['dist/a.js', 'target/t.bin', 'node_modules/p/index.js', 'b/.venv/v.py', '.git/config']) put(path)
  symlinkSync('b.js', join(root, 'link.js'))
  symlinkSync('b', join(root, 'folder'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

function put(path: string, content = ''): void {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), content)
}

function look(): ProjectFiles | null {
  const files = new ProjectFilesReader()
  indexTree(root, { rules: null, excludes: '' }, new KnownContents(), { fingerprint: null, stamps: null, files })
  return files.finish()
}

const open = (files: ProjectFiles | null) => openWorkTree(root, { reusesNames: true, files })

test('[REQ-TREE-12] a look at the tree lists what a listing lists: ignored files and links too, nothing installed or built', async () => {
  const listed = await openWorkTree(root).list(NOT_THE_PROJECT)
  expect(await open(look()).list(NOT_THE_PROJECT)).toEqual(listed)
  expect(listed.map(({ path, isLink }) => `${path}${isLink ? ' ->' : ''}`)).toEqual([
    ...['.gitignore', 'b-c.js', 'b.js', 'b/c.js', 'b/dist/d.js', 'folder ->', 'link.js ->'],
    ...['out/target/y', 'out/x.txt', 'run.log'],
  ])
})

test('[REQ-TREE-12] other listings are made when they are asked for', async () => {
  const tree = open(look())
  put('late.js')
  const nothingSkipped = { anywhere: new Set<string>(), atRoot: new Set<string>() }
  expect((await tree.list(nothingSkipped)).map(({ path }) => path)).toContain('late.js')
  expect((await tree.list(NOT_THE_PROJECT)).map(({ path }) => path)).not.toContain('late.js')
})

test('[REQ-TREE-12] a tree whose files could not all be listed is listed again, which says why', async () => {
  const reader = new ProjectFilesReader()
  reader.refuse()
  expect(reader.finish()).toBeNull()
  const paths = (await open(null).list(NOT_THE_PROJECT)).map(({ path }) => path)
  expect(paths).toContain('b/c.js')
  if (process.getuid?.() === 0) return
  chmodSync(join(root, 'b'), 0)
  expect(look()).toBeNull()
  chmodSync(join(root, 'b'), 0o755)
})

test('[REQ-TREE-12] a path that became a link, or a file again, is listed as that', async () => {
  const before = await open(look()).list(NOT_THE_PROJECT)
  rmSync(join(root, 'b.js'))
  symlinkSync('b-c.js', join(root, 'b.js'))
  const after = await open(look()).list(NOT_THE_PROJECT)
  expect(before.find(({ path }) => path === 'b.js')?.isLink).toBe(false)
  expect(after.find(({ path }) => path === 'b.js')?.isLink).toBe(true)
})

test('[REQ-TREE-10] a listing is the same array as the one before only if no name changed', async () => {
  const first = await open(look()).list(NOT_THE_PROJECT)
  expect(await open(look()).list(NOT_THE_PROJECT)).toBe(first)
  expect(await open(null).list(NOT_THE_PROJECT)).toBe(first)
  put('late.js')
  const second = await open(look()).list(NOT_THE_PROJECT)
  expect(second).toHaveLength(first.length + 1)
  rmSync(join(root, 'late.js'))
  expect(await open(look()).list(NOT_THE_PROJECT)).toEqual(first)
  expect(restoreListing(join(root, 'other'), { all: '', links: '' })).toEqual([])
})

test('[REQ-TREE-12] a folder outside the project is listed alone, never through a link', async () => {
  put('dist/node_modules/p.js')
  put('dist/target/b.js')
  const list = async (folder: string) => (await open(null).listFolder(folder)).map(({ path }) => path)
  expect(await list('dist')).toEqual(['dist/a.js', 'dist/target/b.js'])
  for (const none of ['missing', 'folder', 'b.js']) expect(await list(none), none).toEqual([])
})
