import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Route } from '../../src/http/route.js'
import { ROUTES } from '../../src/http/routes/all.js'
import type { Lane } from '../garbage/endpoints.js'
import { type Pair, Stage } from '../garbage/stage.js'
import { git, makeRepository } from '../e2e/projects.js'
import { type Answer, type Running, start } from '../http/harness.js'
import { findToken, prepareRequest, sendRequest } from '../http/right-requests.js'

/** What can happen to a file or folder. */
export const DAMAGES = {
  deleted: (path: string) => rmSync(path, { recursive: true }),
  unreadable: (path: string) => chmodSync(path, 0),
  'a file instead of a folder, or a folder instead of a file': (path: string) => {
    const isFolder = lstatSync(path).isDirectory()
    rmSync(path, { recursive: true })
    if (isFolder) writeFileSync(path, 'a file')
    else mkdirSync(path)
  },
  'a link to where it was moved': (path: string) => {
    const moved = `${path}-moved`
    renameSync(path, moved)
    symlinkSync(moved, path)
  },
  'a link to itself': (path: string) => {
    rmSync(path, { recursive: true })
    symlinkSync(path, path)
  },
  'other bytes': (path: string) => {
    if (lstatSync(path).isFile()) writeFileSync(path, 'other bytes')
  },
} as const
export type Damage = keyof typeof DAMAGES

/** Like `deleted`, for root: permissions do not stop it. */
export const MEANINGFUL = (Object.keys(DAMAGES) as Damage[]).filter(
  (damage) => damage !== 'unreadable' || process.getuid?.() !== 0,
)

interface Prepared {
  readonly route: Route
  readonly pair: Pair
  readonly base: ReturnType<Lane['base']>
}

/** A task in a tree of its own, which nobody damages. */
interface Bystander {
  readonly token: string
  readonly task: string
}

export interface Answered {
  readonly call: string
  readonly who: string
  readonly answer: Answer
  /** The error behind an answer with status 500. */
  readonly fault: unknown
}

/** A stopped server with a right request for every route. Each case starts a copy of it and damages that. */
export class Copies {
  readonly #dir: string
  readonly #saved: string
  #prepared: readonly Prepared[] = []
  #bystander: Bystander = { token: '', task: '' }
  #free = ''
  /** Paths of the bystander and of the task that nobody has claimed, relative. */
  #spared: ReadonlySet<string> = new Set()

  private constructor(dir: string) {
    this.#dir = dir
    this.#saved = `${dir}-saved`
  }

  static async make(): Promise<Copies> {
    const copies = new Copies(realpathSync(mkdtempSync(join(tmpdir(), 'phaselock-broken-'))))
    await copies.#prepare()
    return copies
  }

