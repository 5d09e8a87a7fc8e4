import { spawn } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../cli/program.js'

export interface Attempt {
  readonly id: string
  readonly tries: string
  readonly outcome: string
  readonly code: string
  readonly why: string
}

/** What `--json` prints. */
export interface Shown {
  readonly ok: boolean
  readonly confinement: { readonly provider: string; readonly unenforced: readonly string[] }
  readonly honest: { readonly completed: boolean; readonly steps: readonly { readonly phase: string }[] }
  readonly cheating: { readonly attempts: readonly Attempt[] }
  readonly score: Readonly<Record<string, number>>
  readonly faults: readonly string[]
  readonly ledger: { readonly ok: boolean; readonly events: number }
  readonly reports: readonly { readonly run: Record<string, unknown>; readonly refusals: { readonly count: number } }[]
  readonly seconds: number
  readonly folder: string | null
}

/** A folder that takes the place of the temporary folder of the machine: what the demo leaves behind is seen here. */
export class Room {
  readonly dir = mkdtempSync(join(tmpdir(), 'phaselock-room-'))
  readonly temporary = join(this.dir, 'tmp')

  constructor() {
    mkdirSync(this.temporary)
  }

  get environment(): NodeJS.ProcessEnv {
    return { PATH: process.env.PATH, HOME: this.dir, TMPDIR: this.temporary }
  }

  /** Files that are still there, and processes that still name the folder. */
  leftovers(): readonly string[] {
    return [...readdirSync(this.temporary), ...processesNaming(this.temporary)]
  }

  remove(): void {
    rmSync(this.dir, { recursive: true, force: true })
  }
}

function processesNaming(folder: string): readonly string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
        return words.includes(folder) ? [words] : []
      } catch {
        // It has ended meanwhile.
        return []
      }
    })
}

export interface Showing {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs the demo to its end. `watch` sees what it has printed so far and may send it a signal. */
export function show(
  room: Room,
  args: readonly string[] = [],
  more: {
    readonly root?: string
    readonly env?: NodeJS.ProcessEnv
    readonly watch?: (printed: string, kill: (signal: NodeJS.Signals) => void) => void
  } = {},
): Promise<Showing> {
  const child = spawn(process.execPath, [join(more.root ?? ROOT, 'bin/phaselock'), 'demo', ...args], {
    cwd: room.dir,
    env: { ...room.environment, ...more.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  const look = (): void => more.watch?.(stderr + stdout, (signal) => child.kill(signal))
  child.stdout.on('data', (chunk) => {
    stdout += chunk
    look()
  })
  child.stderr.on('data', (chunk) => {
    stderr += chunk
    look()
  })
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, stdout, stderr })))
}

export interface Fault {
  /** Below `dist`. */
  readonly file: string
  readonly from: string
  readonly to: string
}

/** A copy of the built product with faults planted in it. */
export function plant(dir: string, faults: readonly Fault[]): string {
  for (const name of ['bin', 'dist', 'demo', 'contracts', 'package.json'])
    cpSync(join(ROOT, name), join(dir, name), { recursive: true })
  for (const name of ['node_modules', 'schemas', 'runtime', 'sdk', 'docs'])
    symlinkSync(join(ROOT, name), join(dir, name))
  for (const { file, from, to } of faults) {
    const path = join(dir, 'dist', file)
    const text = readFileSync(path, 'utf8')
    if (text.split(from).length !== 2) throw new Error(`${file} has ${JSON.stringify(from)} not once`)
    writeFileSync(path, text.replace(from, to))
  }
  // The program in few files holds a copy of each of them.
  const program = join(dir, 'bin/phaselock')
  writeFileSync(program, readFileSync(program, 'utf8').replace('dist/program/main.js', 'dist/cli/main.js'))
  return dir
}
