/** A row of `GET /contracts`. */
export interface ContractRow {
  readonly hash: string
  readonly name: string
  readonly version: string
  readonly origin: string
  readonly registered_at: string
  readonly trusted: boolean
  readonly default: boolean
}

/** Contracts of one name, the newest version first. */
export interface ContractFamily {
  readonly name: string
  readonly versions: readonly ContractRow[]
}

/** The one that new tasks get comes first, then by name. */
export function groupByName(contracts: readonly ContractRow[]): readonly ContractFamily[] {
  const families = new Map<string, ContractRow[]>()
  for (const contract of contracts) families.set(contract.name, [...(families.get(contract.name) ?? []), contract])
  const hasDefault = (versions: readonly ContractRow[]) => (versions.some((one) => one.default) ? 0 : 1)
  return [...families]
    .map(([name, versions]) => ({
      name,
      versions: versions.sort((a, b) => (a.registered_at < b.registered_at ? 1 : -1)),
    }))
    .sort((a, b) => hasDefault(a.versions) - hasDefault(b.versions) || (a.name < b.name ? -1 : 1))
}

export function shortenHash(hash: string): string {
  return hash.slice(0, 12)
}

const ORIGINS: Readonly<Record<string, string>> = { api: 'over the API', file: 'from a file of the server' }

/** Where a contract came from, in words. */
export function describeOrigin(origin: string): string {
  return Object.hasOwn(ORIGINS, origin) ? (ORIGINS[origin] ?? origin) : `from ${origin}`
}
