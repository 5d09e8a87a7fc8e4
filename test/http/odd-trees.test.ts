import { execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { depth } from '../depth.js'
import { type Answer, ownTree, type Running, start } from './harness.js'

const CONTRACT = `
name: odd
version: "1"
phases:
  - id: WORK
    allowed_tools: [read_files, write_files, edit_files, grep, glob, search_codebase, bash, git_status, git_diff, git_log, git_commit]
    writable: ["**"]
  - id: DONE
    allowed_tools: []
transitions: [{from: WORK, to: DONE}]
knowledge: {sources: ["**/*.md"]}
enforcement: {denial_budget: 100000}
`
const DEEP = Array.from({ length: 70 }, () => 'd').join('/')

let run: Running
let count = 0
beforeAll(async () => {
  run = await start({ contract: CONTRACT, environment: { PHASELOCK_EMBEDDINGS: 'none' } })
})
afterAll(async () => {
  // Node cannot name what lies that deep.
  execFileSync('find', [
    join(run.workspace, '..'),
    '-maxdepth',
    '1',
    '-name',
    'tree-*',
    '-exec',
    'rm',
    '-rf',
    '{}',
    '+',
  ])
  await run.stop()
})

interface Worker {
  readonly tree: string
  readonly id: string
  tool(name: string, args: object): Promise<Answer>
  leave(): Promise<Answer>
  read(path: string): Promise<Answer>
  search(query: string): Promise<Answer>
}

async function worker(prepare: (tree: string) => void): Promise<Worker> {
  count += 1
  const id = `t${count}`
  const tree = ownTree(run)
  prepare(tree)
  await run.addTask({ id, workspace: tree })
  const token = await run.claim(`a${count}`, await run.addAgent(`a${count}`), id)
  return {
    tree,
    id,
    tool: (tool_name, args) => run.call('POST', '/tools/execute', token, { task_id: id, tool_name, args }),
    leave: () => run.call('POST', '/tasks/transition', token, { task_id: id, target_phase: 'DONE' }),
    read: (path) => run.call('GET', path, token),
    search: (query) => run.call('POST', '/knowledge/search', token, { task_id: id, query }),
  }
}

/** Everything that reads or writes a tree, with the statuses of its answers. */
async function everything(one: Worker): Promise<Readonly<Record<string, number>>> {
  const calls: readonly (readonly [string, object])[] = [
    ['read_files', { path: 'README.md' }],
    ['read_files', { paths: ['.', 'odd', 'odd/x', '.git', '.git/HEAD'] }],
    ['glob', { pattern: '**/*' }],
    ['grep', { pattern: 'word' }],
    ['search_codebase', { query: 'word' }],
    ['write_files', { path: 'written.txt', content: 'word' }],
    ['write_files', { path: 'odd', content: 'word' }],
    ['write_files', { path: 'odd/x/y', content: 'word' }],
    ['edit_files', { path: 'odd', edits: [{ old: 'a', new: 'b' }] }],
    ['bash', { command: 'echo word > by-bash.txt; touch -c odd; ls -lR . | head -c 1000' }],
    ['git_status', {}],
    ['git_diff', {}],
    ['git_log', {}],
    ['git_commit', { message: 'feat: all of it' }],
  ]
  const statuses: Record<string, number> = {}
  for (const [tool, args] of calls) statuses[`${tool} ${JSON.stringify(args)}`] = (await one.tool(tool, args)).status
  statuses.snapshot = (await one.read('/state/snapshot')).status
  statuses.task = (await one.read(`/tasks/${one.id}`)).status
  statuses.knowledge = (await one.search('word')).status
  statuses.transition = (await one.leave()).status
  return statuses
}

const git = (tree: string, ...args: string[]) =>
  execFileSync('git', ['-C', tree, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { stdio: 'pipe' })
const withGit = (tree: string): void => {
  git(tree, 'init', '-q')
  git(tree, 'commit', '-q', '--allow-empty', '-m', 'first')
}
const pipe = (path: string): void => {
  execFileSync('mkfifo', [path])
}

const TREES: Readonly<Record<string, (tree: string) => void>> = {
  'an ordinary repository': withGit,
  'folders nested 70 deep': (tree) => mkdirSync(join(tree, DEEP), { recursive: true }),
  'folders nested 300 deep': (tree) => {
    execFileSync('bash', ['-c', 'for i in $(seq 300); do mkdir dd; cd dd; done; echo word > x.md'], { cwd: tree })
  },
  'a path longer than the kernel takes': (tree) => {
    const name = 'n'.repeat(250)
    execFileSync('bash', ['-c', `for i in $(seq 30); do mkdir ${name}; cd ${name}; done; echo x > x.md`], { cwd: tree })
  },
  'odd names': (tree) => {
    for (const name of [
      'new\nline.md',
      'tab\t.md',
      'esc\u001b[31m.md',
      '__proto__',
      'constructor',
      `${'l'.repeat(252)}.md`,
    ])
      writeFileSync(join(tree, name), 'word')
    writeFileSync(Buffer.concat([Buffer.from(`${tree}/bad-`), Buffer.from([0xff, 0xfe]), Buffer.from('.md')]), 'word')
    mkdirSync(Buffer.concat([Buffer.from(`${tree}/folder-`), Buffer.from([0xc3, 0x28])]))
  },
  'a pipe': (tree) => {
    pipe(join(tree, 'odd'))
    pipe(join(tree, 'odd.md'))
    pipe(join(tree, '.gitignore'))
  },
  'links in a circle': (tree) => {
    symlinkSync('odd', join(tree, 'odd'))
    mkdirSync(join(tree, 'sub'))
    symlinkSync('..', join(tree, 'sub/up.md'))
    symlinkSync('/etc/passwd', join(tree, 'out.md'))
  },
  'a device': (tree) => {
    if (process.getuid?.() === 0) execFileSync('mknod', [join(tree, 'odd'), 'c', '1', '5'])
  },
  'nothing that may be read': (tree) => {
    mkdirSync(join(tree, 'odd'))
    writeFileSync(join(tree, 'odd/x'), 'word')
    writeFileSync(join(tree, 'closed.md'), 'word')
    chmodSync(join(tree, 'odd'), 0)
    chmodSync(join(tree, 'closed.md'), 0)
  },
  'a .git that is a file': (tree) => writeFileSync(join(tree, '.git'), 'gitdir: /nowhere\n'),
  'a .git that is a pipe': (tree) => pipe(join(tree, '.git')),
  'a .git that is a link': (tree) => symlinkSync('/proc/self/fd', join(tree, '.git')),
  'a broken index': (tree) => {
    withGit(tree)
    writeFileSync(join(tree, '.git/index'), Buffer.alloc(4096, 0xff))
    writeFileSync(join(tree, '.git/HEAD'), Buffer.alloc(4096, 0xff))
  },
}

const FEW = new Set([
  'folders nested 300 deep',
  'a path longer than the kernel takes',
  'odd names',
  'a pipe',
  'a .git that is a pipe',
])

describe('a work tree with odd things in it', () => {
  for (const [name, prepare] of depth(
    Object.entries(TREES).filter(([name]) => FEW.has(name)),
    Object.entries(TREES),
  ))
    it(`[REQ-ODDTREE-1] no request ends in a fault in a tree with ${name}`, async () => {
      const one = await worker((tree) => {
        writeFileSync(join(tree, 'README.md'), 'word')
        prepare(tree)
      })
      const statuses = await everything(one)
      expect(Object.entries(statuses).filter(([, status]) => status >= 500)).toEqual([])
      expect(run.faults).toEqual([])
      // The tools that need nothing of what is odd go on.
      expect(statuses['read_files {"path":"README.md"}']).toBe(200)
      expect(statuses['write_files {"path":"written.txt","content":"word"}']).toBe(200)
      expect(statuses['grep {"pattern":"word"}']).toBe(200)
    })

  it('[REQ-ODDTREE-1] a git directory with pipes in it keeps nobody waiting who does not use git', async () => {
    const one = await worker((tree) => {
      withGit(tree)
      for (const name of ['HEAD', 'index', 'info/exclude', 'config', 'packed-refs']) {
        rmSync(join(tree, '.git', name), { force: true })
        mkdirSync(join(tree, '.git/info'), { recursive: true })
        pipe(join(tree, '.git', name))
      }
    })
    expect((await one.tool('write_files', { path: 'a.txt', content: 'word' })).status).toBe(200)
    expect((await one.tool('grep', { pattern: 'word' })).status).toBe(200)
    expect((await one.read('/state/snapshot')).status).toBe(200)
  })

  it('[REQ-ODDTREE-1] a socket and a file that turns into a folder while the tree is read are no fault', async () => {
    const one = await worker(() => undefined)
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(join(one.tree, 'odd'), resolve))
    const swap = 'while :; do echo x > swap; rm swap; mkdir swap; rmdir swap; ln -s swap swap; rm swap; done'
    const swapping = spawn('bash', ['-c', swap], { cwd: one.tree, stdio: 'ignore' })
    try {
      const statuses = await everything(one)
      expect(Object.entries(statuses).filter(([, status]) => status >= 500)).toEqual([])
      expect(run.faults).toEqual([])
    } finally {
      swapping.kill('SIGKILL')
      server.close()
    }
  })
})

describe('a tree that somebody else changes at the same time', () => {
  it('[REQ-ODDTREE-1] is told as such when it cannot be put back whole', async () => {
    const one = await worker(() => undefined)
    const folder = join(one.tree, 'a')
    mkdirSync(folder)
    for (let count = 0; count < 1900; count += 1) writeFileSync(join(folder, `${count}.txt`), 'x')
    const again = { to_phase: 'WORK', reason: 'again', restore_tree: true }
    const rewound = run.call('POST', `/tasks/${one.id}/rewind`, run.operator, again)
    // As soon as the first of them are put aside the folder is gone, and nothing can be put back into it.
    while (readdirSync(folder).filter((name) => name.endsWith('.txt')).length === 1900) await setImmediate()
    renameSync(folder, join(one.tree, 'b'))
    const answer = await rewound
    expect(answer).toMatchObject({ status: 409, body: { code: 'conflict' } })
    expect(answer.body.detail).toContain('was changed by somebody else meanwhile')
    expect(run.faults).toEqual([])
    expect((await run.call('POST', `/tasks/${one.id}/rewind`, run.operator, again)).status, 'undisturbed').toBe(200)
  })

  it('[REQ-ODDTREE-1] a git that is ended while a work tree is made from it is a refusal', async () => {
    const tree = ownTree(run)
    withGit(tree)
    pipe(join(tree, '.gitignore'))
    const made = run.call('POST', '/tasks', run.operator, { title: 'x', id: 'cut', workspace: tree, worktree: true })
    const gits = () =>
      readdirSync('/proc').filter((pid) => {
        try {
          return /^\d+$/.test(pid) && readlinkSync(`/proc/${pid}/cwd`) === realpathSync(tree)
        } catch {
          return false
        }
      })
    const started = Date.now()
    let answer: Answer | null = null
    void made.then((one) => {
      answer = one
    })
    while (answer === null && Date.now() - started < 20_000) {
      await new Promise((resolve) => setTimeout(resolve, 1000))
      for (const pid of gits()) process.kill(Number(pid), 'SIGTERM')
    }
    expect(await made).toMatchObject({
      status: 409,
      body: { code: 'conflict', detail: expect.stringMatching(/^worktree: git /) },
    })
    expect(run.faults).toEqual([])
    rmSync(join(tree, '.gitignore'))
    const again = { title: 'x', id: 'cut', workspace: tree, worktree: true }
    expect((await run.call('POST', '/tasks', run.operator, again)).status).toBe(201)
  })
})

describe('how deep a tree may be', () => {
  it('[REQ-ODDTREE-2] what is in more than 64 folders is refused by every way to write it, and the next claim goes on', async () => {
    const one = await worker((tree) => writeFileSync(join(tree, 'README.md'), 'word'))
    const deepest = Array.from({ length: 64 }, () => 'e').join('/')
    const written = await one.tool('write_files', { path: `${DEEP}/x.txt`, content: 'x' })
    expect(written.status).toBeGreaterThanOrEqual(400)
    expect(String(written.body.detail)).toContain('more than 64 nested folders')
    const several = {
      files: [
        { path: 'fine.txt', content: 'x' },
        { path: `${DEEP}/x.txt`, content: 'x' },
      ],
    }
    expect((await one.tool('write_files', several)).body.detail).toContain('more than 64 nested folders')
    const long = `${Array.from({ length: 14 }, () => 'n'.repeat(250)).join('/')}/x`
    expect((await one.tool('write_files', { path: long, content: 'x' })).body.detail).toContain('3000 bytes')
    const bash = await one.tool('bash', { command: `mkdir -p ${DEEP} && echo x > ${DEEP}/x.txt` })
    expect(bash).toMatchObject({ status: 403, body: { code: 'constraint_violation' } })
    expect(bash.body.detail).toContain('more than 64 nested folders')
    expect((await one.tool('write_files', { path: `${deepest}/x.txt`, content: 'x' })).status).toBe(200)
    expect((await one.tool('bash', { command: `echo y > ${deepest}/y.txt` })).status).toBe(200)
    expect((await one.tool('read_files', { path: `${deepest}/y.txt` })).status).toBe(200)
    const other = await run.addTask({ id: 'next', workspace: one.tree })
    expect((await one.leave()).body).toMatchObject({ allowed: true })
    await run.claim('next', await run.addAgent('next'), other)
    expect(run.faults).toEqual([])
  })
})
