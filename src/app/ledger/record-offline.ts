import type { RegistryFact } from '../../core/identity/registry.js'
import { openStore, type StorePlace } from '../../store/open-store.js'
import { makeCleaner } from '../../store/redaction/clean-data.js'
import type { Store } from '../../store/store.js'
import { Ledger } from './ledger.js'

/** Whose act it is: the first operator's, because only the account that can read its token gets this far. */
const ACTOR = 'operator:admin'

/** Records an act on a ledger that no server runs on. */
export async function recordOffline(place: StorePlace, fact: RegistryFact): Promise<void> {
  const store = await openStore(place)
  try {
    await recordInStore(store, fact)
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
