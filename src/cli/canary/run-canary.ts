import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type CanaryCall, openCanaryModel } from './canary-model.js'

const CANARY_MS_MAX = 120_000
const TEXT_CHARS_MAX = 300
/** How agent CLIs say that a tool does not exist. */
const OFF = /disabled for this session|unsupported call|not found|unknown tool|does not exist/i

/** How an agent CLI is started for one call that must be refused. */
export interface CanaryPlan {
  readonly program: string
  readonly workspace: string
  readonly args: (modelUrl: string) => readonly string[]
  /** `folder`: where `files` are. */
  readonly env: (modelUrl: string, folder: string) => Readonly<Record<string, string>>
  /** Configuration for this one run, by name. */
  readonly files?: Readonly<Record<string, string>>
  /** A call of its shell that makes the file. */
  readonly call: (file: string) => CanaryCall
  /** How long the agent CLI may take. */
  readonly timeoutMs?: number
}

export type CanaryVerdict =
  | { readonly kind: 'refused'; readonly by: 'phaselock' | 'off'; readonly said: string }
  | { readonly kind: 'executed' }
  /** Refused, but by something else, so that it proves nothing; or not tried at all. */
  | { readonly kind: 'unknown'; readonly why: string }

/** Lets the agent CLI, with its own configuration, make a call that its binding must refuse. */
export async function runCanary(plan: CanaryPlan): Promise<CanaryVerdict> {
  const folder = mkdtempSync(join(tmpdir(), 'phaselock-canary-'))
  const file = join(folder, 'executed')
  for (const [name, text] of Object.entries(plan.files ?? {})) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  const model = await openCanaryModel(plan.call(file))
  try {
    const ended = await runProgram(plan, { url: model.url, folder })
    if (existsSync(file)) return { kind: 'executed' }
    // The path of the file names Phaselock, and any error of a shell may quote it.
    const said = model.result()?.replaceAll(folder, '') ?? null
    if (said === null) return judgeSilence(model.asked(), ended)
    const short = said.slice(0, TEXT_CHARS_MAX)
    if (/phaselock/i.test(said)) return { kind: 'refused', by: 'phaselock', said: short }
    if (OFF.test(said)) return { kind: 'refused', by: 'off', said: short }
    return { kind: 'unknown', why: `the call did nothing, but not because of Phaselock: ${short}` }
  } finally {
    model.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

// A run without tools proves something only when it is whole: some ask for a title first, without tools as well.
function judgeSilence(asked: 'with tools' | 'without tools' | null, ended: ProgramEnd): CanaryVerdict {
  if (ended.isLate) return { kind: 'unknown', why: 'it did not end in time, and was ended' }
  if (asked === 'without tools' && ended.code === 0) return { kind: 'refused', by: 'off', said: 'no tools are offered' }
  const last = `exit code ${ended.code}, ${ended.lastLine}`
  return {
    kind: 'unknown',
    why: asked === null ? `it did not start: ${last}` : `it told nothing about the call: ${last}`,
  }
}

interface ProgramEnd {
  readonly code: number | null
  readonly lastLine: string
  /** It took too long and was killed. */
  readonly isLate: boolean
}

function runProgram(
  { program, workspace, args, env, timeoutMs = CANARY_MS_MAX }: CanaryPlan,
  { url, folder }: { readonly url: string; readonly folder: string },
): Promise<ProgramEnd> {
  return new Promise((resolve) => {
    const child = spawn(program, args(url), {
      cwd: workspace,
      env: { ...process.env, ...env(url, folder) },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    let said = ''
    const hear = (chunk: Buffer): void => {
      said = `${said}${chunk.toString('utf8')}`.slice(-TEXT_CHARS_MAX)
    }
    child.stdout.on('data', hear)
    child.stderr.on('data', hear)
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      endGroup(child.pid)
    }, timeoutMs)
    const end = (code: number | null, lastLine: string): void => {
      clearTimeout(timer)
      resolve({ code, lastLine, isLate })
    }
    child.once('error', (error) => end(null, error.message))
    child.once('close', (code) => end(code, said.trim().split('\n').at(-1) ?? ''))
  })
}

// Its helpers as well: an agent CLI that hangs may have started some.
function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