  remove(): void {
    for (const dir of [this.#dir, this.#saved]) rmSync(dir, { recursive: true, force: true })
  }

  async #prepare(): Promise<void> {
    const tree = join(this.#dir, 'tree')
    makeRepository(tree, { 'README.md': '# Shop\n', 'src/add.js': 'export const add = 1\n' })
    git(tree, 'branch', '-M', 'main')
    // Nothing reads these.
    for (const unused of ['hooks', 'logs', 'branches', 'description', 'COMMIT_EDITMSG'])
      rmSync(join(tree, '.git', unused), { recursive: true, force: true })
    const run = await this.#start()
    const stage = await Stage.open(run)
    const prepared: Prepared[] = []
    // What ends all agents or stops their work comes last.
    const last = new Set(['rotateSecret', 'pause', 'unpause', 'setPassphrase', 'logout', 'revokeSession'])
    const routes = [...ROUTES].sort((a, b) => Number(last.has(a.id)) - Number(last.has(b.id)))
    for (const route of routes) {
      const lane = await prepareRequest(stage, route.id)
      prepared.push({ route, pair: lane.pair, base: lane.base() })
    }
    this.#prepared = prepared
    const before = new Set(this.#list())
    await this.#addBystanders(run)
    this.#spared = new Set(this.#list().filter((path) => !before.has(path)))
    await run.close()
    execFileSync('cp', ['-a', this.#dir, this.#saved])
  }

  async #addBystanders(run: Running): Promise<void> {
    const [tree, free] = ['other', 'free'].map((name) => join(this.#dir, name)) as [string, string]
    for (const path of [tree, free]) makeRepository(path, { 'README.md': '# Other\n' })
    const task = await run.addTask({ workspace: tree })
    this.#bystander = { task, token: await run.claim('bystander', await run.addAgent('bystander'), task) }
    this.#free = await run.addTask({ workspace: free, title: 'Free' })
  }

  #start(): Promise<Running> {
    return start({ dir: this.#dir, confirm: 'never', agentPerSecond: 1_000_000_000 })
  }

  #list(): readonly string[] {
    const walk = (folder: string): string[] =>
      readdirSync(join(this.#dir, folder), { withFileTypes: true }).flatMap((entry) => {
        const path = folder === '' ? entry.name : `${folder}/${entry.name}`
        return [path, ...(entry.isDirectory() ? walk(path) : [])]
      })
    return walk('')
  }

  /** The paths that can be damaged, by what they are for: what differs only in an id or a hash is one kind of path. */
  listKinds(): ReadonlyMap<string, readonly string[]> {
    const kinds = new Map<string, string[]>()
    for (const path of this.#list()) {
      if (this.#spared.has(path)) continue
      const kind = path
        .replace(/^(?!state(\/|$))[^/]+(\/task-\d+\/tree)?/, 'TREE')
        .replace(/[0-9a-f]{8,}/g, 'HASH')
        .replace(/\d+/g, 'N')
        .replace(/objects\/\w\w(?=\/|$)/, 'objects/XX')
        .replace(/runs\/[^/]+/, 'runs/RUN')
      kinds.set(kind, [...(kinds.get(kind) ?? []), path])
    }
    return kinds
  }

  /** Starts a copy, damages the paths, and calls every route. */
  async damage(paths: readonly string[], damage: Damage): Promise<readonly Answered[]> {
    rmSync(this.#dir, { recursive: true, force: true })
    execFileSync('cp', ['-a', this.#saved, this.#dir])
    const run = await this.#start()
    try {
      for (const path of paths) if (existsSync(join(this.#dir, path))) DAMAGES[damage](join(this.#dir, path))
      return await this.#callAll(run)
    } finally {
      await run.stop().catch(() => undefined)
    }
  }

  async #callAll(run: Running): Promise<readonly Answered[]> {
    const answered: Answered[] = []
    const note = async (call: string, who: string, answering: Promise<Answer>): Promise<Answer> => {
      const answer = await within(answering, `${call} as ${who}`)
      answered.push({ call, who, answer, fault: answer.status === 500 ? run.faults.at(-1) : null })
      return answer
    }
    await note('other task', 'agent', this.#read(run))
    const adding = run.call('POST', '/agents', run.operator, { agent_id: 'newcomer' })
    const agent = await note('add agent', 'operator', adding)
    const claim = { agent_id: 'newcomer' }
    await note('claim', 'agent', run.call('POST', '/tasks/claim', String(agent.body.agent_token), claim))
    for (const { route, pair, base } of this.#prepared) {
      await note(route.id, 'its caller', sendRequest({ run }, route, { pair, base }))
      for (const [who, token] of [
        ['operator', run.operator],
        ['agent', pair.phase],
      ] as const)
        if (token !== findToken(route, pair, run.operator))
        await note(route.id, who, sendRequest({ run }, route, { pair, base: { ...base, headers: {} }, token }))
    }
    for (const path of ['/health', '/ready', '/metrics'])
      await note(path, 'nobody', run.call('GET', path, null))
    return answered
  }

  #read(run: Running): Promise<Answer> {
    const { task, token } = this.#bystander
    const body = { task_id: task, tool_name: 'read_files', args: { path: 'README.md' } }
    return run.call('POST', '/tools/execute', token, body)
  }
}

const ANSWER_MS_MAX = 30_000

async function within(answering: Promise<Answer>, what: string): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} was not answered`)), ANSWER_MS_MAX)
  })
  return Promise.race([answering, late]).finally(() => clearTimeout(timer))
}
