import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  type ContractGraph,
  type GraphLayout,
  LOCK_RADIUS,
  layOutGraph,
  type Point,
  type Rectangle,
} from '../../dashboard/src/pages/contracts/graph-layout.js'
import { BOX } from '../../dashboard/src/pages/contracts/graph-side-ways.js'
import { packagePath } from '../../src/base/package-root.js'
import { loadContractFile } from '../../src/contract/load/load-contract.js'

const FOLDER = packagePath('contracts')
const BUNDLED = readdirSync(FOLDER).filter((file) => file.endsWith('.yaml'))

describe('the graph of a contract', () => {
  it.each(BUNDLED)(
    '[REQ-PAGES-23] no name in the graph of %s touches a line, a box, a lock or another name',
    async (file) => {
      const graph = await readGraph(join(FOLDER, file))
      expect(findCollisions(layOutGraph(graph))).toEqual([])
      expect(findCollisions(layOutGraph(waitEverywhere(graph)))).toEqual([])
    },
  )

  it('[REQ-PAGES-23] nor with twelve phases and a way back from each phase to every earlier one', () => {
    const layout = layOutGraph(makeGraph(12, (from, to) => to < from))
    expect(layout.lines).toHaveLength(11 + 66)
    expect(findCollisions(layout)).toEqual([])
  })

  it('[REQ-PAGES-23] nor with ways that skip phases, ways to the same phase and two ways between the same phases', () => {
    const layout = layOutGraph(waitEverywhere(makeGraph(6, () => true)))
    expect(layout.lines).toHaveLength(5 + 36)
    expect(findCollisions(layout)).toEqual([])
  })

  it('[REQ-PAGES-23] no two lines lie on each other, and everything is inside the picture', () => {
    for (const layout of [layOutGraph(makeGraph(12, (from, to) => to < from)), layOutGraph(makeGraph(6, () => true))]) {
      expect(findOverlaps(layout)).toEqual([])
      const inside = ({ x, y, width, height }: Rectangle) =>
        x >= 0 && y >= 0 && x + width <= layout.width && y + height <= layout.height
      expect(listShapes(layout).filter(({ area }) => !inside(area))).toEqual([])
    }
  })

  it('[REQ-PAGES-23] ways back that follow each other share a lane, so that the picture stays narrow', () => {
    const chain = makeGraph(12, (from, to) => to === from - 1)
    const xs = layOutGraph(chain).lines.flatMap(({ points, isBack }) => (isBack ? [points[1]?.x] : []))
    expect(new Set(xs).size).toBe(1)
  })

  it('[REQ-PAGES-23] the check of this file finds a name on a line, on a box and on another name', () => {
    const layout = layOutGraph(makeGraph(3, (from, to) => to < from))
    const [line, other] = layout.lines.filter(({ label }) => label !== null)
    const move = (x: number, y: number): GraphLayout => ({
      ...layout,
      lines: layout.lines.map((one) =>
        one === line && one.label !== null ? { ...one, label: { ...one.label, x, y } } : one,
      ),
    })
    const [start] = line?.points ?? []
    expect(findCollisions(move(start?.x ?? 0, start?.y ?? 0))).not.toEqual([])
    expect(findCollisions(move(layout.boxX, layout.boxes[0]?.y ?? 0))).not.toEqual([])
    expect(findCollisions(move(other?.label?.x ?? 0, other?.label?.y ?? 0))).not.toEqual([])
  })
})

async function readGraph(file: string): Promise<ContractGraph> {
  const loaded = await loadContractFile(file)
  if (!loaded.ok) throw new Error(`${file} does not load`)
  const { phases, transitions } = loaded.contract
  const order = [...phases.keys()]
  return {
    phases: [...phases.values()].map(({ id, name }) => ({ id, name })),
    transitions: transitions.map(({ from, to, gate, when }) => ({
      ...{ from, to, gate, when },
      gates: (phases.get(from)?.gates ?? []).map(({ id }) => id),
      kind: order.indexOf(to) <= order.indexOf(from) ? 'back' : 'forward',
    })),
    counts: {},
    waiting: {},
  }
}

