import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect } from 'vitest'
import { makePlace, type Place, type Served, serve } from '../e2e/process.js'
import { type Files, makeRepository } from '../e2e/projects.js'
import { implementation, testFiles, Walker } from '../e2e/walker.js'

const TDD = readFileSync(new URL('../../contracts/tdd.yaml', import.meta.url), 'utf8')

/** A server with the bundled contract `tdd`, and tasks in repositories of their own. */
export interface Forge {
  readonly server: Served
  readonly place: Place
  /** A task in IMPL, its tests seen failing. */
  inImpl(project: Project): Promise<Task>
  /** A task in TDD. */
  inTdd(project: Omit<Project, 'tests'>): Promise<Task>
  end(): Promise<void>
}

export interface Project {
  /** What the repository holds when work begins. */
  readonly files: Files
  /** Beside what git has, such as installed packages. */
  readonly ignored?: Files
  /** Puts more there before work begins. */
  readonly prepare?: (dir: string) => void
  /** How the contract runs the tests. */
  readonly run: string
  /** What is written in TDD; the first file is named as the test of the criterion. */
  readonly tests: Files
  /** Replaces a part of the contract's text. */
  readonly contract?: (text: string) => string
}

export interface Task {
  readonly agent: Walker
  readonly dir: string
  write(files: Files): Promise<void>
  /** Beside all tools, as an agent does that has a shell of its own. */
  smuggle(files: Files, encoding?: BufferEncoding): void
  has(path: string): boolean
  /** Asks for REVIEW, which must be refused; gives every blocker with what was found. */
  refused(): Promise<string>
  /** Asks for REVIEW, which must be granted. */
  completes(): Promise<Record<string, unknown>>
}

export async function openForge(environment: NodeJS.ProcessEnv = {}): Promise<Forge> {
  const place = await makePlace()
  const server = await serve(place, 'tdd', environment)
  const contracts = new Map<string, string>()
  let count = 0
  const inTdd: Forge['inTdd'] = async ({ files, ignored = {}, prepare, run, contract = (text) => text }) => {
    const source = contract(TDD.replace('run: npm test', `run: ${JSON.stringify(run)}`))
    const added = await server.call('POST', '/contracts', server.operator, { source })
    const hash = contracts.get(source) ?? String(added.body.hash)
    contracts.set(source, hash)
    const dir = mkdtempSync(join(place.dir, 'repository-'))
    makeRepository(dir, files)
    put(dir, ignored)
    prepare?.(dir)
    count += 1
    const agent = await Walker.claim(server, `task-${count}`, { contract: hash, workspace: dir })
    await agent.plan()
    return {
      agent,
      dir,
      write: async (list) => {
        for (const [path, content] of Object.entries(list)) await agent.does('write_files', { path, content })
      },
      smuggle: (list, encoding) => put(dir, list, encoding),
      has: (path) => existsSync(join(dir, path)),
      refused: async () => {
        const blockers = await agent.refused('REVIEW', implementation('src'))
        return blockers.map((one) => JSON.stringify(one)).join('\n')
      },
      completes: () => agent.enters('REVIEW', implementation('src')),
    }
  }
  return {
    server,
    place,
    inTdd,
    inImpl: async (project) => {
      const task = await inTdd(project)
      await task.write(project.tests)
      await task.agent.enters('IMPL', testFiles(Object.keys(project.tests)[0] ?? ''))
      return task
    },
    end: async () => {
      await server.stop()
      place.remove()
    },
  }
}

function put(dir: string, files: Files, encoding: BufferEncoding = 'utf8'): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(dir, dirname(path)), { recursive: true })
    writeFileSync(join(dir, path), text, encoding)
  }
}

/** Refused, and each of these patterns is in what the agent is told. */
export async function expectRefused(task: Task, ...patterns: readonly RegExp[]): Promise<void> {
  const told = await task.refused()
  for (const pattern of patterns) expect(told).toMatch(pattern)
}
