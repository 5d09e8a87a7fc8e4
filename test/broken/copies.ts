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
import { git, makeRepository } from '../e2e/projects.js'
import type { Lane } from '../garbage/endpoints.js'
import { type Pair, Stage } from '../garbage/stage.js'
import { type Answer, type Running, start } from '../http/harness.js'
import { findToken, prepareRequest, sendRequest } from '../http/right-requests.js'

/** What can happen to a file or folder. */
const DAMAGES = {
  deleted: (path: string) => rmSync(path, { recursive: true }),
  unreadable: (path: string) => chmodSync(path, 0),
  'a file for a folder, a folder for a file': (path: string) => {
    const isFolder = lstatSync(path).isDirectory()
    rmSync(path, { recursive: true })
    if (isFolder) writeFileSync(path, 'a file')
    else mkdirSync(path)
  },
  'moved, with a link to it': (path: string) => {
    renameSync(path, `${path}-moved`)
    symlinkSync(`${path}-moved`, path)
  },
  'a link to itself': (path: string) => {
    rmSync(path, { recursive: true })
    symlinkSync(path, path)
  },
} as const
export type Damage = keyof typeof DAMAGES

/** Permissions do not stop root: for it, nothing is unreadable. */
export const MEANINGFUL_DAMAGES = (Object.keys(DAMAGES) as Damage[]).filter(
  (damage) => damage !== 'unreadable' || process.getuid?.() !== 0,
)

export interface Answered {
  readonly call: string
  readonly who: string
  readonly answer: Answer
  /** The error behind an answer with status 500. */
  readonly fault: unknown
}

type Note = (call: string, who: string, answering: Promise<Answer>) => Promise<Answer>

/** What ends all agents or their work is called last. */
const CALLED_LAST = new Set(['rotateSecret', 'pause', 'unpause', 'setPassphrase', 'logout', 'revokeSession'])
/** Files of git that nothing reads. */
const UNUSED = /\/\.git\/(?:hooks|logs|branches|description|COMMIT_EDITMSG|ORIG_HEAD)(?:\/|$)/
const BYSTANDER = 'bystander'
const ANSWER_MS_MAX = 60_000

/**
 * A stopped server that knows a right request for every route. Each case starts a copy of it and damages that: what one
 * request uses up or one case breaks is whole again in the next.
 */
export class Copies {
  readonly #dir = realpathSync(mkdtempSync(join(tmpdir(), 'phaselock-broken-')))
  readonly #saved = `${this.#dir}-saved`
  readonly #requests: { readonly route: Route; readonly pair: Pair; readonly base: ReturnType<Lane['base']> }[] = []
  /** The token of an agent at work in a tree that nobody damages. */
  #token = ''
  /** Paths of the tasks in trees that nobody damages. */
  #spared: ReadonlySet<string> = new Set()

  static async make(): Promise<Copies> {
    const copies = new Copies()
    await copies.#prepare()
    return copies
  }

