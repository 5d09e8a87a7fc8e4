import { REPORT_CHARS_MAX } from './report.js'
import { parseWholeNumber, splitLines } from './text.js'
import { type Attributes, readXml } from './xml.js'

export const COVERAGE_FORMATS = ['lcov', 'cobertura'] as const

interface CoverageInput {
  readonly format: (typeof COVERAGE_FORMATS)[number]
  readonly text: string
  /** Whether a file of the report is outside the project: such files do not count. */
  readonly isOutside?: (file: string) => boolean
}

interface Coverage {
  readonly linesFound: number
  readonly linesHit: number
  /** Rounded down to a hundredth: 79.999 does not meet 80. */
  readonly percent: number
}

/** The share of lines that ran; null when the report cannot be read or measures no line at all. */
export function readCoverage({ format, text, isOutside = () => false }: CoverageInput): Coverage | null {
  if (text.length > REPORT_CHARS_MAX) return null
  const counts = format === 'lcov' ? readLcov(text, isOutside) : readCobertura(text, isOutside)
  if (counts === null || counts.found === 0 || counts.hit > counts.found) return null
  return {
    linesFound: counts.found,
    linesHit: counts.hit,
    percent: Math.floor((counts.hit * 10_000) / counts.found) / 100,
  }
}

interface Counts {
  readonly found: number
  readonly hit: number
}

/** Lines by file: one file may be in several records, and a line that ran in one of them ran. */
class Lines {
  found = 0
  hit = 0
  private readonly files = new Map<string, Map<number, boolean>>()
  private readonly outside = new Map<string, boolean>()

  constructor(private readonly isOutside: (file: string) => boolean) {}

  get hasOutside(): boolean {
    return [...this.outside.values()].includes(true)
  }

  isLeftOut(file: string): boolean {
    const isOut = this.outside.get(file) ?? this.isOutside(file)
    this.outside.set(file, isOut)
    return isOut
  }

  add(file: string, line: number, wasHit: boolean): void {
    if (this.isLeftOut(file)) return
    const lines = this.files.get(file) ?? new Map<number, boolean>()
    this.files.set(file, lines)
    const before = lines.get(line)
    if (before === undefined) this.found++
    if (wasHit && before !== true) this.hit++
    lines.set(line, wasHit || before === true)
  }
}

function readLcov(text: string, isOutside: (file: string) => boolean): Counts | null {
  const lines = new Lines(isOutside)
  let record = { file: '', found: 0, hit: 0, hasLines: false }
  let records = 0
  const more = { found: 0, hit: 0 }
  for (const raw of splitLines(text)) {
    const line = raw.trimEnd()
    if (line.startsWith('SF:')) record = { file: line.slice(3), found: 0, hit: 0, hasLines: false }
    else if (line.startsWith('DA:')) {
      const [number, hits] = line.slice(3).split(',', 3)
      const at = parseWholeNumber(number)
      if (at === null || hits === undefined || !/^\d{1,20}$/.test(hits) || record.file === '') return null
      record.hasLines = true
      lines.add(record.file, at, !/^0+$/.test(hits))
    } else if (line.startsWith('LF:')) record.found = parseWholeNumber(line.slice(3)) ?? 0
    else if (line.startsWith('LH:')) record.hit = parseWholeNumber(line.slice(3)) ?? 0
    else if (line === 'end_of_record') {
      records++
      // Some writers give the sums of a file without its lines.
      if (!record.hasLines && !lines.isLeftOut(record.file)) {
        more.found += record.found
        more.hit += Math.min(record.hit, record.found)
      }
      record = { file: '', found: 0, hit: 0, hasLines: false }
    }
  }
  return records === 0 ? null : { found: lines.found + more.found, hit: lines.hit + more.hit }
}

function readCobertura(text: string, isOutside: (file: string) => boolean): Counts | null {
  const lines = new Lines(isOutside)
  const open: string[] = []
  let root: { readonly name: string; readonly attributes: Attributes } | null = null
  let file = ''
  const problem = readXml(text.trim(), {
    open(name, attributes) {
      root ??= { name, attributes }
      if (name === 'class') file = attributes.get('filename') ?? attributes.get('name') ?? ''
      // The lines of methods are among those of their class.
      else if (name === 'line' && open.at(-1) === 'lines' && open.at(-2) === 'class') {
        const at = parseWholeNumber(attributes.get('number'))
        const hits = attributes.get('hits') ?? ''
        if (at !== null && /^\d{1,20}$/.test(hits)) lines.add(file, at, !/^0+$/.test(hits))
      }
      open.push(name)
    },
    text: () => undefined,
    close: () => {
      open.pop()
    },
  })
  return problem === null ? computeCoberturaCounts(root, lines) : null
}

function computeCoberturaCounts(
  root: { readonly name: string; readonly attributes: Attributes } | null,
  lines: Lines,
): Counts | null {
  if (root?.name !== 'coverage') return null
  // The sums include files outside the project.
  if (lines.found > 0 || lines.hasOutside) return lines
  const found = parseWholeNumber(root.attributes.get('lines-valid'))
  const hit = parseWholeNumber(root.attributes.get('lines-covered'))
  return found === null || hit === null ? null : { found, hit }
}
