/** Equal texts of a log share one object, to which cached results are attached. */
export interface Text {
  readonly value: string
}

/** A fact at its position in the log. */
export interface Entry {
  readonly at: number
  readonly text: Text
  readonly tool: string | null
  readonly mark: number
  /** From 1, in the order of times. */
  readonly position: number
}

/** A persistent chain of entries, newest first: old versions stay valid. */
export interface Link {
  readonly entry: Entry
  /** Number of entries up to here. */
  readonly count: number
  readonly before: Link | null
  /** A link further back, chosen so that any link is reached in logarithmic steps. */
  readonly jump: Link | null
}

export function extend(before: Link | null, entry: Entry): Link {
  if (before === null) return { entry, count: 1, before, jump: null }
  const far = before.jump
  const isEven = far !== null && before.count - far.count === far.count - (far.jump?.count ?? 0)
  return { entry, count: before.count + 1, before, jump: isEven ? far.jump : before }
}

/** The link that has `count` entries up to it; the chain must have that many. */
export function getLink(newest: Link, count: number): Link {
  let link = newest
  while (link.count > count) {
    const next = link.jump !== null && link.jump.count >= count ? link.jump : link.before
    if (next === null) break
    link = next
  }
  return link
}

/** How many of the newest entries in a row match; no entry before one that does not match may match. */
export function countWhile(newest: Link | null, holds: (entry: Entry) => boolean): number {
  let link = newest
  while (link !== null && holds(link.entry))
    link = link.jump !== null && holds(link.jump.entry) ? link.jump : link.before
  return (newest?.count ?? 0) - (link?.count ?? 0)
}