/** Phases that follow each other through gates, and every other way that is wanted, some of them gated as well. */
function makeGraph(count: number, isWanted: (from: number, to: number) => boolean): ContractGraph {
  const phases = Array.from({ length: count }, (_, index) => ({ id: `PHASE_${index}`, name: `The phase ${index}` }))
  const more = phases.flatMap((from, start) =>
    phases.flatMap((to, end) =>
      isWanted(start, end)
        ? [
            {
              ...{ from: from.id, to: to.id, kind: end > start ? 'forward' : 'back' },
              ...(end % 3 === 0
                ? { gate: `gate_of_${start}_and_${end}`, when: null }
                : { gate: null, when: `a_claim_with_a_long_name_${start}_${end}` }),
            },
          ]
        : [],
    ),
  )
  const onward = phases.slice(1).map((to, index) => ({
    ...{ from: phases[index]?.id ?? '', to: to.id, kind: 'forward' },
    ...{ gate: `tests_of_${to.id}_passing`, when: null },
  }))
  return { phases, transitions: [...onward, ...more], counts: {}, waiting: {} }
}

function waitEverywhere(graph: ContractGraph): ContractGraph {
  const gates = graph.transitions.flatMap(({ gate, gates }) => [...(gate === null ? [] : [gate]), ...(gates ?? [])])
  return { ...graph, waiting: Object.fromEntries(gates.map((gate) => [gate, 120])) }
}

interface Shape {
  readonly name: string
  readonly area: Rectangle
}

function findCollisions(layout: GraphLayout): readonly string[] {
  const names = layout.lines.flatMap(({ label, title }) => (label === null ? [] : [{ name: title, area: label }]))
  const others = listShapes(layout)
  return names.flatMap(({ name, area }, index) =>
    [...names.slice(index + 1), ...others]
      .filter((other) => meet(area, other.area))
      .map((other) => `${name} | ${other.name}`),
  )
}

/** Boxes, locks and the parts of all lines. */
function listShapes({ boxes, boxX, lines }: GraphLayout): readonly Shape[] {
  return [
    ...boxes.map(({ id, y, height }) => ({ name: `box ${id}`, area: { x: boxX, y, width: BOX.width, height } })),
    ...lines.flatMap(({ lock, title }) =>
      lock === null ? [] : [{ name: `lock ${title}`, area: around(lock, lock, LOCK_RADIUS) }],
    ),
    ...lines.flatMap(({ points, title }) =>
      points.slice(1).map((end, index) => ({ name: `line ${title}`, area: around(points[index] ?? end, end, 0.75) })),
    ),
  ]
}

function around(from: Point, to: Point, by: number): Rectangle {
  const x = Math.min(from.x, to.x) - by
  const y = Math.min(from.y, to.y) - by
  return { x, y, width: Math.abs(from.x - to.x) + 2 * by, height: Math.abs(from.y - to.y) + 2 * by }
}

function meet(a: Rectangle, b: Rectangle): boolean {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height
}

/** Parts of two lines in the same direction that share more than a point. */
function findOverlaps({ lines }: GraphLayout): readonly string[] {
  const parts = lines.flatMap(({ points, title }) =>
    points.slice(1).map((end, index) => ({ title, from: points[index] ?? end, to: end })),
  )
  return parts.flatMap((a, index) =>
    parts
      .slice(index + 1)
      .filter((b) => a.title !== b.title)
      .filter((b) => (a.from.x === a.to.x) === (b.from.x === b.to.x))
      .filter((b) => meet(around(a.from, a.to, 0.75), around(b.from, b.to, 0.75)))
      .map((b) => `${a.title} | ${b.title}`),
  )
}
