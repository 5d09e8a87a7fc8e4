import { realpathSync } from 'node:fs'
import type { App } from '../app/app.js'
import { kindOf, type Principal } from '../app/identity.js'
import { findContract } from '../app/operate.js'
import { type Problem, refuse } from '../app/result.js'
import { wallOf } from '../app/wall.js'
import type { JsonObject } from '../core/contract.js'
import { type CallId, type CiScene, ciLimit, type Forbidden, forbiddenTo } from '../core/permissions.js'

/** Why the principal may not make the call, whatever it asks for; null when it may. */
export function accessProblem(id: CallId, principal: Principal): Problem | null {
  return problemOf(forbiddenTo(id, kindOf(principal)))
}

/** Why the principal may not ask for what the body says; null when it may. */
export async function limitProblem(
  id: CallId,
  principal: Principal,
  about: { readonly app: App; readonly body: unknown },
): Promise<Problem | null> {
  if (kindOf(principal) !== 'ci') return null
  const { app } = about
  const body = (about.body ?? {}) as JsonObject
  const workspaces = [app.workspace, realpathSync(app.workspace)]
  return problemOf(ciLimit(id, body, { workspaces, contract: await lookAtContract(app, body.contract) }))
}

async function lookAtContract(app: App, named: unknown): Promise<CiScene['contract']> {
  const hash = typeof named === 'string' ? findContract(app, named) : null
  if (hash === null || hash === app.defaultContract) return null
  const contract = await app.contracts.get(hash)
  if (findContract(app, contract.name) !== hash) return 'replaced'
  return (await wallOf(app, contract)).provider === 'none' ? 'without_wall' : null
}

function problemOf(forbidden: Forbidden | null): Problem | null {
  if (forbidden === null) return null
  const { detail, remedy } = forbidden
  return refuse('not_permitted', detail, remedy === null ? {} : { remedy }).problem
}
