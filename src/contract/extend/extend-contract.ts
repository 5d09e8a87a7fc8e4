import { realpath } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { dirname, join as joinNames } from 'node:path/posix'
import { BUNDLED_BASES, BUNDLED_PREFIX, isDocuments } from '../bundled-contracts.js'
import type { Place } from '../diagnostic.js'
import { isWorkflowText } from '../documents/detect.js'
import { isInside } from '../documents/folder.js'
import { type FileText, getCodeOfReason, makeFileLookup, readBounded } from '../load/bounded-files.js'
import { type MapNode, parseSource, type SourceNode } from '../load/yaml.js'
import { formatDidYouMean } from '../nearest.js'
import { expectKind } from '../read/fields.js'
import type { Reading } from '../read/reading.js'
import { findScalar } from './entry-names.js'
import { leaveOut } from './leave-out.js'
import { mergeContracts } from './merge-contracts.js'
import { expandToolGroups } from './tool-groups.js'

const DEPTH_MAX = 8
const BASES_MAX = 32

/** A file or preset that a contract extends. */
export interface BaseFile {
  /** The name in diagnostics: `phaselock/tdd`, or the path of the file. */
  readonly name: string
  /** Its path, and that of a link to it; empty for bundled ones. */
  readonly paths: readonly string[]
}

/** A file in a chain of extended files. */
interface Extending {
  /** Relative to the folder of the contract; null for a bundled one. */
  readonly path: string | null
  /** The files that lead here, by identity. */
  readonly chain: readonly string[]
}

/** The contract merged with everything that it extends, with tool groups expanded; null if a base cannot be read. */
export async function extendContract(
  reading: Reading,
  root: SourceNode,
  baseDir: string | null,
): Promise<SourceNode | null> {
  const own = basename(reading.file)
  const id = baseDir === null ? own : await identify(join(baseDir, own))
  return new Extender(reading, baseDir).extend(root, { path: own, chain: [id] })
}

/** The real path, or the given one if it does not exist. */
async function identify(path: string): Promise<string> {
  return realpath(path).catch(() => resolve(path))
}

class Extender {
  private readonly reading: Reading
  private readonly baseDir: string | null
  private count = 0

  constructor(reading: Reading, baseDir: string | null) {
    this.reading = reading
    this.baseDir = baseDir
  }

  async extend(node: SourceNode, from: Extending): Promise<SourceNode | null> {
    const { report } = this.reading
    const own = expandToolGroups(node, report)
    const named = own.kind === 'map' ? own.entries.get('extends') : undefined
    if (own.kind !== 'map') return own
    const without = own.entries.get('without')?.value
    if (named === undefined) {
      if (without !== undefined)
        this.refuse(without.at, 'The contract extends nothing.', 'Remove without, or add extends.')
      return own
    }
    const names = named.value.kind === 'list' ? named.value.items : [named.value]
    let base: MapNode | null = null
    let isWhole = names.length > 0
    for (const name of names) {
      const next = await this.load(name, from)
      if (next === null) isWhole = false
      else base = base === null ? next : mergeContracts(base, next, report)
    }
    if (names.length === 0) this.refuse(named.value.at, 'The list of extends is empty.', 'Name a base, or remove it.')
    if (base === null || !isWhole) return null
    const left = without?.kind === 'list' ? leaveOut(base, without, report) : base
    return mergeContracts(left, own, report)
  }

  private async load(name: SourceNode, from: Extending): Promise<MapNode | null> {
    const { reading } = this
    const given = findScalar(name)
    if (given === null || given.trim() === '')
      return this.refuse(name.at, 'Expected the name of a preset or the path of a file.', KNOWN)
    this.count += 1
    if (this.count > BASES_MAX || from.chain.length > DEPTH_MAX) {
      const [code, limit] =
        from.chain.length > DEPTH_MAX
          ? (['contract.too_deep', `more than ${DEPTH_MAX} contracts in a row`] as const)
          : (['contract.too_many', `more than ${BASES_MAX} bases`] as const)
      const message = `The contract extends ${limit}.`
      reading.report({ code, at: name.at, message, remedy: 'Put some of them into one file.' })
      return null
    }
    const found = await this.find(given, name.at, from)
    if (found === null) return null
    const { base, text, next } = found
    const source = parseSource(text, reading.report, base.name)
    const node = source === null ? null : await this.extend(source, next)
    if (node === null) return null
    reading.bases.push(base)
    return expectKind(reading, node, 'map')
  }

