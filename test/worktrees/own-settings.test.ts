import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { git, makeRepository } from '../e2e/projects.js'
import { drop, type Stage, stage } from './stage.js'

const MS = 300_000
const ME = ['-c', 'user.name=t', '-c', 'user.email=t@localhost'] as const
const ATTRIBUTES = '*.bin filter=x\n*.mix merge=x diff=x\n'

let at: Stage
let marks: string
let home: string | undefined

/** A command that leaves a mark and otherwise does nothing to what it is given. */
const leaving = (name: string, then = 'cat'): string => `touch '${join(marks, name)}'; ${then}`
/** The same as a file, for programs that git runs without a shell. */
function program(name: string): string {
  const file = join(marks, '..', `program-${name}`)
  writeFileSync(file, `#!/bin/sh\n${leaving(name)}\n`, { mode: 0o755 })
  return file
}
const marked = (): readonly string[] => readdirSync(marks).sort()
const set = (key: string, value: string): string => git(at.repository, 'config', key, value)
const text = (path: string): string => readFileSync(join(at.repository, path), 'utf8')

/** Without what the repository's settings would run. */
function commit(message: string): void {
  const quiet = [
    'filter.x.clean=',
    'filter.x.smudge=',
    'filter.x.process=',
    'filter.x.required=false',
    'core.hooksPath=',
  ]
  const words = [...quiet, 'core.fsmonitor=false', 'diff.external=', 'commit.gpgSign=false'].flatMap((one) => [
    '-c',
    one,
  ])
  git(at.repository, ...words, 'add', '.')
  git(at.repository, ...words, ...ME, 'commit', '-qm', message)
  rmSync(marks, { recursive: true })
  mkdirSync(marks)
}

/** The stat of a file says nothing any more, so that git has to look at its content. */
function touch(path: string): void {
  utimesSync(join(at.repository, path), new Date(), new Date(Date.now() - 5000))
}

async function finished(id: string, files: Record<string, string>): Promise<void> {
  await at.finish(await at.work(id, files))
}

beforeEach(async () => {
  at = await stage({ 'a.txt': 'a\n', 'b.txt': 'b\n', 'c.bin': 'c\n', 'd.mix': 'd\n', '.gitattributes': ATTRIBUTES })
  marks = join(at.repository, '..', 'marks')
  mkdirSync(marks)
  home = process.env.HOME
  process.env.HOME = join(at.repository, '..', 'home')
  mkdirSync(process.env.HOME)
}, MS)
afterEach(() => {
  process.env.HOME = home
  return at.remove()
}, MS)

/** What the operator's own settings say. */
function setForOperator(text: string): void {
  writeFileSync(join(process.env.HOME ?? '', '.gitconfig'), text)
}

