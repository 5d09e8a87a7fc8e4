import { basename, join } from 'node:path'
import type { Place } from '../diagnostic.js'
import { getCodeOfReason } from '../load/bounded-files.js'
import type { MapNode, SourceNode } from '../load/yaml.js'
import { ENTRIES_MAX, Folder } from './folder.js'
import type { Block, Heading } from './markdown.js'
import { makeEntry, makeScalarNode, mapNode } from './nodes.js'
import { checkNumbers, reportOtherNumber, reportStrayPhases } from './numbering.js'
import { isHeading, parsePhaseHeading } from './sections.js'
import { mergePhaseEntries, readHead, readSettings, type Settings } from './settings.js'
import { readSource, readYaml, type Sink, type Source } from './source.js'
import { readYamlGate, type YamlGate } from './yaml-fields.js'

const PHASES_MAX = 100
const TASKS_MAX = 100
const GATE_FILE = 'gate-definition.yaml'
const LIKE_GATE_FILE = /^gates?[-_. ]?definitions?\.(?:ya?ml|json)$/i
const TASK = /^task-(\d{1,4})(?:-.*)?\.md$/
const LIKE_TASK = /^tasks?[-_. ]?\d.*\.(?:md|markdown)$/i
const METADATA = ['metadata.json', 'metadata.yaml', 'metadata.yml']

/** The document of one phase, before its requirements are read. */
export interface PhaseSource {
  readonly number: number
  readonly source: Source
  readonly blocks: readonly Block[]
  readonly title: Heading | null
  readonly content: string
  /** The line that `content` begins with. */
  readonly line: number
  readonly gateFile: YamlGate | null
  readonly none: Place | null
  readonly tasks: readonly { readonly id: string; readonly title: string; readonly content: string }[]
}

/** A workflow of documents, as a contract whose checkpoints are not read yet. */
export interface Workflow {
  readonly root: MapNode
  readonly phases: readonly PhaseSource[]
}

/** A workflow in one file: `## Phase <n>: <name>`. */
export function readWorkflowText(text: string, shown: string, report: Sink): Workflow | null {
  const file = basename(shown)
  const source = readSource(text, { shown, file }, report)
  if (source === null) return null
  const start: Place = { line: 1, column: 1, path: '', file: shown }
  const head = source.head ?? mapNode(new Map(), start)
  if (head.kind !== 'map') {
    report({ code: 'bad_yaml', at: head.at, message: 'Expected a map of settings between the --- lines.' })
    return null
  }
  const title = source.blocks.find((block) => isHeading(block) && block.level === 1)
  const name = title?.kind === 'heading' ? title.text : file.replace(/\.(?:md|markdown)$/i, '')
  const read = readSettings(head, { name }, report)
  const version = read.root.get('version') ?? makeEntry(makeScalarNode('1', start))
  const settings = { ...read, root: new Map([...read.root, ['version', version]]) }
  reportStrayPhases(source, report)
  const phases = splitPhases(source).map((part) => ({ ...part, source, gateFile: null, none: null, tasks: [] }))
  return assemble(settings, phases, new Map(), report)
}

function splitPhases(source: Source): Pick<PhaseSource, 'number' | 'blocks' | 'title' | 'content' | 'line'>[] {
  const { blocks, lines } = source
  const starts = blocks.flatMap((block, index) => {
    const found = isHeading(block) && block.level === 2 ? parsePhaseHeading(block.text) : null
    return found === null || block.kind !== 'heading' ? [] : [{ ...found, heading: block, index }]
  })
  return starts.map(({ number, heading, index }) => {
    const length = blocks.slice(index + 1).findIndex((block) => isPhaseEnd(block))
    const end = length < 0 ? undefined : blocks[index + 1 + length]
    return {
      number,
      title: heading,
      blocks: blocks.slice(index, length < 0 ? undefined : index + 1 + length),
      line: heading.line,
      content: lines
        .slice(heading.line - 1, end === undefined ? undefined : end.line - 1)
        .join('\n')
        .trimEnd(),
    }
  })
}

function isPhaseEnd(block: Block): boolean {
  return isHeading(block) && (block.level === 1 || (block.level === 2 && parsePhaseHeading(block.text) !== null))
}

