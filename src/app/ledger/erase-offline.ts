import { eraseFound } from '../../store/erasure/erase-text.js'
import { type FoundText, findText } from '../../store/erasure/find-text.js'
import { readChainKey } from '../../store/keys.js'
import { StoreRefused } from '../../store/store.js'
import type { StorePlace } from '../../store/store-place.js'
import { recordOffline } from './record-offline.js'

// An event has room for about 250 of them.
const ENTRIES_MAX = 150
const CONTENTS_MAX = 500

/** Where the text is; the whole ledger is verified first. */
export function findErasable(place: StorePlace, text: string): Promise<FoundText> {
  const key = readChainKey(place.dir)
  if (key === null) throw new StoreRefused('tampered', `${place.dir} has no ledger.key.`)
  return findText(place, key, text)
}

/** Records the erasure, then overwrites the text. If it is interrupted in between, nothing is lost: do it again. */
export async function eraseOffline(place: StorePlace, found: FoundText, reason: string): Promise<void> {
  const entries = found.events.map(({ seq, hash, seal }) => ({ seq, hash, seal }))
  const count = Math.max(1, Math.ceil(entries.length / ENTRIES_MAX), Math.ceil(found.blobs.length / CONTENTS_MAX))
  const facts = Array.from({ length: count }, (_, index) => ({
    type: 'data_erased' as const,
    reason,
    erased: entries.slice(index * ENTRIES_MAX, (index + 1) * ENTRIES_MAX),
    contents: found.blobs.slice(index * CONTENTS_MAX, (index + 1) * CONTENTS_MAX),
  }))
  await recordOffline(place, facts, () => eraseFound(place, found))
}
