import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Call, EndingServer } from './walk.js'

export const CONTRACT = `
name: whole
version: "1"
phases:
  - id: PLAN
    allowed_tools: [read_files]
  - id: WORK
    allowed_tools: [read_files, write_files, edit_files, bash, git_commit, git_status]
  - {id: DONE, allowed_tools: []}
enforcement: {reconcile: block}
`

/** What a call does, each time with other paths: it may end half-way, and is then repeated. */
export interface Operation {
  readonly name: string
  /** What must be there before. */
  prepare(stage: Stage, round: number): Promise<void>
  call(stage: Stage, round: number): Omit<Call, 'key'>
  /** What of the tree the call changes, as text. */
  look(stage: Stage, round: number): string
  /** The same after the call, whatever was there before. */
  expected(stage: Stage, round: number): string
  /** The type of the event that records it, and how to know it. */
  readonly event: { readonly type: string; readonly tool?: string }
  /** Whether the tree differs from what is expected until the call is made. */
  readonly differsBefore?: true
  /** It has many more steps than others: the full run ends the server at some of them. */
  readonly isLong?: true
  /** What is needed before the next round. */
  goOn?(stage: Stage): Promise<void>
}

export interface Stage {
  readonly server: EndingServer
  readonly agent: string
  token: string
}

const TASK = 't'
const folderOf = (round: number): string => `r${round}`

function place({ server }: Stage, ...parts: readonly string[]): string {
  return join(server.workspace, ...parts)
}

function put(stage: Stage, path: string, content: string): void {
  mkdirSync(dirname(place(stage, path)), { recursive: true })
  writeFileSync(place(stage, path), content)
}

/** Every file below a folder, with its mode and content. */
export function readFolder(folder: string): string {
  if (!existsSync(folder)) return 'missing'
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted()
  return names
    .map((name) => {
      const stat = statSync(join(folder, name))
      const mode = (stat.mode & 0o777).toString(8)
      return stat.isDirectory() ? `${name}/ ${mode}` : `${name} ${mode} ${readFileSync(join(folder, name), 'utf8')}`
    })
    .join('\n')
}

async function runTool(stage: Stage, tool_name: string, args: object): Promise<void> {
  const answer = await stage.server.call(tool(stage, tool_name, args))
  if (answer.status !== 200) throw new Error(JSON.stringify(answer))
}

function tool(stage: Stage, tool_name: string, args: object): Omit<Call, 'key'> {
  return { path: '/tools/execute', token: stage.token, body: { task_id: TASK, tool_name, args } }
}

const write = (stage: Stage, files: readonly { readonly path: string; readonly content: string }[]) =>
  runTool(stage, 'write_files', { files })

const OPERATIONS_OF_FILES: readonly Operation[] = [
  {
    name: 'write_files that appends',
    prepare: (stage, round) => write(stage, [{ path: `${folderOf(round)}/log`, content: 'first\n' }]),
    call: (stage, round) =>
      tool(stage, 'write_files', { path: `${folderOf(round)}/log`, content: 'second\n', mode: 'a' }),
    look: (stage, round) => readFolder(place(stage, folderOf(round))),
    expected: () => 'log 644 first\nsecond\n',
    event: { type: 'tool_finished', tool: 'write_files' },
  },
  {
    name: 'write_files with several files, one of them there and two in new folders',
    prepare: (stage, round) => write(stage, [{ path: `${folderOf(round)}/a`, content: 'old\n' }]),
    call: (stage, round) =>
      tool(stage, 'write_files', {
        files: ['a', 'b/c', 'b/d/e'].map((name) => ({ path: `${folderOf(round)}/${name}`, content: `${name}\n` })),
      }),
    look: (stage, round) => readFolder(place(stage, folderOf(round))),
    expected: () => 'a 644 a\n\nb/ 755\nb/c 644 b/c\n\nb/d/ 755\nb/d/e 644 b/d/e\n',
    event: { type: 'tool_finished', tool: 'write_files' },
  },
  {
    name: 'edit_files',
    prepare: (stage, round) => write(stage, [{ path: `${folderOf(round)}/a`, content: 'one two\n' }]),
    call: (stage, round) =>
      tool(stage, 'edit_files', { path: `${folderOf(round)}/a`, edits: [{ old: 'two', new: 'three' }] }),
    look: (stage, round) => readFolder(place(stage, folderOf(round))),
    expected: () => 'a 644 one three\n',
    event: { type: 'tool_finished', tool: 'edit_files' },
  },
]

const COMMAND = `set -e
cd FOLDER
echo changed > changed
rm gone
rm -r old
chmod 700 program
mv file-to-folder x && mkdir file-to-folder && mv x file-to-folder/was
ln -s changed link
mkdir new
for i in $(seq 9); do echo $i > new/$i; done`

