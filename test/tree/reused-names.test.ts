import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { indexTree, KnownContents } from '../../src/tree/tree-contents.js'
import { NOT_THE_PROJECT, openWorkTree } from '../../src/tree/work-tree.js'

const LONG_AGO = 1_000_000
let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'phaselock-names-'))
  mkdirSync(join(root, 'src'))
  writeFileSync(join(root, 'src/a.js'), 'export const a = 1\n')
  writeFileSync(join(root, 'src/b.js'), 'export const b = 2\n')
  utimesSync(join(root, 'src'), LONG_AGO, LONG_AGO)
  // As if everything was written long ago.
  vi.setSystemTime(Date.now() + 60_000)
})
afterEach(() => {
  vi.useRealTimers()
  rmSync(root, { recursive: true, force: true })
})

const list = async (): Promise<readonly string[]> =>
  (await openWorkTree(root, { reusesNames: true }).list(NOT_THE_PROJECT)).map(
    ({ path, isLink }) => `${path}${isLink ? ' ->' : ''}`,
  )

/** Changes the folder and gives it the time back that it had. */
function changeSecretly(change: () => void): void {
  change()
  utimesSync(join(root, 'src'), LONG_AGO, LONG_AGO)
}

describe('[REQ-TREE-10] a change of a folder that was read before is seen, also with its old time', () => {
  test.each<[string, () => void, readonly string[]]>([
    ['a new file', () => writeFileSync(join(root, 'src/c.js'), ''), ['src/a.js', 'src/b.js', 'src/c.js']],
    ['a removed file', () => unlinkSync(join(root, 'src/b.js')), ['src/a.js']],
    ['a renamed file', () => renameSync(join(root, 'src/b.js'), join(root, 'src/d.js')), ['src/a.js', 'src/d.js']],
    [
      'a link in place of a file',
      () => {
        unlinkSync(join(root, 'src/b.js'))
        symlinkSync('a.js', join(root, 'src/b.js'))
      },
      ['src/a.js', 'src/b.js ->'],
    ],
    [
      'another folder in its place',
      () => {
        renameSync(join(root, 'src'), join(root, 'src.old'))
        mkdirSync(join(root, 'src'))
        writeFileSync(join(root, 'src/z.js'), '')
        rmSync(join(root, 'src.old'), { recursive: true })
      },
      ['src/z.js'],
    ],
  ])('%s', async (_, change, now) => {
    expect(await list()).toEqual(['src/a.js', 'src/b.js'])
    expect(await list()).toEqual(['src/a.js', 'src/b.js'])
    // The kernel counts times of change in steps of milliseconds.
    await sleep(20)
    changeSecretly(change)
    expect(await list()).toEqual(now)
  })
})

test('[REQ-TREE-10] an equal listing is the same array, and only where names are reused', async () => {
  const tree = openWorkTree(root, { reusesNames: true })
  const first = await tree.list(NOT_THE_PROJECT)
  expect(await tree.list(NOT_THE_PROJECT)).toBe(first)
  writeFileSync(join(root, 'src/c.js'), '')
  const second = await tree.list(NOT_THE_PROJECT)
  expect(second).not.toBe(first)
  expect(first).toHaveLength(2)
  const view = openWorkTree(root)
  expect(await view.list(NOT_THE_PROJECT)).not.toBe(await view.list(NOT_THE_PROJECT))
})

const RUNNER = /['"`](node:test)['"`]/

function listNoted(known: KnownContents): readonly string[] {
  const { entries } = indexTree(root, { rules: null, excludes: '' }, known)
  return Object.keys(entries).filter((path) => known.noted.has((entries[path] ?? '').slice('file '.length)))
}

test('[REQ-TREE-11] a file swapped for one of the same size and time is read again', () => {
  const known = new KnownContents(RUNNER)
  const plain = "import 'node:path'\n"
  writeFileSync(join(root, 'src/a.js'), plain)
  utimesSync(join(root, 'src/a.js'), LONG_AGO, LONG_AGO)
  expect(listNoted(known)).toEqual([])
  const before = lstatSync(join(root, 'src/a.js'))
  for (const swap of [
    () => writeFileSync(join(root, 'src/a.js'), "import 'node:test'\n"),
    () => {
      writeFileSync(join(root, 'other'), "import 'node:test'\n")
      renameSync(join(root, 'other'), join(root, 'src/a.js'))
    },
  ]) {
    swap()
    utimesSync(join(root, 'src/a.js'), LONG_AGO, LONG_AGO)
    expect(lstatSync(join(root, 'src/a.js'))).toMatchObject({ size: before.size, mtimeMs: before.mtimeMs })
    expect(listNoted(known)).toEqual(['src/a.js'])
    writeFileSync(join(root, 'src/a.js'), plain)
    expect(listNoted(known)).toEqual([])
  }
})

test('[REQ-TREE-11] what is too long for one reading is taken note of', () => {
  const long = `${'/'.repeat(1024 * 1024 - 4)}"node:test"\n`
  writeFileSync(join(root, 'src/a.js'), long)
  expect(listNoted(new KnownContents(RUNNER))).toEqual(['src/a.js'])
})
