import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { isAbsolute, join, resolve } from 'node:path'
import type { Refusal } from '../core/task/refusal.js'
import type { TaskState } from '../core/task/state.js'
import type { TranscriptCursor } from '../transcripts/cursor.js'
import { listTranscriptFolders, type TranscriptFolder } from '../transcripts/folders.js'
import { readTranscript } from '../transcripts/read-transcript.js'
import type { UsageSeen } from '../transcripts/usage.js'
import { contextOf, type Resources } from './resources.js'

/**
 * Maximum number of transcripts per task whose read positions are kept; the least recently named is dropped, and read
 * again if named.
 */
const FILES_MAX = 16
const READERS_MAX = 2
/** Maximum number of reads of one transcript per turn; the rest waits for the next turn. */
const READS_MAX = 4
const NOTES_MAX = 1000
const PATH_CHARS_SHOWN = 200

/** The folders from which transcripts of Claude Code are read. No other file that an agent names is ever opened. */
export function listClaudeCodeFolders(
  environment: NodeJS.ProcessEnv,
  more: readonly string[] = [],
): readonly TranscriptFolder[] {
  const { HOME, CLAUDE_CONFIG_DIR } = environment
  const home = HOME !== undefined && isAbsolute(HOME) ? HOME : null
  const moved = CLAUDE_CONFIG_DIR !== undefined && isAbsolute(CLAUDE_CONFIG_DIR) ? CLAUDE_CONFIG_DIR : null
  const own =
    home === null && moved === null
      ? []
      : listTranscriptFolders(home ?? '/', moved === null ? {} : { claudeConfigDir: moved }).filter(
          (folder) => folder.format === 'claude-code',
        )
  return [...more.map((path) => ({ path: resolve(path), format: 'claude-code' as const })), ...own]
}

interface Wake {
  readonly taskId: string
  readonly agentId: string
  readonly paths: readonly string[]
}

type Cursors = ReadonlyMap<string, TranscriptCursor>

/** Reads usage from the transcripts of agent CLIs in the background: one reader per task, a few at a time. */
export class Transcripts {
  readonly #waiting = new Map<string, { readonly agentId: string; readonly paths: Set<string> }>()
  readonly #busy = new Map<string, Promise<void>>()
  /** The violated rule that was detected while reading, by task. */
  readonly #untold = new Map<string, string>()
  /** Messages already given about transcripts that are not read. */
  readonly #noted = new Set<string>()
  readonly #notes = new Map<string, string>()
  #isClosed = false

  constructor(
    private readonly stateDir: string,
    private readonly folders: readonly TranscriptFolder[],
    private readonly onFault: (error: unknown) => void,
  ) {}

  /** Queues these transcripts for reading. Returns a message, once, about one that is not read. */
  wake(app: Resources, { taskId, agentId, paths }: Wake): string | null {
    const inside = paths.filter((path) => this.folders.some((folder) => path.startsWith(`${folder.path}/`)))
    const [outside] = paths.filter((path) => !inside.includes(path))
    if (outside !== undefined) this.#note(taskId, outside, 'it is not in a transcript folder')
    this.#want(app, { taskId, agentId, paths: inside })
    const note = this.#notes.get(taskId) ?? null
    this.#notes.delete(taskId)
    return note
  }

  /** A violation detected in the background is reported with the next answer. */
  leaveUntold(taskId: string, rule: string): void {
    this.#untold.set(taskId, rule)
  }

  /** Whether this violation was detected while reading and has not been reported. True once. */
  takeUntold(taskId: string, rule: string): boolean {
    const isUntold = this.#untold.get(taskId) === rule
    this.#untold.delete(taskId)
    return isUntold
  }