const OPERATIONS_OF_COMMANDS: readonly Operation[] = [
  {
    name: 'bash that creates, changes, deletes and replaces',
    prepare: (stage, round) =>
      write(
        stage,
        ['changed', 'gone', 'old/a', 'old/b/c', 'program', 'file-to-folder'].map((name) => ({
          path: `${folderOf(round)}/${name}`,
          content: `${name}\n`,
        })),
      ),
    call: (stage, round) => tool(stage, 'bash', { command: COMMAND.replace('FOLDER', folderOf(round)) }),
    look: (stage, round) => readFolder(place(stage, folderOf(round))),
    expected: () =>
      [
        ...['changed 644 changed\n', 'file-to-folder/ 755', 'file-to-folder/was 644 file-to-folder\n'],
        ...['link 644 changed\n', 'new/ 755', ...Array.from({ length: 9 }, (_, i) => `new/${i + 1} 644 ${i + 1}\n`)],
        'program 700 program\n',
      ].join('\n'),
    event: { type: 'tool_finished', tool: 'bash' },
  },
  {
    name: 'bash that writes to ignored paths too',
    prepare: async (stage, round) => {
      await write(stage, [{ path: `${folderOf(round)}/a`, content: 'a\n' }])
    },
    call: (stage, round) =>
      tool(stage, 'bash', {
        // One ignored path for all rounds: the layer of the task would grow with each, and so would the steps.
        command: `mkdir -p cache && echo ${round} > cache/out && echo b > ${folderOf(round)}/b`,
      }),
    look: (stage, round) => readFolder(place(stage, folderOf(round))),
    expected: () => 'a 644 a\n\nb 644 b\n',
    event: { type: 'tool_finished', tool: 'bash' },
  },
]

const OPERATIONS_OF_GIT: readonly Operation[] = [
  {
    name: 'git_commit',
    prepare: (stage, round) => write(stage, [{ path: `${folderOf(round)}/a`, content: 'a\n' }]),
    call: (stage, round) => tool(stage, 'git_commit', { message: `commit ${round}` }),
    look: (stage, round) => {
      const git = (...words: string[]) =>
        execFileSync('git', words, { cwd: stage.server.workspace, encoding: 'utf8' }).trim()
      return [git('ls-tree', '-r', '--name-only', 'HEAD', folderOf(round)), git('status', '--porcelain'), git('fsck')]
        .map((text) => text.replace(/^dangling .*$/gm, '').trim())
        .join('|')
    },
    expected: (_, round) => `${folderOf(round)}/a||`,
    event: { type: 'tool_finished', tool: 'git_commit' },
  },
]

// npm makes a copy of the package, without network.
const INSTALL = 'npm install --offline --install-links --ignore-scripts --no-audit --no-fund ./lib'.split(' ')

