import type { TaskRow } from '../store.js'
import type { WriteStatements } from './write-statements.js'

/** True when the row gives a task to an agent that already holds another one. */
export function isAgentBusy(statements: WriteStatements, task: TaskRow): boolean {
  if (task.agentId === null || (task.status !== 'active' && task.status !== 'awaiting_approval')) return false
  const held = statements.heldBy.get(task.agentId)
  return held !== undefined && held.id !== task.id
}

/** Writes the projection row and keeps `open_deps` of this task and of its dependents right. */
export function writeTask(statements: WriteStatements, task: TaskRow): void {
  const before = statements.findTask.get(task.id)
  const columns = [
    task.status,
    task.phase,
    task.agentId,
    task.priority,
    task.createdAt,
    task.leaseExpiresAt,
    task.approvalExpiresAt,
    task.openQuestions,
    task.questions,
    JSON.stringify(task),
  ] as const
  if (before === undefined) {
    statements.insertTask.run(...columns, linkDependencies(statements, task), task.id)
  } else {
    statements.updateTask.run(...columns, task.id)
    relinkDependencies(statements, task, String(before.depends_on))
  }
  if (before?.status !== task.status || before.phase !== task.phase) {
    if (before !== undefined) statements.countTasks.run(String(before.status), String(before.phase), -1)
    statements.countTasks.run(task.status, task.phase, 1)
  }
  const wasCompleted = before?.status === 'completed'
  const isCompleted = task.status === 'completed'
  if (wasCompleted !== isCompleted) statements.moveOpenDependencies.run(isCompleted ? -1 : 1, task.id)
}

function linkDependencies(statements: WriteStatements, task: TaskRow): number {
  let open = 0
  for (const needs of new Set(task.dependsOn)) {
    statements.insertDependency.run(needs, task.id)
    if (statements.findTask.get(needs)?.status !== 'completed') open += 1
  }
  return open
}

function relinkDependencies(statements: WriteStatements, task: TaskRow, before: string): void {
  if (before === JSON.stringify(task.dependsOn)) return
  for (const needs of JSON.parse(before) as string[]) statements.deleteDependency.run(needs, task.id)
  statements.setOpenDependencies.run(linkDependencies(statements, task), task.id)
}
