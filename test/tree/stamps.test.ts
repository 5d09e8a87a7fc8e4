import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { findTouched, StampWriter } from '../../src/tree/stamps.js'
import { indexTree, KnownContents } from '../../src/tree/tree-contents.js'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'phaselock-stamps-'))
  mkdirSync(join(root, 'src/deep'), { recursive: true })
  mkdirSync(join(root, 'out'))
  for (const path of ['a.txt', 'src/b.txt', 'src/deep/c\nd.txt', 'out/x.log']) writeFileSync(join(root, path), path)
  symlinkSync('a.txt', join(root, 'src/link'))
})
afterEach(() => rmSync(root, { recursive: true }))

function read(): string {
  const stamps = new StampWriter()
  indexTree(root, { rules: null, excludes: 'out/' }, new KnownContents(), { fingerprint: null, stamps })
  return stamps.finish()
}

const change: Record<string, [() => void, string[]]> = {
  'a file that is written with the same content': [() => writeFileSync(join(root, 'a.txt'), 'a.txt'), ['a.txt']],
  'a file whose time is set back': [
    () => {
      const { atime, mtime } = statSync(join(root, 'src/b.txt'))
      writeFileSync(join(root, 'src/b.txt'), readFileSync(join(root, 'src/b.txt')))
      utimesSync(join(root, 'src/b.txt'), atime, mtime)
    },
    ['src/b.txt'],
  ],
  'a name with a line break': [() => writeFileSync(join(root, 'src/deep/c\nd.txt'), ''), ['src/deep/c\nd.txt']],
  'a file that comes and goes': [
    () => {
      writeFileSync(join(root, 'src/new'), '')
      unlinkSync(join(root, 'src/new'))
    },
    ['src'],
  ],
  'a link that is replaced by the same': [
    () => {
      unlinkSync(join(root, 'src/link'))
      symlinkSync('a.txt', join(root, 'src/link'))
    },
    ['src', 'src/link'],
  ],
  'a file that is gone': [() => unlinkSync(join(root, 'a.txt')), ['.', 'a.txt']],
}

it.each(Object.entries(change))('[REQ-HARNESS-7] stamps show %s', (_, [make, touched]) => {
  const before = read()
  make()
  expect(findTouched(before, read())).toEqual(touched)
})

it('[REQ-HARNESS-7] stamps are the same as long as nothing that counts was touched', () => {
  const before = read()
  writeFileSync(join(root, 'out/x.log'), 'more')
  readFileSync(join(root, 'a.txt'))
  expect(findTouched(before, read())).toEqual([])
})

it('[REQ-HARNESS-7] stamps that were not read are not taken for equal ones', () => {
  expect(() => findTouched(null, null)).toThrow('not read')
})
