import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { StoreUnavailable } from '../../store/store.js'
import type { App } from '../app.js'
import { runStream } from '../councils/council-book.js'
import { runFolderName, runOfFolder, STATUS_FILE } from './run-files.js'
import { TASK_STREAM } from './task-runs.js'

const PAGE = 500
const OPEN_TASKS_MAX = 50_000
/** Checks for missing files only among the newest tasks and councils. */
const NEWEST_LOOKED_AT = 200
const FOLDERS_LOOKED_AT_MAX = 100_000
const HEAD_BYTES = 32 * 1024
/** Maximum number of queued runs while older ones are updated. */
const WAITING_MAX = 100
const WAIT_MS = 20
const WAITS_MAX = 50

const OPEN = ['active', 'awaiting_approval', 'interrupted', 'parked'] as const

/** Keeps `status.json` of tasks up to date, and updates the files that an earlier server left behind. */
export function keepRunFiles(app: App, onFault: (error: unknown) => void): () => void {
  let isStopped = false
  const stop = app.feed.follow((event) => {
    app.taskRuns.see(event)
    // The files of a task are on the node that decides on it.
    if (!event.stream.startsWith(TASK_STREAM) || app.ledger.cluster?.isElsewhere(event.stream) === true) return
    if (event.type !== 'task_created') putTask(app, event.stream.slice(TASK_STREAM.length))
  })
  const stopListening = app.checking.listen((taskId) => putTask(app, taskId))
  catchUp(app, () => isStopped).catch((error: unknown) => {
    if (!isStopped && !(error instanceof StoreUnavailable)) onFault(error)
  })
  return () => {
    isStopped = true
    stop()
    stopListening()
  }
}

function putTask(app: App, taskId: string): void {
  app.runFiles.put(taskId, async () => await app.taskRuns.readTaskStatus(taskId))
}

/** Queues the status file of a council. */
export function putCoordination(app: Pick<App, 'coordinations' | 'runFiles'>, id: string): void {
  app.runFiles.put(id, async () => await app.coordinations.readStatus(id))
}

// A run that ended while no server wrote has an outdated file or none: write only those and the open ones.
async function catchUp(app: App, isStopped: () => boolean): Promise<void> {
  const { coordinations } = app.ledger.registry
  const put = async (id: string): Promise<void> => {
    for (let waits = 0; app.runFiles.size > WAITING_MAX && waits < WAITS_MAX && !isStopped(); waits += 1)
      await new Promise((resolve) => setTimeout(resolve, WAIT_MS))
    if (isStopped()) return
    const isRun = coordinations.has(id)
    // The files of a run are on the node where it runs.
    if (!(await app.ledger.isHere(isRun ? runStream(id) : `${TASK_STREAM}${id}`))) return
    if (isRun) putCoordination(app, id)
    else putTask(app, id)
  }
  const folders = await listFolders(app.runFiles.folder)
  for (const status of OPEN) await walkTasks(app, status, put)
  // A waiting task may have been worked on before; most were not.
  const known = new Set(folders)
  await walkTasks(app, 'queued', async (id) => (known.has(runFolderName(id)) ? put(id) : undefined))
  const newest = await app.ledger.store.queryTasks({ limit: NEWEST_LOOKED_AT })
  const runs = app.coordinations.listIds().slice(0, NEWEST_LOOKED_AT)
  for (const id of [...newest.items.map((task) => task.id), ...runs])
    if (await isUnfinished(app, runFolderName(id))) await put(id)
  for (const name of folders) {
    if (isStopped()) return
    const id = runOfFolder(name)
    if (id === null || !(await isUnfinished(app, name))) continue
    if (coordinations.has(id) || (await app.ledger.store.task(id)) !== null) await put(id)
  }
}

async function walkTasks(app: App, status: string, work: (taskId: string) => Promise<void>): Promise<void> {
  let cursor: string | null = null
  for (let seen = 0; seen < OPEN_TASKS_MAX; seen += PAGE) {
    const asked = { status, limit: PAGE }
    const page = await app.ledger.store.queryTasks(cursor === null ? asked : { ...asked, cursor })
    for (const { id } of page.items) await work(id)
    await nextTurn()
    cursor = page.nextCursor
    if (cursor === null) return
  }
}

async function listFolders(folder: string): Promise<readonly string[]> {
  try {
    return (await readdir(folder)).slice(0, FOLDERS_LOOKED_AT_MAX)
  } catch {
    // Not created yet, or unreachable: then writing fails too, and that is reported.
    return []
  }
}

/** Whether the file of a run does not mark it as over; its first keys show this. */
async function isUnfinished(app: App, folderName: string): Promise<boolean> {
  try {
    const file = await open(join(app.runFiles.folder, folderName, STATUS_FILE))
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0)
      return !/^ {2}"is_complete": true,$/m.test(buffer.toString('utf8', 0, bytesRead))
    } finally {
      await file.close()
    }
  } catch {
    // Missing or unreadable: write it again.
    return true
  }
}
