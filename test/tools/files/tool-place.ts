import { expect } from 'vitest'
import type { JsonObject } from '../../../src/core/json.js'
import type { ToolOutcome, ToolPlace } from '../../../src/tools/tool-place.js'

export function placeAt(
  root: string,
  hidden: readonly string[] = [],
  signal: ToolPlace['signal'] = new AbortController().signal,
): ToolPlace {
  return { root, isHidden: (path) => hidden.includes(path), signal }
}

/** The result of a call that must have gone well. */
export function resultOf<T = JsonObject>(outcome: ToolOutcome): T {
  expect(outcome).toMatchObject({ ok: true })
  return (outcome as { result: unknown }).result as T
}

/** The sentence of a call that must have failed. */
export function failureOf(outcome: ToolOutcome, code = 'tool_failed'): string {
  expect(outcome).toMatchObject({ ok: false, code })
  return (outcome as { detail: string }).detail
}