  remove(): void {
    for (const dir of [this.#dir, this.#saved]) rmSync(dir, { recursive: true, force: true })
  }

  /** The paths that can be damaged, by kind: paths that differ only in an id or a hash have the same purpose. */
  listKinds(): ReadonlyMap<string, readonly string[]> {
    const kinds = new Map<string, string[]>()
    for (const path of this.#listPaths()) {
      if (this.#spared.has(path) || UNUSED.test(path)) continue
      const kind = path
        .replace(/^(?!state(\/|$))[^/]+(\/task-\d+\/tree)?/, 'TREE')
        .replace(/objects\/[0-9a-f]{2}(?=\/|$)/, 'objects/XX')
        .replace(/[0-9a-f]{8,}/g, 'HASH')
        .replace(/(?<!ed)\d+/g, 'N')
        .replace(/runs\/[^/]+/, 'runs/RUN')
      kinds.set(kind, [...(kinds.get(kind) ?? []), path])
    }
    return kinds
  }

  /** Starts a copy, damages the paths, and calls every route. */
  async damage(paths: readonly string[], damage: Damage | null): Promise<readonly Answered[]> {
    rmSync(this.#dir, { recursive: true, force: true })
    execFileSync('cp', ['-a', this.#saved, this.#dir])
    const run = await this.#start()
    try {
      // A path may be gone with the folder above it.
      for (const path of paths.map((relative) => join(this.#dir, relative)))
        if (damage !== null && existsSync(path)) DAMAGES[damage](path)
      return await this.#callEverything(run)
    } finally {
      // Without its ledger a server cannot stop in order.
      await run.close().catch(() => undefined)
    }
  }

  async #prepare(): Promise<void> {
    const tree = join(this.#dir, 'tree')
    makeRepository(tree, { 'README.md': '# Shop\n', 'src/add.js': 'export const add = 1\n' })
    git(tree, 'branch', '-M', 'main')
    const run = await this.#start()
    const stage = await Stage.open(run)
    for (const route of [...ROUTES].sort((a, b) => Number(CALLED_LAST.has(a.id)) - Number(CALLED_LAST.has(b.id)))) {
      const { pair, base } = await prepareRequest(stage, route.id)
      this.#requests.push({ route, pair, base: base() })
    }
    const before = new Set(this.#listPaths())
    await this.#addBystanders(run)
    this.#spared = new Set(this.#listPaths().filter((path) => !before.has(path)))
    await run.close()
    execFileSync('cp', ['-a', this.#dir, this.#saved])
  }

  async #addBystanders(run: Running): Promise<void> {
    for (const id of [BYSTANDER, 'free']) {
      const workspace = join(this.#dir, id)
      makeRepository(workspace, { 'README.md': '# Other\n' })
      await run.addTask({ id, workspace })
    }
    this.#token = await run.claim(BYSTANDER, await run.addAgent(BYSTANDER), BYSTANDER)
  }

  #start(): Promise<Running> {
    return start({ dir: this.#dir, confirm: 'never', agentPerSecond: 1_000_000_000 })
  }

  #listPaths(): readonly string[] {
    const walk = (folder: string): readonly string[] =>
      readdirSync(join(this.#dir, folder), { withFileTypes: true }).flatMap((entry) => {
        const path = folder === '' ? entry.name : `${folder}/${entry.name}`
        return [path, ...(entry.isDirectory() ? walk(path) : [])]
      })
    return walk('')
  }

  async #callEverything(run: Running): Promise<readonly Answered[]> {
    const answered: Answered[] = []
    const note: Note = async (call, who, answering) => {
      const answer = await waitFor(answering, `${call} as ${who}`)
      answered.push({ call, who, answer, fault: answer.status === 500 ? run.faults.at(-1) : null })
      return answer
    }
    await this.#callAsOthers(run, note)
    for (const { route, pair, base } of this.#requests) {
      await note(route.id, 'its caller', sendRequest({ run }, route, { pair, base }))
      const own = findToken(route, pair, run.operator)
      const others = { operator: run.operator, agent: pair.phase }
      for (const [who, token] of Object.entries(others))
        if (token !== own)
          await note(route.id, who, sendRequest({ run }, route, { pair, base: { ...base, headers: {} }, token }))
    }
    for (const path of ['/health', '/ready', '/metrics']) await note(path, 'nobody', run.call('GET', path, null))
    return answered
  }

  /** Who works elsewhere goes on, and who comes gets a task. */
  async #callAsOthers(run: Running, note: Note): Promise<void> {
    const read = { task_id: BYSTANDER, tool_name: 'read_files', args: { path: 'README.md' } }
    await note('work elsewhere', 'agent', run.call('POST', '/tools/execute', this.#token, read))
    const adding = run.call('POST', '/agents', run.operator, { agent_id: 'newcomer' })
    const { body } = await note('another agent', 'operator', adding)
    const claim = { agent_id: 'newcomer' }
    await note('another claim', 'agent', run.call('POST', '/tasks/claim', String(body.agent_token), claim))
  }
}

async function waitFor(answering: Promise<Answer>, what: string): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} was not answered`)), ANSWER_MS_MAX)
  })
  return Promise.race([answering, late]).finally(() => clearTimeout(timer))
}
