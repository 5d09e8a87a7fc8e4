import type { App } from '../app.js'

const ENDS: ReadonlySet<string> = new Set(['task_completed', 'task_cancelled'])

/** What commands of a task left at ignored paths and what was kept for its views go with the task; what tasks that are gone left, now. */
export function endScratch(app: App, onFault: (error: unknown) => void): void {
  app.feed.subscribe((event) => {
    if (!ENDS.has(event.type)) return
    const taskId = event.stream.replace(/^task:/, '')
    app.scratch.drop(taskId).catch(onFault)
    app.views.drop(taskId).catch(onFault)
  })
  const isOver = async (taskId: string): Promise<boolean> => {
    const status = (await app.ledger.peek(taskId))?.status
    return status === undefined || status === 'completed' || status === 'cancelled'
  }
  app.scratch.sweep(isOver).catch(onFault)
  app.views.sweep(isOver).catch(onFault)
}
