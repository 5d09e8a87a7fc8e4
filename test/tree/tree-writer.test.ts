import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { TreeStep } from '../../src/tree/write/tree-steps.js'
import { isTargetInside } from '../../src/tree/write/tree-steps.js'
import { openTreeWriter } from '../../src/tree/write/tree-writer.js'
import { describe as everything, makePlace, type Place } from './place.js'

const isRoot = process.geteuid?.() === 0
const text = (value: string) => Buffer.from(value)
const sha256 = (value: string) => createHash('sha256').update(value).digest('hex')

function canMount(): boolean {
  return isRoot && spawnSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0
}

let place: Place
const at = (path: string) => join(place.tree, path)
const commit = (steps: readonly TreeStep[], signal?: AbortSignal) => openTreeWriter(place.tree).commit(steps, signal)
const mode = (path: string) => statSync(at(path)).mode & 0o7777

beforeEach(() => {
  place = makePlace()
})
afterEach(() => place.remove())

describe('what is not written', () => {
  it('[REQ-TREE-1] a target that is a link, a directory, a pipe, a socket or a device is refused and stays as it was', async () => {
    symlinkSync('../outside/secret.txt', at('link'))
    symlinkSync('../outside/new.txt', at('dangling'))
    mkdirSync(at('folder'))
    execFileSync('mkfifo', [at('pipe')])
    const server = createServer().listen(at('socket'))
    await new Promise((resolve) => server.once('listening', resolve))
    if (isRoot) execFileSync('mknod', [at('device'), 'c', '1', '3'])
    const before = place.snapshot() + everything(place.tree)
    for (const [path, problem] of [
      ['link', 'link'],
      ['dangling', 'link'],
      ['folder', 'directory'],
      ['pipe', 'special'],
      ['socket', 'special'],
      ...(isRoot ? [['device', 'special']] : []),
    ] as const) {
      expect(await commit([{ type: 'write', path, content: text('x') }])).toEqual({ ok: false, problem, path })
      expect(await commit([{ type: 'append', path, content: text('x') }])).toEqual({ ok: false, problem, path })
    }
    expect(place.snapshot() + everything(place.tree)).toBe(before)
    server.close()
  })

  it('[REQ-TREE-1] a link or a file in the middle of a path is refused for every kind of step', async () => {
    symlinkSync('../outside/folder', at('folder'))
    symlinkSync('/', at('root'))
    writeFileSync(at('file'), 'x')
    const before = place.snapshot() + everything(place.tree)
    const steps = (path: string): readonly TreeStep[] => [
      { type: 'write', path, content: text('x') },
      { type: 'append', path, content: text('x') },
      { type: 'delete', path },
      { type: 'delete', path, isRecursive: true },
      { type: 'make_directory', path },
      { type: 'make_link', path, target: 'x' },
      { type: 'set_mode', path, mode: 0o777 },
    ]
    for (const step of steps('folder/secret.txt'))
      expect(await commit([step]), step.type).toEqual({ ok: false, problem: 'link', path: 'folder' })
    for (const step of steps('root/tmp/phaselock-escaped'))
      expect(await commit([step]), step.type).toEqual({ ok: false, problem: 'link', path: 'root' })
    for (const step of steps('file/below'))
      expect(await commit([step]), step.type).toEqual({ ok: false, problem: 'not_a_directory', path: 'file' })
    expect(place.snapshot() + everything(place.tree)).toBe(before)
  })

  it('[REQ-TREE-1] a path that leaves the tree is refused for every kind of step, alone and among others', async () => {
    const before = place.snapshot()
    for (const path of ['../outside/secret.txt', 'a/../../outside/x', '/etc/hosts', '.', '', './', 'a\0b', '..']) {
      for (const step of [
        { type: 'write', path, content: text('x') },
        { type: 'delete', path, isRecursive: true },
        { type: 'make_directory', path },
        { type: 'make_link', path, target: 'x' },
        { type: 'set_mode', path, mode: 0o777 },
      ] as const) {
        expect(await commit([step]), path).toMatchObject({ ok: false, problem: 'outside' })
        const both = await commit([{ type: 'write', path: 'fine', content: text('x') }, step])
        expect(both, path).toMatchObject({ ok: false, problem: 'outside' })
      }
    }
    expect(readdirSync(place.tree)).toEqual([])
    expect(place.snapshot()).toBe(before)
  })

  it('[REQ-TREE-2] writing, appending and changing rights never reach another name of the same file', async () => {
    chmodSync(join(place.outside, 'secret.txt'), 0o600)
    const before = place.snapshot()
    for (const step of [
      { type: 'write', path: 'hard', content: text('mine') },
      { type: 'append', path: 'hard', content: text('mine') },
      { type: 'set_mode', path: 'hard', mode: 0o644 },
      { type: 'delete', path: 'hard' },
    ] as const) {
      linkSync(join(place.outside, 'secret.txt'), at('hard'))
      expect(await commit([step]), step.type).toMatchObject({ ok: true, leftovers: [] })
      expect(place.snapshot(), step.type).toBe(before)
      await commit([{ type: 'delete', path: 'hard' }])
    }
  })

  it('[REQ-TREE-4] a step that is refused takes back every step before it', async () => {
    mkdirSync(at('old/below'), { recursive: true })
    writeFileSync(at('old/below/file'), 'kept')
    writeFileSync(at('changed'), 'kept')
    writeFileSync(at('gone'), 'kept')
    writeFileSync(at('mode'), 'kept', { mode: 0o600 })
    symlinkSync('gone', at('link'))
    symlinkSync('gone', at('wall'))
    const before = everything(place.tree)
    const done = await commit([
      { type: 'write', path: 'new/deep/file', content: text('x') },
      { type: 'write', path: 'changed', content: text('x') },
      { type: 'append', path: 'changed', content: text('y') },
      { type: 'delete', path: 'gone' },
      { type: 'delete', path: 'old', isRecursive: true },
      { type: 'write', path: 'old', content: text('a file where a folder was') },
      { type: 'set_mode', path: 'mode', mode: 0o755 },
      { type: 'make_link', path: 'link', target: 'changed' },
      { type: 'make_directory', path: 'made/here', mode: 0o700 },
      { type: 'set_mode', path: 'wall', mode: 0o755 },
    ])
    expect(done).toEqual({ ok: false, problem: 'link', path: 'wall' })
    expect(everything(place.tree)).toBe(before)
  })

  it('[REQ-TREE-4] a change that is cancelled before it begins has no effect', async () => {
    const ended = new AbortController()
    ended.abort()
    const done = await commit([{ type: 'write', path: 'a/b', content: text('x') }], ended.signal)
    expect(done).toEqual({ ok: false, problem: 'aborted', path: 'a/b' })
    expect(readdirSync(place.tree)).toEqual([])
  })

  it('[REQ-TREE-4] a file that is not the expected one is not replaced', async () => {
    writeFileSync(at('file'), 'new')
    const done = await commit([{ type: 'write', path: 'file', content: text('x'), expected: '1:2:3:4:5' }])
    expect(done).toEqual({ ok: false, problem: 'changed', path: 'file' })
    expect(readFileSync(at('file'), 'utf8')).toBe('new')
    expect(readdirSync(place.tree)).toEqual(['file'])
  })

  it('[REQ-TREE-5] a directory that is not empty is deleted only when asked for, and then links in it are not followed', async () => {
    mkdirSync(at('folder/below'), { recursive: true })
    writeFileSync(at('folder/below/file'), 'x')
    symlinkSync(place.outside, at('folder/out'))
    symlinkSync('../../outside/folder', at('folder/below/out'))
    execFileSync('sh', ['-c', 'touch "$(printf "odd\\377name")"'], { cwd: at('folder') })
    const before = place.snapshot()
    expect(await commit([{ type: 'delete', path: 'folder' }])).toMatchObject({ problem: 'not_empty' })
    expect(existsSync(at('folder/below/file'))).toBe(true)
    const done = await commit([{ type: 'delete', path: 'folder', isRecursive: true }])
    expect(done).toMatchObject({ ok: true, leftovers: [], changes: [{ path: 'folder', kind: 'deleted' }] })
    expect(readdirSync(place.tree)).toEqual([])
    expect(place.snapshot()).toBe(before)
  })

  it.each([
    ['link', '/etc/passwd', false],
    ['link', '..', false],
    ['link', '../outside/secret.txt', false],
    ['a/link', '../../outside', false],
    ['a/link', 'b/../../../outside', false],
    ['a/b/link', 'c/../file', false],
    ['link', '', false],
    ['link', 'a\0b', false],
    ['link', 'file', true],
    ['a/link', '..', true],
    ['a/link', '../b/file', true],
    ['a/b/link', '../../.././x', false],
    ['a/b/link', './../../x', true],
  ])('[REQ-TREE-6] a link %s to %j is inside: %s', async (path, target, isInside) => {
    expect(isTargetInside(path, target)).toBe(isInside)
    const done = await commit([{ type: 'make_link', path, target }])
    if (isInside) expect(readlinkSync(at(path))).toBe(target)
    else expect(done).toMatchObject({ ok: false, problem: 'leaving_link' })
  })

  it('[REQ-TREE-6] a link replaces a link and nothing else', async () => {
    writeFileSync(at('file'), 'x')
    symlinkSync('nowhere', at('link'))
    expect(await commit([{ type: 'make_link', path: 'file', target: 'a' }])).toMatchObject({ problem: 'exists' })
    expect(await commit([{ type: 'make_link', path: 'link', target: 'file' }])).toMatchObject({ ok: true })
    expect(readlinkSync(at('link'))).toBe('file')
    expect(readdirSync(place.tree).sort()).toEqual(['file', 'link'])
  })
})

