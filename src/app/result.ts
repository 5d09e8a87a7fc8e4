import type { Code } from '../core/codes.js'
import type { JsonObject } from '../core/json.js'
import type { Refusal } from '../core/task/refusal.js'
import { TreeMissing } from '../tree/problems.js'

/** A refusal with everything that helps the caller. `extra` becomes members of the problem document. */
export type Problem = {
  readonly code: Code
  readonly detail: string
  readonly extra: JsonObject
  /**
   * Whether an event of the task already records it; if not, the HTTP or MCP server records what it refused an agent.
   */
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

export function noTask(id: string): { readonly ok: false; readonly problem: Problem } {
  return refuse('not_found', `There is no task ${JSON.stringify(id)}.`)
}

/** A refusal of the core, recorded unless the core says otherwise. */
export function toProblem(
  refusal: Refusal,
  extra: JsonObject = {},
  recorded = true,
): { readonly ok: false; readonly problem: Problem } {
  const retry: JsonObject = refusal.retry === undefined ? {} : { retry: { ...refusal.retry } }
  const remedy: JsonObject = refusal.remedy === undefined ? {} : { remedy: refusal.remedy }
  return {
    ok: false,
    problem: {
      code: refusal.code,
      detail: refusal.detail,
      extra: { ...extra, ...retry, ...remedy },
      recorded,
    },
  }
}

export const UNREADABLE = 'unreadable_tree'

/** A refusal caused by a missing work tree, or by the contents of a work tree that agents cannot change: an operator has to. */
export function refuseUnreadable(error: Error): { readonly ok: false; readonly problem: Problem } {
  if (error instanceof TreeMissing) return refuse('tree_missing', `${error.message}.`)
  return refuse('conflict', `The work tree cannot be read: ${error.message}.`, {
    remedy: 'Ask an operator to remove the named file or make it readable, then send the request again.',
    [UNREADABLE]: true,
  })
}
