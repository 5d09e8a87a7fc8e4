import { useState } from 'react'

interface Steady<Row> {
  readonly shown: readonly Row[]
  /** How many new rows are held back, because they would move what somebody is about to press. */
  readonly waiting: number
  readonly release: () => void
}

/**
 * A live list whose rows do not move under the pointer. Rows that are gone disappear, changed rows change in place, and
 * rows at the end are added; rows that would push others down wait until they are asked for.
 */
export function useSteadyList<Row>(rows: readonly Row[], keyOf: (row: Row) => string): Steady<Row> {
  const [held, setHeld] = useState<ReadonlySet<string>>(new Set())
  const [known, setKnown] = useState<readonly string[]>([])
  const keys = rows.map(keyOf)
  if (keys.join('\n') !== known.join('\n')) {
    const seen = new Set(known)
    const lastKnown = keys.findLastIndex((key) => seen.has(key))
    const pushing = keys.filter((key, index) => index < lastKnown && (!seen.has(key) || held.has(key)))
    setHeld(new Set(pushing))
    setKnown(keys)
  }
  return {
    shown: rows.filter((row) => !held.has(keyOf(row))),
    waiting: keys.filter((key) => held.has(key)).length,
    release: () => setHeld(new Set()),
  }
}
