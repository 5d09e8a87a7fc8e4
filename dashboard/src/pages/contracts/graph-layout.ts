import { BOX, findRanks, placeSideWays, type SideWay } from './graph-side-ways.js'

/** What `GET /contracts/{hash}/graph` answers, as far as the picture needs it. */
export interface ContractGraph {
  readonly phases: readonly { readonly id: string; readonly name: string }[]
  readonly transitions: readonly Transition[]
  readonly counts: Readonly<Record<string, number>>
  readonly waiting: Readonly<Record<string, number>>
}

interface Transition {
  readonly from: string
  readonly to: string
  readonly gate: string | null
  /** Every gate that has to open, also where the transition names none. */
  readonly gates?: readonly string[]
  /** What the agent has to claim. */
  readonly when?: string | null
  readonly kind: string
}

export interface PhaseBox {
  readonly id: string
  readonly name: string
  readonly count: number
  readonly y: number
  readonly height: number
}

export interface Rectangle {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** The name of a way. Its rectangle is free of lines, boxes and other names. */
export interface WayLabel extends Rectangle {
  readonly text: string
  /** How many tasks wait, in words; empty: none. */
  readonly waits: string
  readonly anchor: 'start' | 'end'
}

export interface TransitionLine {
  readonly isBack: boolean
  readonly isWaiting: boolean
  /** The corners of the line, from its phase to the next one. */
  readonly points: readonly Point[]
  readonly label: WayLabel | null
  /** Where the lock of its gate is drawn; null: no gate holds it. */
  readonly lock: Point | null
  /** All of it in words: what is claimed, which gates hold it, how many tasks wait. */
  readonly title: string
}

export interface Point {
  readonly x: number
  readonly y: number
}

export interface GraphLayout {
  readonly width: number
  readonly height: number
  readonly boxX: number
  readonly boxes: readonly PhaseBox[]
  readonly lines: readonly TransitionLine[]
}

export const LABEL_CHARS_MAX = 28
export const LOCK_RADIUS = 9
const MARGIN = 12
const TEXT_HEIGHT = 15
/** A little wider than the characters of the fixed-width fonts in use. */
const CHAR_PX = 7.4
const LANE = 16
/** Between a box or a lock and the name beside it. */
const SPACE = 8
/** From the edge of a box to the middle of the lock beside it. */
const LOCK_X = 18

/**
 * Phases from top to bottom in the contract's order. A way to the next phase is a straight line with its name in the gap.
 * Ways back go around on the left and ways that skip a phase on the right: each leaves its box in a row of its own, its
 * name stands above that row, and the vertical parts of all lines run outside of the names.
 */
export function layOutGraph(graph: ContractGraph): GraphLayout {
  const about = graph.transitions.map((transition) => describeWay(graph, transition))
  const ranks = findRanks(graph.phases)
  const ways = graph.transitions.map(({ from, to }, index) => ({
    from: ranks.get(from) ?? 0,
    to: ranks.get(to) ?? 0,
    isNamed: about[index]?.text !== '',
  }))
  const { heights, straight, left, right, lanes } = placeSideWays(graph.phases.length, ways)
  const tops = heights.map((_, index) => MARGIN + sum(heights.slice(0, index)) + index * BOX.gap)
  const measure = (indexes: Iterable<number>): number =>
    Math.max(0, ...[...indexes].map((index) => measureSide(about[index])))
  const leftNames = measure(left.keys())
  const boxX = MARGIN + (lanes.left === 0 ? 0 : leftNames + lanes.left * LANE)
  const overhang = Math.max(0, ...[...straight].map((index) => measureStraight(about[index]))) - BOX.width / 2
  const rightNames = Math.max(measure(right.keys()), overhang)
  const rightLanes = lanes.right * LANE
  const draw = (way: WayInWords, index: number): Drawn => {
    const { from, to } = ways[index] as { from: number; to: number }
    const [start, end] = [tops[from] ?? 0, tops[to] ?? 0]
    if (straight.has(index))
      return drawStraight(way, { x: boxX + BOX.width / 2, start: start + (heights[from] ?? 0), end })
    const onLeft = left.get(index)
    if (onLeft !== undefined)
      return drawAround(way, { edge: boxX, sign: -1, names: leftNames, ...moveBy(onLeft, start, end) })
    const side = right.get(index) as SideWay
    return drawAround(way, { edge: boxX + BOX.width, sign: 1, names: rightNames, ...moveBy(side, start, end) })
  }
  return {
    width: boxX + BOX.width + Math.max(rightNames + rightLanes, 0) + MARGIN,
    height: 2 * MARGIN + sum(heights) + Math.max(0, heights.length - 1) * BOX.gap,
    boxX,
    boxes: graph.phases.map(({ id, name }, index) => ({
      ...{ id, name, count: graph.counts[id] ?? 0 },
      ...{ y: tops[index] ?? 0, height: heights[index] ?? BOX.height },
    })),
    lines: about.map((way, index) => ({
      ...{ isBack: way.isBack || left.has(index), isWaiting: way.waits !== '', title: way.title },
      ...draw(way, index),
    })),
  }
}

interface WayInWords {
  readonly text: string
  readonly waits: string
  readonly title: string
  readonly isGated: boolean
  readonly isBack: boolean
}

function describeWay(graph: ContractGraph, transition: Transition): WayInWords {
  const gates = listGates(transition)
  const when = transition.when ?? null
  const waiting = sum(gates.map((gate) => graph.waiting[gate] ?? 0))
  const words = [
    `${transition.from} to ${transition.to}`,
    ...(when === null ? [] : [`when ${when}`]),
    ...(gates.length === 0 ? [] : [`${gates.join(', ')}: ${waiting} waiting`]),
  ]
  return {
    text: cutText(nameGates(gates) ?? when ?? '', LABEL_CHARS_MAX),
    waits: waiting === 0 ? '' : `${waiting} ${waiting === 1 ? 'waits' : 'wait'}`,
    title: words.join(', '),
    isGated: gates.length > 0,
    isBack: transition.kind === 'back',
  }
}

// A way that an agent claims is named by its claim, unless it names a gate itself.
function listGates({ gate, gates, when }: Transition): readonly string[] {
  if (gate !== null) return [gate]
  return when == null ? (gates ?? []) : []
}

function nameGates([first, ...more]: readonly string[]): string | null {
  if (first === undefined) return null
  return more.length === 0 ? first : `${first} and ${more.length} more`
}

/** The room that a name takes, with the number of tasks that wait. */
function measureText({ text, waits }: WayInWords): number {
  return (text.length + (waits === '' ? 0 : waits.length + 2)) * CHAR_PX
}

function measureSide(way: WayInWords | undefined): number {
  if (way === undefined || way.text === '') return SPACE
  return (way.isGated ? LOCK_X + LOCK_RADIUS : 0) + SPACE + measureText(way) + SPACE
}

function measureStraight(way: WayInWords | undefined): number {
  return way === undefined || way.text === '' ? 0 : LOCK_RADIUS + 2 * SPACE + measureText(way)
}

type Drawn = Pick<TransitionLine, 'points' | 'label' | 'lock'>

function drawStraight(
  way: WayInWords,
  at: { readonly x: number; readonly start: number; readonly end: number },
): Drawn {
  const { x, start, end } = at
  const middle = (start + end) / 2
  const left = x + SPACE + (way.isGated ? LOCK_RADIUS : 0)
  return {
    points: [
      { x, y: start },
      { x, y: end },
    ],
    label: placeLabel(way, { x: left, y: middle - TEXT_HEIGHT / 2, anchor: 'start' }),
    lock: way.isGated ? { x, y: middle } : null,
  }
}

function drawAround(
  way: WayInWords,
  at: SideWay & { readonly edge: number; readonly sign: 1 | -1; readonly names: number },
): Drawn {
  const { edge, sign, leaves, enters } = at
  const x = edge + sign * (at.names + (at.lane + 0.5) * LANE)
  const near = edge + sign * (SPACE + (way.isGated ? LOCK_X + LOCK_RADIUS : 0))
  const width = measureText(way)
  return {
    points: [
      { x: edge, y: leaves },
      { x, y: leaves },
      { x, y: enters },
      { x: edge, y: enters },
    ],
    label: placeLabel(way, {
      x: sign === 1 ? near : near - width,
      y: leaves - TEXT_HEIGHT - 3,
      anchor: sign === 1 ? 'start' : 'end',
    }),
    lock: way.isGated ? { x: edge + sign * LOCK_X, y: leaves } : null,
  }
}

function placeLabel(
  way: WayInWords,
  at: { readonly x: number; readonly y: number; readonly anchor: 'start' | 'end' },
): WayLabel | null {
  if (way.text === '') return null
  return { text: way.text, waits: way.waits, ...at, width: measureText(way), height: TEXT_HEIGHT }
}

function moveBy({ lane, leaves, enters }: SideWay, start: number, end: number): SideWay {
  return { lane, leaves: start + leaves, enters: end + enters }
}

export function cutText(text: string, chars: number): string {
  return text.length <= chars ? text : `${text.slice(0, chars - 1)}…`
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
