import type { AuditFilter, StoredEvent, TaskFilter, TaskRow } from '../../src/store/store.js'

export function isHeld(task: TaskRow): boolean {
  return task.status === 'active' || task.status === 'awaiting_approval'
}

export function matchesTask(task: TaskRow, filter: TaskFilter): boolean {
  return (
    isWanted(filter.status, task.status) &&
    isWanted(filter.phase, task.phase) &&
    isWanted(filter.agentId, task.agentId) &&
    (filter.hasApproval === undefined || task.approvalExpiresAt !== null) &&
    (filter.hasQuestion === undefined || (filter.hasQuestion === 'open' ? task.openQuestions : task.questions) > 0)
  )
}

export function matchesEvent(event: StoredEvent, filter: AuditFilter): boolean {
  const { tool_name, code, success } = event.data
  return (
    isWanted(filter.taskId, event.stream.startsWith('task:') ? event.stream.slice('task:'.length) : null) &&
    isWanted(filter.agentId, findAgent(event)) &&
    isWanted(filter.phase, event.phase) &&
    isWanted(filter.toolName, tool_name) &&
    isWanted(filter.code, code) &&
    isWanted(filter.success, success) &&
    isWanted(filter.type, event.type) &&
    (filter.types === undefined || filter.types.includes(event.type)) &&
    isWanted(filter.actor, event.actor) &&
    isWanted(filter.stream, event.stream) &&
    (filter.text === undefined || containsText(event, filter.text)) &&
    (filter.afterSeq === undefined || event.seq > filter.afterSeq) &&
    (filter.since === undefined || event.at >= filter.since) &&
    (filter.until === undefined || event.at <= filter.until)
  )
}

function containsText({ data }: StoredEvent, text: string): boolean {
  return JSON.stringify(data).toLowerCase().includes(JSON.stringify(text).slice(1, -1).toLowerCase())
}

function isWanted(wanted: unknown, found: unknown): boolean {
  return wanted === undefined || wanted === found
}

function findAgent({ actor, data }: StoredEvent): unknown {
  if (data.agent_id !== undefined && data.agent_id !== null) return data.agent_id
  return actor.startsWith('agent:') ? actor.slice('agent:'.length) : null
}

export function tally(names: readonly string[]): Record<string, number> {
  const counts = new Map<string, number>()
  for (const name of names.toSorted()) counts.set(name, (counts.get(name) ?? 0) + 1)
  return Object.fromEntries(counts)
}
