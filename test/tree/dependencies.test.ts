import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { acceptDependencies, findChangedDependencies, keepDependencies } from '../../src/tree/dependencies.js'
import { openWorkTree } from '../../src/tree/work-tree.js'

const RULES = { rules: [{ base: '', text: '*.log\nout/\n' }], also: [] }

function place(files: Readonly<Record<string, string>>) {
  const dir = mkdtempSync(join(tmpdir(), 'phaselock-dependencies-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const root = join(dir, 'tree')
  mkdirSync(root)
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  for (const [path, text] of Object.entries(files)) write(path, text)
  const about = { ...RULES, file: join(dir, 'dependencies.json.gz') }
  return { root, write, about }
}

it('[REQ-VIEW-6] added and changed dependencies and ignored files are named; for a new folder, only the folder', () => {
  const { root, write, about } = place({
    'node_modules/a/index.js': 'a',
    'node_modules/a/lib/deep.js': 'deep',
    'src/one.js': '1',
    'src/b/kept.log': 'log',
    'gone.log': 'log',
  })
  keepDependencies(root, { ...about, before: Number.POSITIVE_INFINITY })
  expect(findChangedDependencies(root, about)).toEqual([])

  write('node_modules/a/lib/deep.js', 'other')
  write('node_modules/b/index.js', 'b')
  write('node_modules/b/lib/more.js', 'b')
  write('node_modules/c.js', 'c')
  rmSync(join(root, 'gone.log'))
  const expected = ['node_modules/a/lib/deep.js', 'node_modules/b', 'node_modules/c.js']
  expect(findChangedDependencies(root, about)).toEqual(expected)

  acceptDependencies(root, { ...about, paths: ['node_modules/b'], before: Number.POSITIVE_INFINITY })
  expect(findChangedDependencies(root, about)).toEqual(['node_modules/a/lib/deep.js', 'node_modules/c.js'])
})

it('[REQ-VIEW-6] an ignored file is named even if it is deeper than a new folder listed just before', () => {
  const { root, write, about } = place({ 'src/a.js': 'a', 'src/z/b.js': 'b' })
  keepDependencies(root, { ...about, before: Number.POSITIVE_INFINITY })
  write('src/out/built.js', 'built')
  write('src/source/late.log', 'late')
  write('src/z/late.log', 'late')
  expect(findChangedDependencies(root, about)).toEqual(['src/out', 'src/source/late.log', 'src/z/late.log'])
})

it('[REQ-VIEW-6] a folder in the place of a file, and a file in the place of a folder, are named', () => {
  const { root, write, about } = place({ 'node_modules/a': 'file', 'node_modules/b/index.js': 'b' })
  keepDependencies(root, { ...about, before: Number.POSITIVE_INFINITY })
  rmSync(join(root, 'node_modules'), { recursive: true })
  write('node_modules/a/index.js', 'a')
  write('node_modules/b', 'file')
  expect(findChangedDependencies(root, about)).toEqual(['node_modules/a', 'node_modules/b'])
})

it('[REQ-VIEW-2] many files are hashed as each alone is, however often, and changes are seen', async () => {
  const { root, write } = place({ 'tests/a.js': 'a', 'tests/deep/b.js': 'b', 'c.js': 'c' })
  symlinkSync('a.js', join(root, 'tests/link.js'))
  symlinkSync('/etc/passwd', join(root, 'tests/out.js'))
  const tree = openWorkTree(root)
  const paths = ['tests/a.js', 'tests/deep/b.js', 'c.js', 'tests/link.js', 'tests/none.js', 'none/none.js']
  const alone = new Map<string, string | null>()
  for (const path of paths) alone.set(path, await tree.hash(path))
  expect(alone.get('tests/link.js')).not.toBeNull()
  expect(await tree.hashEach(paths)).toEqual(alone)
  expect(await tree.hashEach(['tests/out.js', '../tree/c.js', '..', '/etc/passwd'])).toEqual(
    new Map([
      ['tests/out.js', null],
      ['../tree/c.js', null],
      ['..', null],
      ['/etc/passwd', null],
    ]),
  )
  write('tests/a.js', 'b')
  utimesSync(join(root, 'tests/a.js'), 1, 1)
  expect((await tree.hashEach(paths)).get('tests/a.js')).toBe(await tree.hash('tests/deep/b.js'))
})

it('[REQ-VIEW-2] a link to a link is hashed by every target on the way and by the file at its end', async () => {
  const { root, write } = place({ 'tests/pm': 'pm', 'tests/other/x': 'x' })
  symlinkSync('../pm', join(root, 'tests/other/pm'))
  symlinkSync('other/pm', join(root, 'tests/chain'))
  symlinkSync('/etc/passwd', join(root, 'tests/out'))
  symlinkSync('out', join(root, 'tests/chain-out'))
  symlinkSync('loop', join(root, 'tests/loop'))
  const tree = openWorkTree(root)
  const seen = new Set([await tree.hash('tests/chain')])
  write('tests/pm', 'gutted')
  seen.add(await tree.hash('tests/chain'))
  rmSync(join(root, 'tests/other/pm'))
  symlinkSync('./x', join(root, 'tests/other/pm'))
  seen.add(await tree.hash('tests/chain'))
  expect(seen.size).toBe(3)
  expect(seen).not.toContain(null)
  await expect(tree.hash('tests/chain-out')).rejects.toThrow('leaves the work tree')
  await expect(tree.hash('tests/loop')).rejects.toThrow(
    'is a link to something that is neither a file nor a folder of the work tree',
  )
})

it('[REQ-VIEW-2] a file that was hashed before and has not changed since keeps its hash', async () => {
  const tree = openWorkTree(process.cwd())
  const alone = await tree.hash('LICENSE')
  expect(alone).toMatch(/^[0-9a-f]{64}$/)
  expect(await tree.hashEach(['LICENSE', 'src'])).toEqual(
    new Map([
      ['LICENSE', alone],
      ['src', null],
    ]),
  )
})