/** A workflow in a folder: `metadata.{json,yaml}` and `phases/<n>/phase.md`. */
export async function readWorkflowFolder(path: string, report: Sink): Promise<Workflow | null> {
  const folder = await Folder.open(path)
  const reader = new FolderReader(folder, path, report)
  if (!(await reader.isWorkflow())) {
    const message = `${path} is a folder, and has neither metadata nor phases of a workflow.`
    report({ code: 'contract.unreadable', at: { line: 1, column: 1, path: '' }, message })
    return null
  }
  const metadata = await reader.metadata()
  const phases = await reader.phases()
  if (metadata === null || phases === null) return null
  const settings = readSettings(metadata, { name: basename(folder.path) }, report)
  return assemble(settings, phases, reader.heads, report)
}

class FolderReader {
  readonly heads = new Map<number, MapNode>()

  constructor(
    private readonly folder: Folder,
    private readonly path: string,
    private readonly report: Sink,
  ) {}

  async isWorkflow(): Promise<boolean> {
    const names = ((await this.folder.listEntries('.')) ?? []).map((entry) => entry.name)
    return ['phases', ...METADATA].some((name) => names.includes(name))
  }

  async metadata(): Promise<MapNode | null> {
    const found: (MapNode | null)[] = []
    for (const name of METADATA) {
      const text = await this.text(name)
      if (typeof text !== 'string') continue
      const node = readYaml(text, { shown: join(this.path, name), line: 1, column: 1 }, this.report)
      if (node !== null && node.kind !== 'map')
        this.report({ code: 'bad_yaml', at: node.at, message: 'Expected a map of keys and values.' })
      found.push(node?.kind === 'map' ? node : null)
    }
    const at = this.place('metadata.yaml')
    if (found.length === 0) {
      const message = `${this.path} has no metadata.json and no metadata.yaml.`
      this.report({ code: 'contract.missing_field', at, message, remedy: 'Add one with workflow_type and version.' })
    }
    if (found.length > 1)
      this.report({ code: 'contract.duplicate_key', at, message: 'There are two files of metadata; keep one.' })
    return found.length === 1 ? (found[0] ?? null) : null
  }

  async phases(): Promise<PhaseSource[] | null> {
    const entries = await this.folder.listEntries('phases')
    if (entries === null) {
      const message = `${this.path} has no folder 'phases'.`
      this.report({ code: 'contract.no_phases', at: this.place('phases'), message, remedy: 'Add phases/1/phase.md.' })
      return null
    }
    const numbered = entries.filter((entry) => /^\d{1,4}$/.test(entry.name))
    for (const { name, isFolder } of entries)
      if (
        isFolder &&
        !/^\d{1,4}$/.test(name) &&
        (await this.folder.readText(`phases/${name}/phase.md`)).status !== 'absent'
      )
        this.reportMisnamed(`phases/${name}`, 'a folder of a phase has the name of its number')
    if (numbered.length > PHASES_MAX || entries.length > ENTRIES_MAX) {
      this.report({ code: 'contract.too_many', at: this.place('phases'), message: `More than ${PHASES_MAX} phases.` })
      return null
    }
    const phases: PhaseSource[] = []
    let isWhole = true
    for (const { name } of numbered.sort((a, b) => Number(a.name) - Number(b.name))) {
      const phase = await this.phase(name)
      if (phase === null) isWhole = false
      else phases.push(phase)
    }
    return isWhole ? phases : null
  }

  private async phase(name: string): Promise<PhaseSource | null> {
    const dir = `phases/${name}`
    const file = `${dir}/phase.md`
    const text = await this.text(file)
    if (text === null)
      this.report({ code: 'contract.unreadable', at: this.place(file), message: `${file} is not there.` })
    if (typeof text !== 'string') return null
    const source = readSource(text, { shown: join(this.path, file), file }, this.report)
    if (source === null) return null
    const head = readHead(source.head, this.report)
    const number = Number(name)
    if (head !== null) this.heads.set(number, head)
    const first = source.blocks.find(isHeading) ?? null
    reportOtherNumber(source, { number, title: first, head }, this.report)
    const start = source.lines.findIndex((line) => line.trim() !== '')
    return {
      number,
      source,
      blocks: source.blocks,
      title: first?.level === 1 ? first : null,
      content: source.lines.slice(Math.max(start, 0)).join('\n').trimEnd(),
      line: Math.max(start, 0) + 1,
      gateFile: await this.gateFile(dir),
      none: null,
      tasks: await this.tasks(dir),
    }
  }

