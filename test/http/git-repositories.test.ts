import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { git } from '../e2e/projects.js'
import { Committer, commitAll, committingContract, inNewest, put } from './committing.js'
import { type Running, start } from './harness.js'

const APPROVED = `
name: shared
version: "1"
phases:
  - id: WORK
    allowed_tools: [write_files, git_commit]
  - id: CHECK
    allowed_tools: []
    gates: [{id: work_ok, type: approval, approvers: [human]}]
  - id: DONE
    allowed_tools: []
`

describe('repositories as people have them', () => {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'phaselock-repositories-')))
  const environment = { PATH: process.env.PATH, HOME: join(dir, 'home') }
  let run: Running
  let count = 0

  const makeTree = (files: Readonly<Record<string, string>>): string => {
    count += 1
    const tree = join(dir, `tree-${count}`)
    mkdirSync(tree)
    git(tree, 'init', '--quiet', '--initial-branch=main')
    put(tree, files)
    commitAll(tree)
    return tree
  }
  const claim = (tree: string, server = run) => Committer.claim(server, `t${count}`, tree)
  const status = (tree: string) => git(tree, 'status', '--porcelain')

  beforeAll(async () => {
    put(join(dir, 'home'), { '.gitconfig': '' })
    run = await start({ dir: join(dir, 'one'), contract: committingContract(), environment })
  })
  afterAll(() => run.stop())

  it('[REQ-COMMIT-13] a sparse checkout is committed to, inside and outside of what is checked out', async () => {
    const tree = makeTree({ 'src/a.txt': 'a\n', 'docs/b.txt': 'b\n', 'deep/c.txt': 'c\n' })
    git(tree, 'sparse-checkout', 'set', 'src')
    const agent = await claim(tree)
    expect(await agent.does('git_status')).toMatchObject({ clean: true })
    await agent.write('src/new.txt')
    await agent.does('git_commit', { message: 'inside' })
    expect(inNewest(tree)).toEqual(['src/new.txt'])
    await agent.write('docs/new.txt')
    await agent.does('git_commit', { message: 'outside' })
    expect(inNewest(tree)).toEqual(['docs/new.txt'])
    expect(await agent.leave()).toMatchObject({ allowed: true, status: 'completed' })
    expect(git(tree, 'ls-tree', '-r', '--name-only', 'HEAD').trim().split('\n')).toEqual([
      ...['deep/c.txt', 'docs/b.txt', 'docs/new.txt', 'src/a.txt', 'src/new.txt'],
    ])
    expect(status(tree)).toBe('')
  })

  it('[REQ-COMMIT-13] line endings are those of the repository: core.autocrlf and .gitattributes', async () => {
    const tree = makeTree({ '.gitattributes': '*.bat text eol=crlf\n', 'a.txt': 'one\ntwo\n', 'b.bat': 'one\r\n' })
    git(tree, 'config', 'core.autocrlf', 'true')
    rmSync(join(tree, 'a.txt'))
    git(tree, 'checkout', '--quiet', '--', 'a.txt')
    expect(readFileSync(join(tree, 'a.txt'), 'utf8')).toBe('one\r\ntwo\r\n')
    const agent = await claim(tree)
    expect(await agent.does('git_status')).toMatchObject({ clean: true })
    await agent.does('edit_files', { path: 'a.txt', edits: [{ old: 'two', new: 'three' }] })
    await agent.write('c.bat', 'new\r\n')
    await agent.does('git_commit', { message: 'work' })
    expect(git(tree, 'show', '--stat', '--format=', 'HEAD')).toMatch(/a\.txt \| 2 \+-/)
    expect(git(tree, 'show', 'HEAD:c.bat')).toBe('new\n')
    expect(await agent.leave()).toMatchObject({ allowed: true, status: 'completed' })
    expect(status(tree)).toBe('')
  })

  it('[REQ-COMMIT-14] a repository with files in Git LFS is refused at claim; rules without files are not', async () => {
    const tree = makeTree({ 'a.txt': 'a\n', 'art/.gitattributes': '*.psd filter=lfs diff=lfs merge=lfs -text\n' })
    const agent = await claim(tree)
    await agent.write('b.txt')
    await agent.does('git_commit', { message: 'work' })
    expect(await agent.leave()).toMatchObject({ allowed: true })
    const other = makeTree({
      'art/.gitattributes': '*.psd filter=lfs diff=lfs merge=lfs -text\n',
      'art/logo.psd': 'version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n',
    })
    await expect(claim(other)).rejects.toThrow(/Git LFS \(art\/logo\.psd\).*"remedy"/)
  })

  it('[REQ-COMMIT-14] a repository that demands signatures is refused at claim, unless the contract does without', async () => {
    const tree = makeTree({ 'a.txt': 'a\n' })
    git(tree, 'config', 'commit.gpgsign', 'true')
    await expect(claim(tree)).rejects.toThrow(/commit\.gpgsign.*git: \{sign: skip\}/)
    const contract = committingContract('git: {sign: skip}\n')
    const other = await start({ dir: join(dir, 'two'), contract, environment })
    try {
      const agent = await claim(tree, other)
      await agent.write('b.txt')
      await agent.does('git_commit', { message: 'work' })
      expect(git(tree, 'log', '-1', '--format=%G?').trim()).toBe('N')
    } finally {
      await other.stop()
    }
    writeFileSync(join(dir, 'home/.gitconfig'), '[commit]\n\tgpgSign = true\n')
    await expect(claim(makeTree({ 'a.txt': 'a\n' }))).rejects.toThrow(/commit\.gpgsign/)
    writeFileSync(join(dir, 'home/.gitconfig'), '')
  })

  it.each(['refs/heads/main.lock', 'index.lock', 'HEAD.lock'])(
    '[REQ-COMMIT-15] a left %s is named with its remedy',
    async (name) => {
      const tree = makeTree({ 'a.txt': 'a\n' })
      const agent = await claim(tree)
      await agent.write('b.txt')
      const lock = join(tree, '.git', name)
      writeFileSync(lock, '')
      const { body } = await agent.use('git_commit', { message: 'work' })
      expect(String(body.detail)).toMatch(/is in the way.*left behind by one that was killed/)
      expect(String(body.detail)).toContain(`rm '${lock}'`)
      rmSync(lock)
      await agent.does('git_commit', { message: 'work' })
      expect(await agent.leave()).toMatchObject({ allowed: true, status: 'completed' })
    },
  )

  it('[REQ-COMMIT-16] what another task changes, or a person where the phase may not write, is not committed', async () => {
    const contract = committingContract().replace('["**", "node_modules/**"]', '["one/**", "two/**"]')
    const server = await start({ dir: join(dir, 'three'), contract, environment })
    try {
      const tree = makeTree({ 'a.txt': 'a\n' })
      const one = await Committer.claim(server, 'one', tree)
      await one.write('one/b.txt')
      put(tree, { 'person.txt': 'mine\n' })
      expect((await one.use('git_commit', { message: 'one', paths: ['person.txt'] })).body).toMatchObject({
        detail: expect.stringContaining('"person.txt" was changed by somebody else while the task was under way'),
      })
      await one.does('git_commit', { message: 'one' })
      expect(inNewest(tree)).toEqual(['one/b.txt'])
      // Accepted by an operator, it belongs to the task.
      await server.call('POST', '/tasks/one/tree/accept', server.operator, { reason: 'mine' })
      await one.does('git_commit', { message: 'both' })
      expect(inNewest(tree)).toEqual(['person.txt'])
      expect(await one.leave()).toMatchObject({ allowed: true, status: 'completed' })
    } finally {
      await server.stop()
    }
  })

  it('[REQ-COMMIT-16] nor is what an unfinished task changed that nobody holds or that waits for an approval', async () => {
    const server = await start({ dir: join(dir, 'four'), contract: APPROVED, environment })
    const call = (path: string, token: string, body: object) => server.call('POST', path, token, body)
    const begin = async (task_id: string) => {
      await server.addTask({ id: task_id, workspace: tree })
      const token = await server.claim(task_id, await server.addAgent(task_id), task_id)
      const args = { path: `${task_id}.txt`, content: 'x\n' }
      expect(await call('/tools/execute', token, { task_id, tool_name: 'write_files', args })).toMatchObject({
        status: 200,
      })
      return token
    }
    const tree = makeTree({ 'a.txt': 'a\n' })
    try {
      await call('/tasks/release', await begin('released'), { task_id: 'released', reason: 'later' })
      const go = (token: string, target_phase: string) =>
        call('/tasks/transition', token, { task_id: 'waits', target_phase })
      // A phase that may write the same paths would keep the third task out.
      const checks = await go(await begin('waits'), 'CHECK')
      const waits = await go(String(checks.body.phase_token), 'DONE')
      expect(waits).toMatchObject({ body: { pending_approval: {} } })
      const token = await begin('third')
      const commit = (args: object) =>
        call('/tools/execute', token, { task_id: 'third', tool_name: 'git_commit', args: { message: 'work', ...args } })
      for (const path of ['released.txt', 'waits.txt'])
        expect((await commit({ paths: [path] })).body).toMatchObject({
          detail: expect.stringContaining(`"${path}" was changed before work on the task began`),
        })
      expect(await commit({})).toMatchObject({ status: 200 })
      expect(inNewest(tree)).toEqual(['third.txt'])
    } finally {
      await server.stop()
    }
  })

  it.each(['node_modules', 'target', '__pycache__', '.tox', '.gradle', 'vendor/bundle', '.pytest_cache'])(
    '[REQ-COMMIT-4] %s that a command of the task fills is not committed',
    async (name) => {
      const tree = makeTree({ 'src/a.txt': 'a\n' })
      put(tree, { [`${name}/lib/old`]: 'built by a person\n' })
      const agent = await claim(tree)
      await agent.does('bash', { command: `mkdir -p ${name}/lib; echo x > ${name}/lib/x; echo x > src/b.txt` })
      expect(await agent.does('bash', { command: `cat ${name}/lib/x` })).toMatchObject({ stdout: 'x\n' })
      await agent.does('git_commit', { message: 'work' })
      expect(inNewest(tree)).toEqual(['src/b.txt'])
      expect(await agent.leave()).toMatchObject({ allowed: true, status: 'completed' })
    },
  )

  it('[REQ-COMMIT-4] a folder named target that git tracks is part of the project', async () => {
    const tree = makeTree({ 'target/a.txt': 'a\n' })
    const agent = await claim(tree)
    await agent.does('bash', { command: 'echo x > target/b.txt' })
    await agent.does('git_commit', { message: 'work' })
    expect(inNewest(tree)).toEqual(['target/b.txt'])
  })

  it.each(['.venv', 'venv'])('[REQ-COMMIT-4] a command cannot fill %s', async (name) => {
    const agent = await claim(makeTree({ 'a.txt': 'a\n' }))
    expect(await agent.use('bash', { command: `mkdir -p ${name} && echo x > ${name}/x` })).toMatchObject({
      status: 403,
    })
  })
})
