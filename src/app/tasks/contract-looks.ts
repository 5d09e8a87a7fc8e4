import { stringify } from 'yaml'
import type { Contract } from '../../core/contract/contract.js'
import type { JsonObject } from '../../core/json.js'
import type { App } from '../app.js'
import { ok, type Result, refuse, toProblem } from '../result.js'

const PAGE = 500
const TASKS_MAX = 10_000
const OPEN = ['queued', 'active', 'awaiting_approval', 'interrupted', 'parked'] as const

/** A contract as text to read. The file that it came from is not kept: this is its canonical form as YAML. */
export async function showContractText(app: App, hash: string): Promise<Result<JsonObject>> {
  const known = app.ledger.registry.contracts.get(hash)
  const document = await app.contracts.document(hash)
  if (known === undefined || document === null) return refuseUnknown(hash)
  return ok({ hash, text: stringify(document, { lineWidth: 100 }), origin: known.origin })
}

/** The phases and transitions of a contract, with how many open tasks are where and what they wait for. */
export async function showContractGraph(app: App, hash: string): Promise<Result<JsonObject>> {
  if (!app.ledger.registry.contracts.has(hash)) return refuseUnknown(hash)
  const contract = await app.contracts.get(hash)
  const { counts, waiting, isCut } = await countTasks(app, hash)
  const order = [...contract.phases.keys()]
  return ok({
    hash,
    phases: [...contract.phases.values()].map(({ id, name }) => ({ id, name })),
    transitions: listTransitions(contract, order),
    ...{ counts, waiting, truncated: isCut },
  })
}

// A transition leads back when its target stands before its source, or is it.
function listTransitions(contract: Contract, order: readonly string[]): readonly JsonObject[] {
  return contract.transitions.map(({ from, to, gate, when }) => ({
    ...{ from, to, gate, when },
    gates: (contract.phases.get(from)?.gates ?? []).map(({ id }) => id).filter((id) => gate === null || id === gate),
    kind: order.indexOf(to) <= order.indexOf(from) ? 'back' : 'forward',
  }))
}

async function countTasks(app: App, hash: string) {
  const counts: Record<string, number> = {}
  const waiting: Record<string, number> = {}
  let read = 0
  for (const status of OPEN) {
    let cursor: string | null = null
    do {
      const page = await app.ledger.store.queryTasks({ status, limit: PAGE, ...(cursor === null ? {} : { cursor }) })
      for (const row of page.items) {
        if (row.contract !== hash) continue
        counts[row.phase] = (counts[row.phase] ?? 0) + 1
        if (row.approvalExpiresAt === null) continue
        for (const { gate, status: answer } of (await app.ledger.read(row.id))?.approvals.values() ?? [])
          if (answer === 'pending') waiting[gate] = (waiting[gate] ?? 0) + 1
      }
      read += page.items.length
      cursor = page.nextCursor
      if (read >= TASKS_MAX && cursor !== null) return { counts, waiting, isCut: true }
    } while (cursor !== null)
  }
  return { counts, waiting, isCut: false }
}

/** An operator trusts a contract that the server was started with. */
export async function trustContract(app: App, hash: string, actor: string): Promise<Result<JsonObject>> {
  const known = app.ledger.registry.contracts.get(hash)
  if (known === undefined) return refuseUnknown(hash)
  const { name, version, origin } = known
  const refusal = await app.ledger.record(
    { type: 'contract_registered', hash, name, version, origin },
    { now: app.now(), actor },
  )
  return refusal === null ? ok({ hash, name, version, trusted: true }) : toProblem(refusal)
}

function refuseUnknown(hash: string) {
  return refuse('not_found', `There is no contract ${JSON.stringify(hash)}; GET /contracts lists them.`)
}