  private async gateFile(dir: string): Promise<YamlGate | null> {
    const file = `${dir}/${GATE_FILE}`
    const text = await this.text(file)
    if (typeof text !== 'string') return null
    const node = readYaml(text, { shown: join(this.path, file), line: 1, column: 1 }, this.report)
    return node === null ? null : readYamlGate(node, file, this.report)
  }

  private async tasks(dir: string): Promise<PhaseSource['tasks']> {
    const entries = (await this.folder.listEntries(dir)) ?? []
    for (const { name } of entries) {
      if (LIKE_GATE_FILE.test(name) && name !== GATE_FILE)
        this.reportMisnamed(`${dir}/${name}`, `the name is ${GATE_FILE}`)
      if (LIKE_TASK.test(name) && !TASK.test(name))
        this.reportMisnamed(`${dir}/${name}`, 'tasks are named task-<k>-*.md')
    }
    const found = entries.flatMap(({ name }) => {
      const number = TASK.exec(name)?.[1]
      return number === undefined ? [] : [{ name, number: Number(number) }]
    })
    if (found.length > TASKS_MAX)
      this.report({ code: 'contract.too_many', at: this.place(dir), message: `More than ${TASKS_MAX} tasks.` })
    const tasks: { id: string; title: string; content: string }[] = []
    for (const { name, number } of found.sort((a, b) => a.number - b.number).slice(0, TASKS_MAX)) {
      const file = `${dir}/${name}`
      const text = await this.text(file)
      const source =
        typeof text === 'string' ? readSource(text, { shown: join(this.path, file), file }, this.report) : null
      if (source === null) continue
      const id = `task-${number}`
      if (tasks.some((task) => task.id === id))
        this.report({ code: 'contract.duplicate_id', at: this.place(file), message: `There is another ${id}.` })
      const title = source.blocks.find(isHeading)?.text ?? id
      tasks.push({ id, title, content: source.lines.join('\n').trim() })
    }
    return tasks
  }

  /** The text; null when the file does not exist, undefined when it was refused. */
  private async text(file: string): Promise<string | null | undefined> {
    const read = await this.folder.readText(file)
    if (read.status === 'text') return read.text
    if (read.status === 'absent') return null
    const message = `${file} cannot be loaded: ${read.reason}.`
    this.report({ code: getCodeOfReason(read.reason), at: this.place(file), message })
    return undefined
  }

  // A file that is silently skipped would be a phase, a gate or a task that is not enforced.
  private reportMisnamed(file: string, why: string): void {
    this.report({ code: 'contract.invalid_value', at: this.place(file), message: `${file} is not read: ${why}.` })
  }

  private place(file: string): Place {
    return { line: 1, column: 1, path: '', file: join(this.path, file) }
  }
}

function assemble(
  settings: Settings,
  phases: readonly PhaseSource[],
  heads: ReadonlyMap<number, MapNode>,
  report: Sink,
): Workflow | null {
  if (phases.length === 0) {
    const message = 'The workflow has no phases.'
    report({ code: 'contract.no_phases', at: settings.at, message, remedy: 'Add a heading `## Phase 1: Name`.' })
    return null
  }
  if (phases.length > PHASES_MAX) {
    report({ code: 'contract.too_many', at: settings.at, message: `More than ${PHASES_MAX} phases.` })
    return null
  }
  if (!checkNumbers(settings, phases, report)) return null
  const described = phases.map((phase) => {
    const { entries, isNone } = mergePhaseEntries(settings, phase.number, heads.get(phase.number) ?? null)
    const at: Place = { line: phase.line, column: 1, path: '', file: phase.source.shown }
    entries.set('id', makeEntry(makeScalarNode(String(phase.number), at)))
    if (!entries.has('name')) entries.set('name', makeEntry(makeScalarNode(formatPhaseName(phase), at)))
    return { node: mapNode(entries, at), phase: isNone ? { ...phase, none: at } : phase }
  })
  const list: SourceNode = { kind: 'list', at: settings.at, items: described.map(({ node }) => node) }
  const root = new Map(settings.root)
  root.set('phases', makeEntry(list))
  return {
    root: { kind: 'map', at: settings.at, keyAt: null, entries: root },
    phases: described.map(({ phase }) => phase),
  }
}

function formatPhaseName({ title, number }: PhaseSource): string {
  return title === null ? `Phase ${number}` : (parsePhaseHeading(title.text)?.name ?? title.text)
}
