import type { RegistryFact } from '../../core/identity/registry.js'
import { openStore } from '../../store/open-store.js'
import { makeCleaner } from '../../store/redaction/clean-data.js'
import { type Store, StoreRefused } from '../../store/store.js'
import type { StorePlace } from '../../store/store-place.js'
import { Ledger } from './ledger.js'

/** Whose act it is: the first operator's, because only the account that can read its token gets this far. */
const ACTOR = 'operator:admin'

/** Records acts on a ledger that no server runs on. `whileOpen` runs before the ledger is given up. */
export async function recordOffline(
  place: StorePlace,
  facts: readonly RegistryFact[],
  whileOpen: () => Promise<void> = async () => undefined,
): Promise<void> {
  const store = await openStore(place)
  try {
    await refuseOtherNodes(store)
    for (const fact of facts) await recordInStore(store, fact)
    await whileOpen()
  } finally {
    await store.close()
  }
}

// They hold in memory what is about to be changed, and sign with keys that are about to be replaced.
async function refuseOtherNodes({ cluster }: Store): Promise<void> {
  const nodes = (await cluster?.listNodes()) ?? []
  const other = nodes.find(({ id, isAlive }) => isAlive && id !== cluster?.nodeId)
  if (other !== undefined)
    throw new StoreRefused('locked', `${other.id} runs on this ledger. Stop every node first; nothing was changed.`)
}

async function recordInStore(store: Store, fact: RegistryFact): Promise<void> {
  const { clean, redact } = makeCleaner([])
  const ledger = new Ledger(store, clean, redact)
  await ledger.start()
  const refusal = await ledger.record(fact, { now: Date.now(), actor: ACTOR })
  if (refusal !== null) throw new Error(refusal.detail)
}
