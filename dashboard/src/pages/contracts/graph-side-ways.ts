export const BOX = { width: 232, height: 56, gap: 60 } as const
/** A row that carries a name needs room above its line; a row without one only keeps its distance. */
const ROW = { named: 27, plain: 15, below: 14 } as const

/** A way from the phase at one place of the contract's order to another. */
export interface Way {
  readonly from: number
  readonly to: number
  readonly isNamed: boolean
}

/** A way around the boxes: its lane, counted from the boxes, and where it leaves and enters, counted from the tops. */
export interface SideWay {
  readonly lane: number
  readonly leaves: number
  readonly enters: number
}

export interface SideWays {
  /** How high each box has to be for the rows of its ways. */
  readonly heights: readonly number[]
  /** The ways, by index, that go straight down to the next phase. */
  readonly straight: ReadonlySet<number>
  readonly left: ReadonlyMap<number, SideWay>
  readonly right: ReadonlyMap<number, SideWay>
  readonly lanes: { readonly left: number; readonly right: number }
}

/** Gives every way that is not straight a side, a lane and a row at both of its boxes. */
export function placeSideWays(phases: number, ways: readonly Way[]): SideWays {
  const straight = findStraight(ways)
  const onSide = (isLeft: boolean) =>
    ways.flatMap((way, index) => (straight.has(index) || way.to > way.from === isLeft ? [] : [{ ...way, index }]))
  const sides = { left: assignLanes(onSide(true)), right: assignLanes(onSide(false)) }
  const rows = {
    left: Array.from({ length: phases }, (_, phase) => listLeftRows(sides.left, phase)),
    right: Array.from({ length: phases }, (_, phase) => listRightRows(sides.right, phase)),
  }
  const heights = rows.left.map((list, phase) =>
    Math.max(BOX.height, measureRows(list), measureRows(rows.right[phase] ?? [])),
  )
  return {
    ...{ heights, straight },
    left: placeRows(sides.left, rows.left, heights),
    right: placeRows(sides.right, rows.right, heights),
    lanes: { left: countLanes(sides.left), right: countLanes(sides.right) },
  }
}

export function findRanks(phases: readonly { readonly id: string }[]): ReadonlyMap<string, number> {
  return new Map(phases.map(({ id }, index) => [id, index]))
}

// Of several ways between the same two phases, the first one is straight.
function findStraight(ways: readonly Way[]): ReadonlySet<number> {
  const taken = new Map<number, number>()
  ways.forEach(({ from, to }, index) => {
    if (to === from + 1 && !taken.has(from)) taken.set(from, index)
  })
  return new Set(taken.values())
}

interface LaneWay extends Way {
  readonly index: number
  readonly lane: number
}

/** Short ways run near the boxes. Two ways share a lane where one ends before the other begins. */
function assignLanes(ways: readonly (Way & { readonly index: number })[]): readonly LaneWay[] {
  const spans = ways.map((way) => ({ ...way, top: Math.min(way.from, way.to), end: Math.max(way.from, way.to) }))
  spans.sort((a, b) => a.end - a.top - (b.end - b.top) || a.top - b.top || a.index - b.index)
  const placed: (LaneWay & { readonly top: number; readonly end: number })[] = []
  for (const span of spans) {
    const meets = (lane: number): boolean =>
      placed.some((other) => other.lane === lane && other.top < span.end && span.top < other.end) ||
      placed.some((other) => other.lane === lane && other.top === span.top && other.end === span.end)
    let lane = 0
    while (meets(lane)) lane += 1
    placed.push({ ...span, lane })
  }
  return placed
}

interface Row {
  readonly index: number
  readonly isNamed: boolean
  readonly leaves: boolean
}

// The order of the rows keeps lines from crossing: what goes up leaves above what comes from below, and of two ways in
// the same direction the one in the outer lane passes behind the end of the inner one.
function listLeftRows(ways: readonly LaneWay[], phase: number): readonly Row[] {
  const leaving = ways.filter(({ from }) => from === phase)
  const entering = ways.filter(({ to }) => to === phase)
  const isLoop = ({ from, to }: LaneWay): number => (from === to ? 1 : 0)
  leaving.sort((a, b) => isLoop(a) - isLoop(b) || a.lane - b.lane)
  entering.sort((a, b) => isLoop(b) - isLoop(a) || b.lane - a.lane)
  return [...leaving.map(toLeavingRow), ...entering.map(toEnteringRow)]
}

function listRightRows(ways: readonly LaneWay[], phase: number): readonly Row[] {
  const entering = ways.filter(({ to }) => to === phase).sort((a, b) => a.lane - b.lane)
  const leaving = ways.filter(({ from }) => from === phase).sort((a, b) => b.lane - a.lane)
  return [...entering.map(toEnteringRow), ...leaving.map(toLeavingRow)]
}

function toLeavingRow({ index, isNamed }: LaneWay): Row {
  return { index, isNamed, leaves: true }
}

function toEnteringRow({ index }: LaneWay): Row {
  return { index, isNamed: false, leaves: false }
}

function measureRow({ isNamed }: Row): number {
  return isNamed ? ROW.named : ROW.plain
}

function measureRows(rows: readonly Row[]): number {
  return rows.reduce((height: number, row) => height + measureRow(row), ROW.below)
}

/** The rows of each box, in the middle of its height. */
function placeRows(
  ways: readonly LaneWay[],
  rows: readonly (readonly Row[])[],
  heights: readonly number[],
): ReadonlyMap<number, SideWay> {
  const leaves = new Map<number, number>()
  const enters = new Map<number, number>()
  rows.forEach((list, phase) => {
    let y = ((heights[phase] ?? BOX.height) - measureRows(list)) / 2
    for (const row of list) {
      y += measureRow(row)
      ;(row.leaves ? leaves : enters).set(row.index, y)
    }
  })
  return new Map(
    ways.map(({ index, lane }) => [index, { lane, leaves: leaves.get(index) ?? 0, enters: enters.get(index) ?? 0 }]),
  )
}

function countLanes(ways: readonly LaneWay[]): number {
  return Math.max(0, ...ways.map(({ lane }) => lane + 1))
}