  /** Resolves when everything queued has been read. */
  async waitUntilSettled(): Promise<void> {
    while (this.#busy.size > 0) await Promise.all(this.#busy.values())
  }

  async forget(taskId: string): Promise<void> {
    this.#waiting.delete(taskId)
    this.#untold.delete(taskId)
    this.#notes.delete(taskId)
    await rm(this.#fileOf(taskId), { force: true })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#waiting.clear()
    await this.waitUntilSettled()
  }

  #want(app: Resources, { taskId, agentId, paths }: Wake): void {
    if (paths.length === 0 || this.#isClosed) return
    const waiting = this.#waiting.get(taskId)?.paths ?? new Set()
    for (const path of paths) if (waiting.size < FILES_MAX) waiting.add(path)
    this.#waiting.set(taskId, { agentId, paths: waiting })
    this.#next(app)
  }

  #next(app: Resources): void {
    for (const [taskId, { agentId, paths }] of this.#waiting) {
      if (this.#busy.size >= READERS_MAX) return
      if (this.#busy.has(taskId)) continue
      this.#waiting.delete(taskId)
      const work = this.#read(app, { taskId, agentId, paths: [...paths] })
        .catch(this.onFault)
        .then(() => {
          this.#busy.delete(taskId)
          this.#next(app)
        })
      this.#busy.set(taskId, work)
    }
  }

  async #read(app: Resources, { taskId, agentId, paths }: Wake): Promise<void> {
    let cursors = await this.#cursors(taskId)
    for (const path of paths) {
      for (let reads = 0; reads < READS_MAX; reads += 1) {
        const before = cursors.get(path) ?? null
        const reading = await readTranscript(path, before, { folders: this.folders })
        if (!reading.ok) {
          if (reading.problem !== 'missing') this.#note(taskId, path, WHY[reading.problem])
          break
        }
        const known = new Map((before?.recent ?? []).map((usage) => [usage.id, usage]))
        if (
          !(await this.#record(
            app,
            { taskId, agentId },
            reading.usage.filter((one) => isNew(one, known)),
          ))
        )
          return
        // Stored only after it was recorded: what is read twice counts once, but what is skipped would not count.
        if (before?.offset !== reading.cursor.offset || before.mark !== reading.cursor.mark)
          cursors = await this.#keep(taskId, cursors, { path, cursor: reading.cursor })
        if (!reading.more) break
        if (reads === READS_MAX - 1) this.#want(app, { taskId, agentId, paths: [path] })
      }
    }
  }

  async #record(
    app: Resources,
    of: { readonly taskId: string; readonly agentId: string },
    usage: readonly UsageSeen[],
  ): Promise<boolean> {
    const state = await app.ledger.peek(of.taskId)
    if (state === null) return false
    const contract = await app.contracts.get(state.contract.hash)
    const since = state.visitStarts[0] ?? state.createdAt
    for (const one of usage) {
      // Before this task began, the agent CLI worked on something else.
      if (this.#isClosed || (one.at > 0 && one.at < since)) continue
      const context = contextOf(app, 'system')
      let refused: Refusal | null = null
      const guard = (now: TaskState): Refusal | null => {
        refused = isHeldBy(now, of.agentId) ? null : { code: 'task_not_active', detail: 'Its agent is gone.' }
        return refused
      }
      const command = {
        ...({ type: 'record_usage', grade: 'observed', model: null, usageId: one.id } as const),
        ...{ input: one.input, output: one.output, cacheRead: one.cacheRead, cacheWrite: one.cacheWrite },
        // No timestamp may be later than this server's clock.
        occurredAt: one.at > 0 ? Math.min(one.at, context.now) : context.now,
      }
      const handled = await app.ledger.apply({ taskId: of.taskId, contract }, command, context, { guard })
      if (handled === null || refused !== null) return false
      const violated = handled.events.find((event) => event.type === 'rule_violated' && !event.shadow)
      if (violated?.type === 'rule_violated') this.leaveUntold(of.taskId, violated.rule)
    }
    return !this.#isClosed
  }

  #note(taskId: string, path: string, why: string): void {
    const key = `${taskId} ${why}`
    if (this.#noted.has(key)) return
    if (this.#noted.size >= NOTES_MAX) this.#noted.clear()
    this.#noted.add(key)
    const shown = JSON.stringify(path.slice(0, PATH_CHARS_SHOWN))
    this.#notes.set(taskId, `Phaselock does not read the transcript ${shown}: ${why}. Its token usage is not counted.`)
  }

  async #cursors(taskId: string): Promise<Cursors> {
    try {
      const kept: unknown = JSON.parse(await readFile(this.#fileOf(taskId), 'utf8'))
      return new Map(Object.entries((kept as { files: Record<string, TranscriptCursor> }).files))
    } catch {
      // Lost or broken: read again from the start; ids prevent counting twice.
      return new Map()
    }
  }

  async #keep(
    taskId: string,
    cursors: Cursors,
    { path, cursor }: { readonly path: string; readonly cursor: TranscriptCursor },
  ): Promise<Cursors> {
    const others = [...cursors].filter(([other]) => other !== path)
    const next = new Map([...others, [path, cursor] as const].slice(-FILES_MAX))
    const file = this.#fileOf(taskId)
    await mkdir(join(this.stateDir, 'transcripts'), { recursive: true, mode: 0o700 })
    await writeFile(`${file}.tmp`, JSON.stringify({ files: Object.fromEntries(next) }), { mode: 0o600 })
    await rename(`${file}.tmp`, file)
    return next
  }

  #fileOf(taskId: string): string {
    return join(this.stateDir, 'transcripts', `${taskId}.json`)
  }
}

const WHY = {
  outside: 'it is not the path of a .jsonl file in a transcript folder',
  missing: 'it is not there',
  not_a_file: 'it is not a file, or is behind a link',
  foreign: 'it is a hard link to a file of another user',
  unreadable: 'permission denied',
} as const

function isNew(usage: UsageSeen, known: ReadonlyMap<string, UsageSeen>): boolean {
  const before = known.get(usage.id)
  return (
    before === undefined ||
    before.input < usage.input ||
    before.output < usage.output ||
    before.cacheRead < usage.cacheRead ||
    before.cacheWrite < usage.cacheWrite
  )
}

function isHeldBy(state: TaskState, agentId: string): boolean {
  return (
    state.held?.agentId === agentId &&
    (state.status === 'active' || state.status === 'awaiting_approval' || state.status === 'parked')
  )
}
