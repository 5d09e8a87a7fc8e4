import type { App } from './app.js'

const ENDS: ReadonlySet<string> = new Set(['task_completed', 'task_cancelled'])

/** What commands of a task left at ignored paths goes with the task; what tasks that are gone left, now. */
export function endScratch(app: App, onFault: (error: unknown) => void): void {
  app.feed.subscribe((event) => {
    if (ENDS.has(event.type)) app.scratch.drop(event.stream.replace(/^task:/, '')).catch(onFault)
  })
  const isOver = async (taskId: string): Promise<boolean> => {
    const status = (await app.ledger.peek(taskId))?.status
    return status === undefined || status === 'completed' || status === 'cancelled'
  }
  app.scratch.sweep(isOver).catch(onFault)
}
