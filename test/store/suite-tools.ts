import { onTestFinished } from 'vitest'
import type { Append, Store, TaskRow } from '../../src/store/store.js'
import { events, NOW, newEvent } from './events.js'

/** Gives an empty store; `now` is its clock. */
export type OpenStore = (options: { now: () => number }) => Promise<Store>

/** An empty store that is closed after the test. */
export async function openForTest(open: OpenStore, now: () => number = () => NOW): Promise<Store> {
  const store = await open({ now })
  onTestFinished(() => store.close())
  return store
}

/** An append of one event. */
export function one(stream: string, expectedVersion: number, rest: Partial<Append> = {}): Append {
  return { stream, expectedVersion, events: [newEvent()], ...rest }
}

export async function create(store: Store, ...tasks: TaskRow[]): Promise<void> {
  for (const task of tasks) events(await store.append(one(`task:${task.id}`, 0, { task })))
}
