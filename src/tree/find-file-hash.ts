const FILE = /^file ([0-9a-f]{64})$/

/** The SHA-256 of an entry of a tree index that is a file; null: it is something else, or there is none. */
export function findFileHash(entry: string | null | undefined): string | null {
  return FILE.exec(entry ?? '')?.[1] ?? null
}
