import type { RegistryFact } from '../../core/identity/registry.js'
import { openStore, type StorePlace } from '../../store/open-store.js'
import { makeCleaner } from '../../store/redaction/clean-data.js'
import type { Store } from '../../store/store.js'
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
    for (const fact of facts) await recordInStore(store, fact)
    await whileOpen()
  } finally {
    await store.close()
  }
}

async function recordInStore(store: Store, fact: RegistryFact): Promise<void> {
  const { clean, redact } = makeCleaner([])
  const ledger = new Ledger(store, clean, redact)
  await ledger.start()
  const refusal = await ledger.record(fact, { now: Date.now(), actor: ACTOR })
  if (refusal !== null) throw new Error(refusal.detail)
}