describe('what is written', () => {
  it('[REQ-TREE-3] a new file is created with its directories, and every change is reported', async () => {
    const done = await commit([{ type: 'write', path: './a//b/file.txt', content: text('hello') }])
    expect(done).toEqual({
      ok: true,
      leftovers: [],
      changes: [
        { path: 'a', kind: 'created', type: 'directory', bytes: null, sha256: null, problem: null },
        { path: 'a/b', kind: 'created', type: 'directory', bytes: null, sha256: null, problem: null },
        { path: 'a/b/file.txt', kind: 'created', type: 'file', bytes: 5, sha256: sha256('hello'), problem: null },
      ],
    })
    expect(readFileSync(at('a/b/file.txt'), 'utf8')).toBe('hello')
    expect(mode('a/b/file.txt')).toBe(0o644 & ~process.umask())
    expect(mode('a')).toBe(0o755 & ~process.umask())
    expect(readdirSync(at('a/b'))).toEqual(['file.txt'])
  })

  it('[REQ-TREE-3] a replaced file is another file with the rights of the old one, but never setuid, setgid or sticky', async () => {
    writeFileSync(at('tool'), 'old')
    chmodSync(at('tool'), 0o7751)
    const inode = lstatSync(at('tool')).ino
    expect(await commit([{ type: 'write', path: 'tool', content: text('new') }])).toMatchObject({ ok: true })
    expect(mode('tool')).toBe(0o751)
    expect(lstatSync(at('tool')).ino).not.toBe(inode)
    await commit([{ type: 'write', path: 'tool', content: text('new'), mode: 0o6700 }])
    expect(mode('tool')).toBe(0o700)
    await commit([{ type: 'set_mode', path: 'tool', mode: 0o4755 }])
    expect(mode('tool')).toBe(0o755)
    await commit([{ type: 'append', path: 'tool', content: text('er') }])
    expect(readFileSync(at('tool'), 'utf8')).toBe('newer')
    expect(mode('tool')).toBe(0o755)
  })

  it.runIf(isRoot)('[REQ-TREE-7] what root writes belongs to the owner of the directory it is in', async () => {
    mkdirSync(at('theirs'))
    chownSync(at('theirs'), 4321, 4322)
    writeFileSync(at('theirs/old'), 'x')
    const done = await commit([
      { type: 'write', path: 'theirs/a/b/file', content: text('x') },
      { type: 'write', path: 'theirs/old', content: text('y') },
      { type: 'make_directory', path: 'theirs/folder', mode: 0o700 },
      { type: 'make_link', path: 'theirs/link', target: 'old' },
    ])
    expect(done).toMatchObject({ ok: true, leftovers: [] })
    for (const path of ['a', 'a/b', 'a/b/file', 'old', 'folder', 'link']) {
      const { uid, gid } = lstatSync(at(`theirs/${path}`))
      expect([path, uid, gid]).toEqual([path, 4321, 4322])
    }
    expect(mode('theirs/folder')).toBe(0o700)
  })

  it('[REQ-TREE-4] steps that need each other are done in their order, and leave nothing else behind', async () => {
    mkdirSync(at('folder'))
    writeFileSync(at('folder/file'), 'x')
    writeFileSync(at('file'), 'x')
    symlinkSync('file', at('link'))
    const done = await commit([
      { type: 'delete', path: 'folder', isRecursive: true },
      { type: 'write', path: 'folder', content: text('now a file') },
      { type: 'delete', path: 'file' },
      { type: 'make_directory', path: 'file' },
      { type: 'write', path: 'file/below', content: text('1') },
      { type: 'append', path: 'file/below', content: text('2') },
      { type: 'delete', path: 'link' },
      { type: 'write', path: 'link', content: () => openSync(join(place.tree, 'folder'), 'r'), mode: 0o755 },
    ])
    expect(done).toMatchObject({ ok: true, leftovers: [] })
    expect(readdirSync(place.tree).sort()).toEqual(['file', 'folder', 'link'])
    expect(readFileSync(at('folder'), 'utf8')).toBe('now a file')
    expect(readFileSync(at('file/below'), 'utf8')).toBe('12')
    expect(readFileSync(at('link'), 'utf8')).toBe('now a file')
    expect(lstatSync(at('link')).isFile()).toBe(true)
  })

  it('[REQ-TREE-3] a thousand files in one commit are all there, and no descriptor stays open', async () => {
    const open = () => readdirSync('/proc/self/fd').length
    const before = open()
    const steps = Array.from({ length: 1000 }, (_, i): TreeStep => {
      return { type: 'write', path: `d${i % 7}/f${i}`, content: text(`${i}`) }
    })
    expect(await commit(steps)).toMatchObject({ ok: true, leftovers: [] })
    for (let i = 0; i < 1000; i += 1) expect(readFileSync(at(`d${i % 7}/f${i}`), 'utf8')).toBe(`${i}`)
    expect(open()).toBeLessThanOrEqual(before + 1)
  })

  it.runIf(canMount())('[REQ-TREE-4] a full disk refuses the whole commit and leaves the tree as it was', async () => {
    const disk = at('disk')
    mkdirSync(disk)
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'none', disk])
    try {
      writeFileSync(join(disk, 'kept'), 'kept')
      const done = await openTreeWriter(disk).commit([
        { type: 'write', path: 'kept', content: text('changed') },
        { type: 'write', path: 'new/one', content: text('1') },
        { type: 'write', path: 'big', content: Buffer.alloc(1024 * 1024) },
      ])
      expect(done).toMatchObject({ ok: false, problem: 'full' })
      expect(readdirSync(disk)).toEqual(['kept'])
      expect(readFileSync(join(disk, 'kept'), 'utf8')).toBe('kept')
    } finally {
      execFileSync('umount', [disk])
    }
  })
})
