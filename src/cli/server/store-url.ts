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
