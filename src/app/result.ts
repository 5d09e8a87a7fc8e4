import type { Code } from '../core/codes.js'
import type { Json, JsonObject } from '../core/json.js'
import type { Refusal } from '../core/task/refusal.js'

/** A refusal with everything that helps the caller on. `extra` becomes members of the problem document. */
export interface Problem {
  readonly code: Code
  readonly detail: string
  readonly extra: JsonObject
  /** Whether an event of the task says so already; if not, the entrance records what was refused to an agent. */
  readonly recorded: boolean
}

export type Result<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: Problem }

export function ok<T>(value: T): Result<T> {
  return { ok: true, value }
}

export function refuse(
  code: Code,
  detail: string,
  extra: JsonObject = {},
): { readonly ok: false; readonly problem: Problem } {
  return { ok: false, problem: { code, detail, extra, recorded: false } }
}

/** A refusal of the core, which has been recorded unless the core said otherwise. */
export function toProblem(
  refusal: Refusal,
  extra: JsonObject = {},
  recorded = true,
): { readonly ok: false; readonly problem: Problem } {
  const retry: Json | undefined = refusal.retry === undefined ? undefined : { ...refusal.retry }
  return {
    ok: false,
    problem: {
      code: refusal.code,
      detail: refusal.detail,
      extra: retry === undefined ? extra : { ...extra, retry },
      recorded,
    },
  }
}

export const UNREADABLE = 'unreadable_tree'

/** A refusal because of what lies in a work tree. Agents cannot change that: a person has to. */
export function refuseUnreadable(error: Error): { readonly ok: false; readonly problem: Problem } {
  return refuse('conflict', `The work tree cannot be read: ${error.message}.`, {
    remedy: 'Ask an operator to remove what is named, or to give the right to read it, and send the request again.',
    [UNREADABLE]: true,
  })
}
