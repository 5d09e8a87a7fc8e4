import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { JsonObject } from '../../src/core/json.js'
import type { AppendResult, NewEvent, StoredEvent, TaskRow } from '../../src/store/store.js'

export const NOW = 1_800_000_000_000

export function newEvent(type = 'tool_allowed', data: JsonObject = {}, rest: Partial<NewEvent> = {}): NewEvent {
  return { type, at: NOW, actor: 'agent:ada', epoch: 1, phase: 'PLAN', contract: 'c1', data, ...rest }
}

export function newTask(id: string, rest: Partial<TaskRow> = {}): TaskRow {
  return {
    id,
    title: `Task ${id}`,
    status: 'queued',
    phase: 'PLAN',
    agentId: null,
    contract: 'c1',
    priority: 0,
    requires: [],
    dependsOn: [],
    leaseExpiresAt: null,
    approvalExpiresAt: null,
    openQuestions: 0,
    questions: 0,
    createdAt: NOW,
    updatedAt: NOW,
    ...rest,
  }
}

export function events(result: AppendResult): readonly StoredEvent[] {
  if (!result.ok) throw new Error(`the append was refused: ${result.reason}`)
  return result.events
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** A directory that is gone after the test. */
export function temporaryDirectory(): string {
  const dir = mkdtempSync(join(tmpdir(), 'phaselock-store-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}
