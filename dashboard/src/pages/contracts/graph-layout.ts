/** What `GET /contracts/{hash}/graph` answers, as far as the picture needs it. */
export interface ContractGraph {
  readonly phases: readonly { readonly id: string; readonly name: string }[]
  readonly transitions: readonly {
    readonly from: string
    readonly to: string
    readonly gate: string | null
    /** Every gate that has to open, also where the transition names none. */
    readonly gates?: readonly string[]
    /** What the agent has to claim. */
    readonly when?: string | null
    readonly kind: string
  }[]
  readonly counts: Readonly<Record<string, number>>
  readonly waiting: Readonly<Record<string, number>>
}

export interface PhaseBox {
  readonly id: string
  readonly name: string
  readonly count: number
  readonly y: number
}

export interface TransitionLine {
  readonly from: string
  readonly to: string
  /** The gates that hold it, in a few words; null: none. */
  readonly gate: string | null
  readonly when: string | null
  readonly waiting: number
  readonly isBack: boolean
  readonly path: string
  /** Where its gate is drawn. */
  readonly mark: { readonly x: number; readonly y: number }
}

export interface GraphLayout {
  readonly width: number
  readonly height: number
  readonly boxX: number
  readonly boxes: readonly PhaseBox[]
  readonly lines: readonly TransitionLine[]
}

export const LABEL_CHARS_MAX = 24
export const BOX = { width: 232, height: 56, gap: 60 } as const
const MARGIN = 12
const LANE = 30
const CHAR_PX = 7.3
/** Beside a label: its lock, and how many tasks wait there. */
const BESIDE_PX = 90

/** Phases from top to bottom in the contract's order; ways back on the left, ways that skip a phase on the right. */
export function layOutGraph(graph: ContractGraph): GraphLayout {
  const rank = new Map(graph.phases.map((phase, index) => [phase.id, index]))
  const sides = graph.transitions.map(({ from, to }) => {
    const steps = (rank.get(to) ?? 0) - (rank.get(from) ?? 0)
    return steps === 1 ? 'middle' : steps > 1 ? 'right' : 'left'
  })
  const lanes = (side: string) => sides.filter((one) => one === side).length
  const boxX = MARGIN + lanes('left') * LANE + measureLabels(graph, (_, index) => sides[index] === 'left')
  const right = lanes('right') * LANE + measureLabels(graph, (_, index) => sides[index] === 'right')
  const middle = measureLabels(graph, (_, index) => sides[index] === 'middle') - BOX.width / 2
  const top = (id: string) => MARGIN + (rank.get(id) ?? 0) * (BOX.height + BOX.gap)
  const used = { left: 0, right: 0 }
  const lines = graph.transitions.map((transition, index): TransitionLine => {
    const side = sides[index] ?? 'middle'
    const isBack = transition.kind === 'back' || side === 'left'
    const gates = listGates(transition)
    const waiting = gates.reduce((sum, gate) => sum + (graph.waiting[gate] ?? 0), 0)
    const about = {
      from: transition.from,
      to: transition.to,
      gate: nameGates(gates),
      when: transition.when ?? null,
      waiting,
      isBack,
    }
    if (side === 'middle') return { ...about, ...drawStraight(boxX, top(transition.from), top(transition.to)) }
    const at = side === 'left' ? 'left' : 'right'
    used[at] += 1
    return { ...about, ...drawAround({ boxX, from: top(transition.from), to: top(transition.to), lane: used[at], at }) }
  })
  return {
    width: boxX + BOX.width + Math.max(right, middle, 0) + MARGIN,
    height: 2 * MARGIN + graph.phases.length * BOX.height + Math.max(0, graph.phases.length - 1) * BOX.gap,
    boxX,
    boxes: graph.phases.map(({ id, name }) => ({ id, name, count: graph.counts[id] ?? 0, y: top(id) })),
    lines,
  }
}

// A way that an agent claims is named by its claim, unless it names a gate itself.
function listGates({ gate, gates, when }: ContractGraph['transitions'][number]): readonly string[] {
  if (gate !== null) return [gate]
  return when == null ? (gates ?? []) : []
}

function nameGates([first, ...more]: readonly string[]): string | null {
  if (first === undefined) return null
  return more.length === 0 ? first : `${first} and ${more.length} more`
}

/** The room that the names of these gates take. */
function measureLabels(graph: ContractGraph, isOne: (gate: string | null, index: number) => boolean): number {
  const gates = graph.transitions.map((transition) => nameGates(listGates(transition)) ?? transition.when ?? null)
  const chars = gates.filter(isOne).map((gate) => Math.min(LABEL_CHARS_MAX, gate?.length ?? 0))
  const longest = Math.max(0, ...chars)
  return longest === 0 ? 0 : longest * CHAR_PX + BESIDE_PX
}

function drawStraight(boxX: number, from: number, to: number): Pick<TransitionLine, 'path' | 'mark'> {
  const x = boxX + BOX.width / 2
  const start = from + BOX.height
  return { path: `M${x} ${start}V${to - 2}`, mark: { x, y: (start + to) / 2 } }
}

function drawAround(at: {
  readonly boxX: number
  readonly from: number
  readonly to: number
  readonly lane: number
  readonly at: 'left' | 'right'
}): Pick<TransitionLine, 'path' | 'mark'> {
  const sign = at.at === 'left' ? -1 : 1
  const edge = at.at === 'left' ? at.boxX : at.boxX + BOX.width
  const x = edge + sign * at.lane * LANE
  // Lines of several lanes leave and enter a box at different heights, so that they can be told apart.
  const shift = Math.min(20, at.lane * 6)
  const start = at.from + BOX.height / 2 + (at.to > at.from ? shift : -shift + 8)
  const end = at.to + BOX.height / 2 + (at.to > at.from ? -shift : shift)
  const corner = 8 * Math.sign(end - start || 1)
  const path =
    start === end
      ? `M${edge} ${start - 10}H${x}V${start + 10}H${edge + sign * 2}`
      : `M${edge} ${start}H${x - sign * 8}Q${x} ${start} ${x} ${start + corner}V${end - corner}Q${x} ${end} ${x - sign * 8} ${end}H${edge + sign * 2}`
  return { path, mark: { x, y: (start + end) / 2 } }
}