const OPERATIONS_OF_OPERATORS: readonly Operation[] = [
  {
    name: 'install',
    prepare: (stage, round) =>
      write(stage, [
        { path: `${folderOf(round)}/package.json`, content: '{"name":"app","version":"1.0.0"}\n' },
        { path: `${folderOf(round)}/lib/package.json`, content: '{"name":"lib","version":"1.0.0"}\n' },
        { path: `${folderOf(round)}/lib/index.js`, content: 'module.exports = 1\n' },
      ]),
    call: ({ server }, round) => ({
      path: `/tasks/${TASK}/install`,
      token: server.operator,
      body: { command: INSTALL, cwd: folderOf(round) },
    }),
    look: (stage, round) => {
      const files = readFolder(place(stage, folderOf(round))).split('\n')
      return files.filter((line) => /^(node_modules|package)/.test(line)).join('\n')
    },
    expected: () =>
      [
        ...['node_modules/ 755', 'node_modules/.package-lock.json 644 {', 'node_modules/lib/ 755'],
        ...['node_modules/lib/index.js 644 module.exports = 1'],
        'node_modules/lib/package.json 644 {"name":"lib","version":"1.0.0"}',
        'package-lock.json 644 {',
        'package.json 644 {"name":"app","version":"1.0.0","dependencies":{"lib":"file:lib"}}',
      ].join('\n'),
    event: { type: 'install_finished' },
    isLong: true,
  },
  {
    name: 'revert',
    prepare: async (stage, round) => {
      await write(stage, [
        { path: `${folderOf(round)}/a`, content: 'allowed\n' },
        { path: `${folderOf(round)}/b`, content: 'allowed\n' },
      ])
      put(stage, `${folderOf(round)}/a`, 'by hand\n')
      put(stage, `${folderOf(round)}/c`, 'by hand\n')
    },
    call: ({ server }) => ({ path: `/tasks/${TASK}/tree/revert`, token: server.operator, body: { reason: 'no' } }),
    look: (stage, round) => readFolder(place(stage, folderOf(round))),
    expected: () => 'a 644 allowed\n\nb 644 allowed\n',
    event: { type: 'tree_reverted' },
    differsBefore: true,
  },
  {
    name: 'accept',
    prepare: async (stage, round) => {
      await write(stage, [{ path: `${folderOf(round)}/a`, content: 'allowed\n' }])
      put(stage, `${folderOf(round)}/a`, 'by hand\n')
    },
    call: ({ server }) => ({ path: `/tasks/${TASK}/tree/accept`, token: server.operator, body: { reason: 'yes' } }),
    look: (stage, round) => readFolder(place(stage, folderOf(round))),
    expected: () => 'a 644 by hand\n',
    event: { type: 'tree_accepted' },
    differsBefore: true,
  },
  {
    name: 'rewind with the tree',
    prepare: (stage, round) => write(stage, [{ path: `${folderOf(round)}/a`, content: 'written in WORK\n' }]),
    call: ({ server }) => ({
      path: `/tasks/${TASK}/rewind`,
      token: server.operator,
      body: { to_phase: 'PLAN', reason: 'wrong way', restore_tree: true },
    }),
    look: (stage, round) => readFolder(place(stage, folderOf(round))),
    expected: () => '',
    event: { type: 'task_rewound' },
    goOn: enterWork,
  },
  {
    name: 'merge of a work tree',
    prepare: async ({ server }, round) => {
      const task = `m${round}`
      await server.call({ path: '/tasks', token: server.operator, body: { id: task, title: task, worktree: true } })
      const { body } = await server.call({ path: '/agents', token: server.operator, body: { agent_id: task } })
      const claim = { path: '/tasks/claim', token: String(body.agent_token), body: { agent_id: task, task_id: task } }
      const claimed = await server.call(claim)
      const transition = { task_id: task, target_phase: 'WORK' }
      const moved = await server.call({
        path: '/tasks/transition',
        token: String(claimed.body.phase_token),
        body: transition,
      })
      const token = String(moved.body.phase_token)
      const args = { path: `${folderOf(round)}/a`, content: 'merged\n' }
      await server.call({ path: '/tools/execute', token, body: { task_id: task, tool_name: 'write_files', args } })
      await server.call({ path: '/tasks/release', token, body: { task_id: task, reason: 'done' } })
    },
    call: ({ server }, round) => ({
      path: `/tasks/m${round}/merge`,
      token: server.operator,
      body: { force: true, commit: true, reason: 'done' },
    }),
    look: (stage, round) => readFolder(place(stage, folderOf(round))),
    expected: () => 'a 644 merged\n',
    event: { type: 'worktree_merged' },
  },
]

export const OPERATIONS: readonly Operation[] = [
  ...OPERATIONS_OF_FILES,
  ...OPERATIONS_OF_COMMANDS,
  ...OPERATIONS_OF_GIT,
  ...OPERATIONS_OF_OPERATORS,
]

/** A server with a repository, and an agent that works on a task. */
export async function begin(server: EndingServer): Promise<Stage> {
  makeRepository(server)
  return startWork(server)
}

export function makeRepository(server: EndingServer): void {
  const git = (...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...words], { cwd: server.workspace })
  writeFileSync(join(server.workspace, '.gitignore'), 'cache/\n')
  git('init', '-q', '-b', 'main')
  git('add', '.')
  git('commit', '-qm', 'first')
}

export async function startWork(server: EndingServer): Promise<Stage> {
  await server.start()
  const { operator } = server
  await server.call({
    path: '/tasks',
    token: operator,
    body: { id: TASK, title: 'whole', workspace: server.workspace },
  })
  const { body } = await server.call({ path: '/agents', token: operator, body: { agent_id: 'a' } })
  const stage = { server, agent: String(body.agent_token), token: '' }
  await enterWork(stage)
  return stage
}

async function enterWork(stage: Stage): Promise<void> {
  const { server, agent } = stage
  const claimed = await server.call({ path: '/tasks/claim', token: agent, body: { agent_id: 'a', task_id: TASK } })
  const moved = await server.call({
    path: '/tasks/transition',
    token: String(claimed.body.phase_token),
    body: { task_id: TASK, target_phase: 'WORK' },
  })
  stage.token = String(moved.body.phase_token)
}

/** How often the operation is in the ledger. */
export async function countEvents({ server }: Stage, { type, tool: name }: Operation['event']): Promise<number> {
  const query = `type=${type}${name === undefined ? '' : `&tool_name=${name}`}&limit=500`
  const { body } = await server.call({ method: 'GET', path: `/audit/query?${query}`, token: server.operator })
  return (body.events as readonly { data: { success?: boolean } }[]).filter(({ data }) => data.success !== false).length
}

/** What Phaselock finds unexplained in the tree: nothing, if tree and ledger agree. */
export async function findUnexplained({ server }: Stage): Promise<string> {
  const body = { reason: 'nothing should differ' }
  const answer = await server.call({ path: `/tasks/${TASK}/tree/revert`, token: server.operator, body })
  return answer.status === 409 ? String(answer.body.detail) : JSON.stringify(answer)
}
