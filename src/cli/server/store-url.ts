import { findAddressProblem } from '../../store/postgres/connect.js'
import { EXIT, Stop } from '../exit.js'

/** The address of the PostgreSQL store that `--store` or PHASELOCK_STORE names; null: the embedded store. */
export function readStoreUrl(given: string | undefined): string | null {
  const store = given ?? process.env.PHASELOCK_STORE
  if (store === undefined || store === '' || store === 'sqlite' || store === 'embedded') return null
  const problem = findAddressProblem(store)
  if (problem !== null)
    throw new Stop(EXIT.usage, `--store, PHASELOCK_STORE: ${problem}\nLeave both out for the embedded store.`)
  return store
}

/**
 * With PostgreSQL the signing secret must be given: one that is generated in a state directory would be lost with the
 * machine.
 */
export function requireSigningSecret(url: string | null): void {
  if (url === null || (process.env.ORCHESTRATOR_JWT_SECRET ?? '') !== '') return
  throw new Stop(
    EXIT.usage,
    'With a PostgreSQL store ORCHESTRATOR_JWT_SECRET must be set, to at least 32 bytes (openssl rand -base64 48).',
  )
}

/** The folder that `--shared-trees` or PHASELOCK_SHARED_TREES names; null: trees are not shared. */
export function readSharedTrees(given: string | undefined, store: string | null): string | null {
  const folder = given ?? process.env.PHASELOCK_SHARED_TREES ?? ''
  if (folder === '') return null
  if (store !== null) return folder
  throw new Stop(
    EXIT.usage,
    '--shared-trees, PHASELOCK_SHARED_TREES: only nodes on PostgreSQL share trees. Give --store or PHASELOCK_STORE, or leave it out.',
  )
}

/** Where other nodes reach this server, as `--advertise` or PHASELOCK_ADVERTISE says; null: where it listens. */
export function readAdvertised(given: string | undefined): string | null {
  const text = given ?? process.env.PHASELOCK_ADVERTISE ?? ''
  if (text === '') return null
  const url = URL.canParse(text) ? new URL(text) : null
  if (url !== null && /^https?:$/.test(url.protocol) && url.pathname === '/' && url.username === '') return url.origin
  throw new Stop(EXIT.usage, '--advertise, PHASELOCK_ADVERTISE: give a URL like https://node-a.example:8000.')
}
