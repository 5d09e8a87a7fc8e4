import type { Contract, Phase, Transition } from '../core/contract/contract.js'

/** A Mermaid flow chart of the phases and transitions. */
export function toMermaid(contract: Contract): string {
  const names = assignNodeNames(contract)
  const lines = ['flowchart TD']
  for (const phase of contract.phases.values()) {
    const label = escapeMermaid(phase.name === phase.id ? phase.id : `${phase.id}: ${phase.name}`)
    const [open, close] = isFinal(contract, phase) ? ['([', '])'] : ['[', ']']
    lines.push(`  ${names.get(phase.id) ?? ''}${open}"${label}"${close}`)
  }
  for (const transition of contract.transitions) {
    const label = formatEdgeLabel(transition)
    const arrow = label === '' ? '-->' : `-->|"${escapeMermaid(label)}"|`
    lines.push(`  ${names.get(transition.from) ?? ''} ${arrow} ${names.get(transition.to) ?? ''}`)
  }
  return `${lines.join('\n')}\n`
}

/** The same for Graphviz. */
export function toDot(contract: Contract): string {
  const lines = [`digraph ${quoteDot(contract.name)} {`, '  rankdir=TB;', '  node [shape=box, style=rounded];']
  for (const phase of contract.phases.values()) {
    const shape = isFinal(contract, phase) ? ', peripheries=2' : ''
    lines.push(
      `  ${quoteDot(phase.id)} [label=${quoteDot(phase.name === phase.id ? phase.id : `${phase.id}\n${phase.name}`)}${shape}];`,
    )
  }
  for (const transition of contract.transitions) {
    const style = transition.when === null ? '' : ', style=dashed'
    lines.push(
      `  ${quoteDot(transition.from)} -> ${quoteDot(transition.to)} [label=${quoteDot(formatEdgeLabel(transition))}${style}];`,
    )
  }
  return `${[...lines, '}'].join('\n')}\n`
}

const BOX = { width: 260, height: 52, gap: 64, margin: 24, lane: 34 } as const

