import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { FingerprintReader, requireFingerprint } from '../../src/tree/fingerprint.js'
import { indexTree, KnownContents, type TreeIndex } from '../../src/tree/tree-contents.js'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'phaselock-fingerprint-'))
  put({ '.gitignore': 'out/\n*.log\n', 'a.js': 'a', 'b/c.js': 'c', 'b-c.js': 'd', 'out/x.txt': 'x', 'run.log': 'l' })
  put({ 'target/t.bin': 't', 'node_modules/p/index.js': 'p', 'b/venv/v.py': 'v', 'b/dist/d.js': 'd' })
  symlinkSync('a.js', join(root, 'link.js'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

function put(files: Readonly<Record<string, string>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
}

const known = new KnownContents()
function look(except: readonly string[] = []): { readonly index: TreeIndex; readonly hash: string } {
  const reader = new FingerprintReader(new Set(except))
  const index = indexTree(root, { rules: null, excludes: '' }, known, { fingerprint: reader, stamps: null })
  return { index, hash: requireFingerprint(reader.finish()) }
}

test('[REQ-APPROVAL-5] a fingerprint covers every file of the project, ignored or not, and nothing that is installed or built', () => {
  const sha = (text: string): string => createHash('sha256').update(text).digest('hex')
  const files = [
    ...(['.gitignore', 'a.js', 'b-c.js', 'b/c.js', 'b/dist/d.js', 'b/venv/v.py'] as const),
    ...(['link.js', 'out/x.txt', 'run.log'] as const),
  ]
  const contents: Record<string, string> = { 'a.js': 'a', 'b-c.js': 'd', 'b/c.js': 'c', 'b/dist/d.js': 'd' }
  Object.assign(contents, { 'b/venv/v.py': 'v', 'out/x.txt': 'x', 'run.log': 'l', '.gitignore': 'out/\n*.log\n' })
  const whole = files.map((path) =>
    JSON.stringify([path, path === 'link.js' ? 'link a.js' : sha(contents[path] ?? '')]),
  )
  const { hash } = look()
  expect(hash).toBe(sha(whole.join('')))
  put({ 'target/t.bin': '2', 'node_modules/p/index.js': '2' })
  expect(look().hash).toBe(hash)
  for (const path of ['a.js', 'out/x.txt', 'b/venv/v.py']) {
    put({ [path]: 'changed' })
    expect(look().hash, path).not.toBe(hash)
    expect(look([path]).hash, path).not.toBe(hash)
    const before = look([path]).hash
    put({ [path]: 'changed again' })
    expect(look([path]).hash, path).toBe(before)
    put({ [path]: contents[path] ?? '' })
  }
  expect(look().hash).toBe(hash)
})

test('[REQ-APPROVAL-5] reading a fingerprint along changes nothing about the index', () => {
  const alone = indexTree(root, { rules: null, excludes: '' }, known)
  expect(look().index).toEqual(alone)
  expect(Object.keys(alone.entries).sort()).toEqual([
    ...['.gitignore', 'a.js', 'b-c.js', 'b/c.js', 'b/dist/d.js', 'link.js', 'target/t.bin'],
  ])
  expect(Object.keys(alone.packages).sort()).toEqual(['b/venv', 'node_modules'])
})

test('[REQ-APPROVAL-5] a name that cannot be opened again gives no fingerprint', () => {
  writeFileSync(Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0xff])]), '')
  expect(() => look()).toThrow(/has a name that is not UTF-8/)
})