describe('programs that the settings of a repository name', () => {
  it(
    '[REQ-TREES-12] are not run when a work tree is made, merged and handed over',
    async () => {
      const filters = ['clean', 'smudge'].map((name) => [`filter.x.${name}`, leaving(name)])
      const others = [
        ...['core.sshCommand', 'core.askPass', 'core.editor', 'core.pager', 'core.gitProxy', 'core.fsmonitor'],
        ...['gpg.program', 'diff.external', 'diff.x.command', 'diff.x.textconv', 'credential.helper', 'merge.x.driver'],
        ...['sequence.editor', 'interactive.diffFilter', 'trailer.x.command', 'uploadpack.packObjectsHook'],
        ...['core.alternateRefsCommand', 'alias.status', 'alias.fetch', 'gpg.ssh.defaultKeyCommand', 'pager.status'],
      ].map((key) => [key, `${key.startsWith('alias') ? '!' : ''}${program(key)}`])
      for (const [key = '', value = ''] of [...filters, ...others]) set(key, value)
      set('submodule.recurse', 'true')
      set('merge.renormalize', 'true')
      const alternate = join(at.repository, '..', 'alternate')
      makeRepository(alternate, { 'z.txt': 'z\n' })
      writeFileSync(join(at.repository, '.git/objects/info/alternates'), join(alternate, '.git/objects'))
      touch('c.bin')
      expect(await at.add('one')).toMatchObject({ status: 201 })
      expect(await at.add('two')).toMatchObject({ status: 201 })
      expect(marked()).toEqual([])
      await finished('one', { 'a.txt': 'one\n', 'd.mix': 'one\n' })
      await finished('two', { 'd.mix': 'two\n' })
      // With it no agent could have claimed: its commits cannot be signed.
      set('commit.gpgSign', 'true')
      drop(at.repository, 'b.txt', 'changed\n')
      commit('b')
      touch('c.bin')
      touch('a.txt')
      const merged = await at.operate('one', 'merge')
      expect(merged.status, JSON.stringify(merged.body)).toBe(200)
      expect([text('a.txt'), text('b.txt'), text('c.bin')]).toEqual(['one\n', 'changed\n', 'c\n'])
      const refused = await at.operate('two', 'merge')
      expect(refused).toMatchObject({ status: 409, body: { conflicts: ['d.mix'] } })
      expect(refused.body.remedy).toMatch(/merge driver/)
      expect(await at.operate('two', 'handover')).toMatchObject({ status: 200 })
      expect(marked()).toEqual([])
    },
    MS,
  )

  it(
    '[REQ-TREES-12] are not run from files that they include or from those of the work tree either',
    async () => {
      for (const name of ['included', 'conditional', 'worktree'])
        writeFileSync(
          join(marks, '..', name),
          `[filter "x"]\n\tclean = "${leaving(name)}"\n\tprocess = "${leaving(name)}"\n`,
        )
      touch('c.bin')
      set('include.path', join(marks, '..', 'included'))
      expect(await at.add('one')).toMatchObject({ status: 201 })
      set('includeIf.gitdir:**.path', join(marks, '..', 'conditional'))
      expect(await at.add('two')).toMatchObject({ status: 201 })
      set('extensions.worktreeConfig', 'true')
      renameSync(join(marks, '..', 'worktree'), join(at.repository, '.git/config.worktree'))
      expect(await at.add('three')).toMatchObject({ status: 201 })
      expect(marked()).toEqual([])
    },
    MS,
  )

  it(
    '[REQ-TREES-12] a merge that would write files through such a filter is refused, says why, and can be handed over',
    async () => {
      set('filter.x.clean', leaving('clean', 'tr a-z A-Z'))
      set('filter.x.smudge', leaving('smudge', 'tr A-Z a-z'))
      set('filter.x.required', 'true')
      await at.add('one')
      await at.add('two')
      await finished('one', { 'a.txt': 'one\n', 'c.bin': 'SECRET\n' })
      await finished('two', { 'a.txt': 'two\n' })
      const refused = await at.operate('one', 'merge')
      expect(refused).toMatchObject({ status: 409, body: { filtered: ['c.bin'] } })
      expect(refused.body.detail).toMatch(/filter.*settings of the repository.*c\.bin.*Nothing was merged/)
      expect(refused.body.remedy).toMatch(/handover.*git config --global/)
      expect([text('a.txt'), text('c.bin'), at.committed('a.txt')]).toEqual(['a\n', 'c\n', 'a\n'])
      expect(await at.operate('one', 'handover')).toMatchObject({ status: 200 })
      expect(git(at.repository, 'show', 'phaselock/one:c.bin')).toBe('SECRET\n')
      const merged = await at.operate('two', 'merge')
      expect(merged.status, JSON.stringify(merged.body)).toBe(200)
      expect([text('a.txt'), text('c.bin')]).toEqual(['two\n', 'c\n'])
      expect(marked()).toEqual([])
    },
    MS,
  )

  it(
    '[REQ-TREES-12] a filter that only the new commit uses counts too',
    async () => {
      set('filter.x.smudge', leaving('smudge'))
      const attributes = join(at.repository, '.gitattributes')
      writeFileSync(attributes, '')
      commit('no attributes')
      await at.add('one')
      const worker = await at.work('one', { 'a.txt': 'one\n' })
      await at.finish(worker)
      drop(worker.tree, '.gitattributes', '*.txt filter=x\n')
      const refused = await at.operate('one', 'merge', { commit: true })
      expect(refused).toMatchObject({ status: 409, body: { filtered: ['a.txt'] } })
      expect([text('a.txt'), text('.gitattributes'), marked()]).toEqual(['a\n', '', []])
    },
    MS,
  )

  it(
    '[REQ-TREES-12] those that the operator has set are run, also where the repository names others under the same name',
    async () => {
      const filter = (name: string): string =>
        `\tclean = "${leaving(`${name}-clean`)}"\n\tsmudge = "${leaving(`${name}-smudge`)}"\n`
      setForOperator(`[filter "x"]\n${filter('operator')}[merge "x"]\n\tdriver = "${leaving('driver', 'cp %B %A')}"\n`)
      appendFileSync(join(at.repository, '.git/config'), `[filter "x"]\n${filter('repository')}`)
      set('merge.x.driver', leaving('repository-driver'))
      await at.add('one')
      await finished('one', { 'c.bin': 'one\n', 'd.mix': 'one\n' })
      drop(at.repository, 'd.mix', 'other\n')
      commit('d')
      const merged = await at.operate('one', 'merge')
      expect(merged.status, JSON.stringify(merged.body)).toBe(200)
      expect([text('c.bin'), text('d.mix')]).toEqual(['one\n', 'one\n'])
      // Whether the files have to be compared, too, depends on when they were written.
      expect(marked().filter((name) => name !== 'operator-clean')).toEqual(['driver', 'operator-smudge'])
    },
    MS,
  )

  it(
    '[REQ-TREES-12] a submodule with its own settings is not looked into',
    async () => {
      const inner = join(at.repository, '..', 'inner')
      makeRepository(inner, { 'i.txt': 'i\n' })
      git(at.repository, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner, 'sub')
      commit('submodule')
      const sub = join(at.repository, 'sub')
      const settings = git(sub, 'rev-parse', '--absolute-git-dir').trim()
      appendFileSync(join(settings, 'info/attributes'), '* filter=y\n')
      for (const name of ['clean', 'smudge']) git(sub, 'config', `filter.y.${name}`, leaving(`inner-${name}`))
      git(sub, 'config', 'core.fsmonitor', leaving('inner-monitor'))
      git(sub, 'config', 'remote.origin.uploadpack', leaving('inner-upload', 'git-upload-pack'))
      git(at.repository, 'config', 'submodule.recurse', 'true')
      for (const [key, value] of [
        ['ignore', 'none'],
        ['fetchRecurseSubmodules', 'true'],
        ['active', 'true'],
      ] as const)
        git(at.repository, 'config', `submodule.sub.${key}`, value)
      utimesSync(join(sub, 'i.txt'), new Date(), new Date(0))
      expect(await at.add('one')).toMatchObject({ status: 201 })
      const worker = await at.work('one', { 'a.txt': 'one\n' })
      await at.finish(worker)
      const nested = join(worker.tree, 'sub')
      git(inner, 'init', '-q', nested)
      git(nested, 'fetch', '-q', inner)
      git(nested, 'reset', '-q', '--hard', 'FETCH_HEAD')
      appendFileSync(join(nested, '.git/info/attributes'), '* filter=y\n')
      git(nested, 'config', 'filter.y.clean', leaving('task-clean'))
      utimesSync(join(nested, 'i.txt'), new Date(), new Date(0))
      drop(worker.tree, 'b.txt', 'late\n')
      const merged = await at.operate('one', 'merge', { commit: true })
      expect(merged.status, JSON.stringify(merged.body)).toBe(200)
      expect([text('a.txt'), text('b.txt')]).toEqual(['one\n', 'late\n'])
      expect(marked()).toEqual([])
      // Another commit of the submodule, which it has already.
      await at.add('two')
      const other = await at.work('two', { 'a.txt': 'two\n' })
      await at.finish(other)
      const newer = git(inner, ...ME, 'commit-tree', 'HEAD^{tree}', '-p', 'HEAD', '-m', 'newer').trim()
      git(inner, 'update-ref', 'HEAD', newer)
      git(sub, '-c', 'core.fsmonitor=false', 'fetch', '-q', inner)
      git(other.tree, 'update-index', '--cacheinfo', `160000,${newer},sub`)
      git(other.tree, ...ME, 'commit', '-qm', 'another commit of the submodule')
      utimesSync(join(sub, 'i.txt'), new Date(), new Date(1000))
      rmSync(marks, { recursive: true })
      mkdirSync(marks)
      expect(await at.operate('two', 'merge')).toMatchObject({ status: 200 })
      expect(git(at.repository, 'rev-parse', 'HEAD:sub').trim()).toBe(newer)
      expect(marked()).toEqual([])
    },
    MS,
  )

  it(
    '[REQ-TREES-12] another program for fetching is not run, and another address is not used',
    async () => {
      const other = join(at.repository, '..', 'other')
      makeRepository(other, { 'a.txt': 'of another repository\n' })
      const trees = join(at.run.stateDir, '..')
      set('protocol.ext.allow', 'always')
      set(`url.ext::sh -c touch% ${join(marks, 'ext')}% .insteadOf`, trees)
      await at.add('one')
      await finished('one', { 'a.txt': 'one\n' })
      expect(await at.operate('one', 'handover')).toMatchObject({ status: 409 })
      expect(marked()).toEqual([])
      git(at.repository, 'config', '--remove-section', `url.ext::sh -c touch% ${join(marks, 'ext')}% `)
      const tree = String((await at.run.call('GET', '/tasks/one', at.run.operator)).body.workspace)
      git(other, 'branch', '-M', 'phaselock/one')
      set(`url.${other}.insteadOf`, tree)
      expect(await at.operate('one', 'handover')).toMatchObject({ status: 409 })
      git(at.repository, 'config', '--remove-section', `url.${other}`)
      expect(await at.operate('one', 'handover')).toMatchObject({ status: 200 })
      expect(git(at.repository, 'show', 'phaselock/one:a.txt')).toBe('one\n')
    },
    MS,
  )

  it(
    '[REQ-TREES-12] a repository that would fetch what it lacks by a program of its own is refused',
    async () => {
      const blob = git(at.repository, 'rev-parse', 'HEAD:b.txt').trim()
      const full = join(at.repository, '..', 'full')
      git(at.repository, 'clone', '-q', '--bare', '.', full)
      set('core.repositoryFormatVersion', '1')
      set('extensions.partialClone', 'full')
      set('remote.full.url', full)
      const object = join(at.repository, '.git/objects', blob.slice(0, 2), blob.slice(2))
      renameSync(object, join(marks, '..', 'object'))
      set('remote.full.uploadpack', leaving('fetched', 'git-upload-pack'))
      const refused = await at.add('one')
      expect(refused.status, JSON.stringify(refused.body)).toBe(400)
      expect(refused.body.detail).toMatch(/remote\.full\.uploadpack/)
      expect(marked()).toEqual([])
      git(at.repository, 'config', '--unset', 'remote.full.uploadpack')
      expect((await at.add('one')).body.detail).toMatch(/git fetch failed/)
      renameSync(join(marks, '..', 'object'), object)
      expect(await at.add('one')).toMatchObject({ status: 201 })
    },
    MS,
  )

  it(
    '[REQ-TREES-12] a work tree elsewhere that the settings name is not written to',
    async () => {
      const elsewhere = join(at.repository, '..', 'elsewhere')
      git(at.repository, 'clone', '-q', '.', elsewhere)
      await at.add('one')
      await finished('one', { 'a.txt': 'one\n', 'new.txt': 'new\n' })
      set('core.worktree', elsewhere)
      const merged = await at.operate('one', 'merge')
      expect(readFileSync(join(elsewhere, 'a.txt'), 'utf8')).toBe('a\n')
      expect(existsSync(join(elsewhere, 'new.txt'))).toBe(false)
      expect(merged.status, JSON.stringify(merged.body)).toBe(200)
      expect([text('a.txt'), text('new.txt')]).toEqual(['one\n', 'new\n'])
    },
    MS,
  )
})