  private async find(given: string, at: Place, from: Extending) {
    return given.startsWith(BUNDLED_PREFIX) ? this.findBundled(given, at, from) : this.findFile(given, at, from)
  }

  private async findBundled(given: string, at: Place, { chain }: Extending) {
    const path = BUNDLED_BASES.get(given)
    if (path === undefined) {
      const isFolder = isDocuments(given.slice(BUNDLED_PREFIX.length))
      const message = isFolder
        ? `'${given}' is a workflow of documents, which cannot be extended.`
        : `There is no '${given}'.`
      this.reading.report({
        code: 'contract.unknown_base',
        at,
        message,
        remedy: `${formatDidYouMean(given, BUNDLED_BASES.keys())}${KNOWN}`,
      })
      return null
    }
    const file = this.take(given, await readBounded(path), at)
    if (file === null || this.isCycle(given, at, chain)) return null
    return { base: { name: given, paths: [] }, text: file, next: { path: null, chain: [...chain, given] } }
  }

  // Paths are relative to the file that names them; all of them stay below the folder of the contract.
  private async findFile(given: string, at: Place, { path, chain }: Extending) {
    const relative = isInside(given) && path !== null ? joinNames(dirname(path), given) : given
    const text = this.take(given, await makeFileLookup(this.baseDir)(relative), at)
    if (text === null || this.baseDir === null) return null
    const name = join(this.reading.file, '..', relative)
    if (isWorkflowText(text, relative))
      return this.refuse(at, `'${given}' is a workflow of documents, which cannot be extended.`, 'Extend a YAML file.')
    const [named, real] = [join(await identify(this.baseDir), relative), await identify(join(this.baseDir, relative))]
    if (this.isCycle(real, at, chain)) return null
    const base = { name, paths: [...new Set([named, real])] }
    return { base, text, next: { path: relative, chain: [...chain, real] } }
  }

  /** The text of a base; reports why it cannot be read. */
  private take(given: string, file: FileText, at: Place): string | null {
    if (file.status === 'text') return file.text
    if (file.status === 'refused') {
      const message = `'${given}' cannot be extended: ${file.reason}.`
      this.reading.report({ code: getCodeOfReason(file.reason), at, message })
      return null
    }
    const isSent = this.baseDir === null
    const message = isSent
      ? `'${given}' cannot be extended: a contract that is sent by itself has no files with it.`
      : `There is no file '${given}'.`
    const remedy = isSent
      ? 'Extend what ships with Phaselock, or send the file with `phaselock contract add FILE`.'
      : `${formatDidYouMean(`${BUNDLED_PREFIX}${given}`, BUNDLED_BASES.keys())}Paths are relative to the file that names them. ${KNOWN}`
    this.reading.report({ code: 'contract.unknown_base', at, message, remedy })
    return null
  }

  private isCycle(id: string, at: Place, chain: readonly string[]): boolean {
    const start = chain.indexOf(id)
    if (start < 0) return false
    const way = [...chain.slice(start), id].map((one) => (one.startsWith(BUNDLED_PREFIX) ? one : basename(one)))
    const message = `The contract extends itself: ${way.join(' -> ')}.`
    this.reading.report({ code: 'contract.extends_cycle', at, message })
    return true
  }

  private refuse(at: Place, message: string, remedy: string): null {
    this.reading.report({ code: 'contract.invalid_value', at, message, remedy })
    return null
  }
}

const KNOWN = `Known: ${[...BUNDLED_BASES.keys()].join(', ')}; or the path of a file below the folder of the contract.`
