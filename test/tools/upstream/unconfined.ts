import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ChangeSet, CommandEnd, ConfinedCommand, Job } from '../../../src/confinement/confinement.js'
import type { Change } from '../../../src/tree/change.js'

/** Starts commands as a confinement would, without the wall: enough to see what is asked of it. */
export class Unconfined {
  readonly jobs: Job[] = []
  readonly settled: ('committed' | 'discarded')[] = []
  running = 0

  readonly start = async (job: Job): Promise<ConfinedCommand> => {
    this.jobs.push(job)
    const [program = '', ...args] = job.argv
    const place = job.writes === 'keep' ? mkdtempSync(join(tmpdir(), 'kept-')) : job.tree
    if (place !== job.tree) cpSync(job.tree, place, { recursive: true })
    const child = spawn(program, args, { cwd: place, env: { PATH: process.env.PATH, ...job.env }, stdio: 'pipe' })
    this.running += 1
    let stopped: CommandEnd['stopped'] = null
    const stop = (why: NonNullable<CommandEnd['stopped']>): void => {
      stopped ??= why
      child.kill('SIGKILL')
    }
    const timer = setTimeout(() => stop('timeout'), job.timeoutMs)
    job.signal.addEventListener('abort', () => stop('aborted'))
    child.stdin.on('error', () => undefined)
    const done = new Promise<CommandEnd>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', (code) => {
        if (child.pid === undefined) return
        clearTimeout(timer)
        this.running -= 1
        const list = job.writes === 'keep' && stopped === null ? differences(job.tree, place) : []
        resolve({ exitCode: code ?? 137, stopped, files: new Map(), changes: this.changesOf(job.tree, place, list) })
      })
    })
    done.catch(() => {
      clearTimeout(timer)
      this.running -= 1
    })
    return { stdin: child.stdin, stdout: child.stdout, stderr: child.stderr, done, kill: () => stop('output') }
  }

  private changesOf(tree: string, place: string, list: readonly Change[]): ChangeSet {
    const settle = async (how: 'committed' | 'discarded'): Promise<null> => {
      this.settled.push(how)
      if (how === 'committed') cpSync(place, tree, { recursive: true })
      if (place !== tree) rmSync(place, { recursive: true })
      return null
    }
    return {
      list,
      view: null,
      commit: () => settle('committed'),
      discard: async () => void (await settle('discarded')),
    }
  }
}

function differences(before: string, after: string): readonly Change[] {
  return readdirSync(after, { recursive: true, encoding: 'utf8' })
    .sort()
    .flatMap((path): Change[] => {
      const isKnown = statSync(join(before, path), { throwIfNoEntry: false }) !== undefined
      if (statSync(join(after, path)).isDirectory())
        return isKnown ? [] : [{ path, kind: 'created', type: 'directory', bytes: null, sha256: null, problem: null }]
      const content = readFileSync(join(after, path))
      if (isKnown && content.equals(readFileSync(join(before, path)))) return []
      const sha256 = createHash('sha256').update(content).digest('hex')
      const kind = isKnown ? 'modified' : 'created'
      return [{ path, kind, type: 'file', bytes: content.length, sha256, problem: null }]
    })
}
