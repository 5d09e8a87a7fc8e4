import { realpathSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import type { App } from '../app/app.js'
import { type Principal, toCallerKind } from '../app/identity/identity.js'
import { ok, type Problem, type Result, refuse } from '../app/result.js'
import { findContract } from '../app/tasks/operate.js'
import { openSandbox } from '../app/tool-calls/contract-sandbox.js'
import {
  type CallId,
  type Forbidden,
  findCiLimit,
  findForbidden,
  type NamedContract,
} from '../core/identity/permissions.js'
import type { JsonObject } from '../core/json.js'

/** Why the principal may not make the call, whatever its body; null when it may. */
export function findAccessProblem(id: CallId, principal: Principal): Problem | null {
  return toProblemOrNull(findForbidden(id, toCallerKind(principal)))
}

/** The body as the principal may send it, or why it may not. */
export async function limitBody(
  id: CallId,
  principal: Principal,
  about: { readonly app: App; readonly body: JsonObject },
): Promise<Result<JsonObject>> {
  const { app, body } = about
  if (toCallerKind(principal) !== 'ci') return ok(body)
  const isOwnTree = body.workspace === undefined || isOwn(app, body.workspace)
  const problem = toProblemOrNull(
    findCiLimit(id, body, { isOwnTree, contract: await lookAtContract(app, body.contract) }),
  )
  if (problem !== null) return { ok: false, problem }
  // A link in the path could lead elsewhere when the path is resolved again.
  const { workspace: _, ...rest } = body
  return ok(id === 'createTask' ? rest : body)
}

function isOwn(app: App, workspace: unknown): boolean {
  if (typeof workspace !== 'string' || !isAbsolute(workspace)) return false
  try {
    return realpathSync.native(workspace) === realpathSync.native(app.workspace)
  } catch {
    return false
  }
}

async function lookAtContract(app: App, named: unknown): Promise<NamedContract | null> {
  const hash = typeof named === 'string' ? findContract(app, named) : null
  if (hash === null || hash === app.defaultContract) return null
  const contract = await app.contracts.get(hash)
  return {
    isReplaced: findContract(app, contract.name) !== hash,
    isSandboxed: (await openSandbox(app, contract)).provider !== 'none',
    enforcement: contract.enforcement,
    own: (await app.contracts.get(app.defaultContract)).enforcement,
  }
}

function toProblemOrNull(forbidden: Forbidden | null): Problem | null {
  if (forbidden === null) return null
  const { detail, remedy } = forbidden
  return refuse('not_permitted', detail, remedy === null ? {} : { remedy }).problem
}