/** The same as a picture: phases from top to bottom, ways forward on the right, ways back on the left. */
export function toSvg(contract: Contract): string {
  const phases = sortByDistance(contract)
  const top = new Map(phases.map((phase, index) => [phase.id, BOX.margin + index * (BOX.height + BOX.gap)]))
  const skips = contract.transitions.filter(
    (t) => Math.abs(rank(phases, t.to) - rank(phases, t.from)) !== 1 || rank(phases, t.to) < rank(phases, t.from),
  )
  const side = BOX.margin + skips.length * BOX.lane + 140
  const width = 2 * side + BOX.width
  const height = 2 * BOX.margin + phases.length * BOX.height + (phases.length - 1) * BOX.gap
  const boxes = phases.map((phase) => renderBox(contract, phase, side, top.get(phase.id) ?? 0))
  let lane = 0
  const edges = contract.transitions.map((transition) => {
    const from = top.get(transition.from) ?? 0
    const to = top.get(transition.to) ?? 0
    if (!skips.includes(transition)) return renderStraightLine(transition, side + BOX.width / 2, from + BOX.height, to)
    lane += 1
    return renderCurve(transition, { from, to, left: side, lane })
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${escapeXml(`${contract.name} ${contract.version}`)}</title>`,
    '<defs><marker id="end" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path d="M0 0L10 5L0 10z" fill="#555"/></marker></defs>',
    '<g font-family="system-ui, sans-serif" font-size="13" fill="none" stroke="#555">',
    ...edges,
    ...boxes,
    '</g>',
    '</svg>',
    '',
  ].join('\n')
}

function renderBox(contract: Contract, phase: Phase, left: number, top: number): string {
  const stroke = isFinal(contract, phase) ? 3 : 1.5
  const middle = left + BOX.width / 2
  return [
    `<rect x="${left}" y="${top}" width="${BOX.width}" height="${BOX.height}" rx="8" fill="#fff" stroke-width="${stroke}"/>`,
    `<text x="${middle}" y="${top + 22}" text-anchor="middle" fill="#111" stroke="none" font-weight="600">${escapeXml(cut(phase.id, 32))}</text>`,
    `<text x="${middle}" y="${top + 40}" text-anchor="middle" fill="#444" stroke="none">${escapeXml(cut(phase.name, 40))}</text>`,
  ].join('')
}

function renderStraightLine(transition: Transition, x: number, from: number, to: number): string {
  return [
    `<path d="M${x} ${from}V${to - 1}"${formatDash(transition)} marker-end="url(#end)"/>`,
    `<text x="${x + 8}" y="${(from + to) / 2 + 4}" fill="#333" stroke="none">${escapeXml(cut(formatEdgeLabel(transition), 44))}</text>`,
  ].join('')
}

function renderCurve(transition: Transition, at: { from: number; to: number; left: number; lane: number }): string {
  const isForward = at.to > at.from
  const edge = isForward ? at.left + BOX.width : at.left
  const x = isForward ? edge + at.lane * BOX.lane : edge - at.lane * BOX.lane
  const [start, end] = [at.from + BOX.height / 2 + 8, at.to + BOX.height / 2 - 8]
  const anchor = isForward ? 'start' : 'end'
  return [
    `<path d="M${edge} ${start}H${x}V${end}H${edge}"${formatDash(transition)} marker-end="url(#end)"/>`,
    `<text x="${isForward ? x + 6 : x - 6}" y="${(start + end) / 2}" text-anchor="${anchor}" fill="#333" stroke="none">${escapeXml(cut(formatEdgeLabel(transition), 24))}</text>`,
  ].join('')
}

/** The start first, then by distance from it; ties in the order of the file. */
function sortByDistance(contract: Contract): Phase[] {
  const distance = new Map([[contract.start, 0]])
  for (const [id, steps] of distance) {
    for (const { from, to } of contract.transitions) if (from === id && !distance.has(to)) distance.set(to, steps + 1)
  }
  return [...contract.phases.values()].sort((a, b) => (distance.get(a.id) ?? 0) - (distance.get(b.id) ?? 0))
}

function rank(phases: readonly Phase[], id: string): number {
  return phases.findIndex((phase) => phase.id === id)
}

function isFinal(contract: Contract, phase: Phase): boolean {
  return !contract.transitions.some((transition) => transition.from === phase.id)
}

function formatEdgeLabel({ gate, when }: Transition): string {
  return [when === null ? '' : `when ${when}`, gate ?? ''].filter((part) => part !== '').join(', ')
}

function formatDash(transition: Transition): string {
  return transition.when === null ? '' : ' stroke-dasharray="5 4"'
}

// Mermaid has reserved words (`end`) and accepts no dots in names, so nodes are numbered and ids appear only in labels.
function assignNodeNames(contract: Contract): ReadonlyMap<string, string> {
  return new Map([...contract.phases.keys()].map((id, index) => [id, `p${index}`]))
}

/** A text inside the quotes of a Mermaid label. */
export function escapeMermaid(text: string): string {
  return text.replace(/[^\p{L}\p{N} _.,:/()-]/gu, (char) => `#${char.codePointAt(0) ?? 0};`)
}

/** A quoted text of Graphviz. */
export function quoteDot(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`
}

function escapeXml(text: string): string {
  const entities: Readonly<Record<string, string>> = {
    '<': '&lt;',
    '>': '&gt;',
    '&': '&amp;',
    '"': '&quot;',
    "'": '&#39;',
  }
  return text.replace(/[<>&"']/g, (char) => entities[char] ?? char).replace(/[^\P{Cc}\n\t]/gu, '')
}

function cut(text: string, chars: number): string {
  return text.length <= chars ? text : `${text.slice(0, chars - 1)}…`
}
