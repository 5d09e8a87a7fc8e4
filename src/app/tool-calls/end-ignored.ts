import type { App } from '../app.js'
import { formatStream } from '../ledger/entries.js'

const ENDS: ReadonlySet<string> = new Set(['task_completed', 'task_cancelled'])

/** Removes a finished task's writes to ignored paths, its build cache and its stored views, and those of tasks that no longer exist. */
export function endScratch(app: App, onFault: (error: unknown) => void): void {
  app.feed.subscribe((event) => {
    if (!ENDS.has(event.type)) return
    const taskId = event.stream.replace(/^task:/, '')
    app.scratch.drop(taskId).catch(onFault)
    app.buildCaches.drop(taskId).catch(onFault)
    app.views.drop(taskId).catch(onFault)
  })
  // In a shared folder what names no task here may belong to another node, which is writing it.
  const isViewOver = async (taskId: string): Promise<boolean> =>
    app.sharedTrees === null
      ? isOver(taskId)
      : taskId !== '' && (await app.ledger.isHere(formatStream(taskId))) && isOver(taskId)
  const isOver = async (taskId: string): Promise<boolean> => {
    const status = (await app.ledger.peek(taskId))?.status
    return status === undefined || status === 'completed' || status === 'cancelled'
  }
  app.scratch.sweep(isOver).catch(onFault)
  app.buildCaches.sweep(isOver).catch(onFault)
  app.views.sweep(isViewOver).catch(onFault)
}
