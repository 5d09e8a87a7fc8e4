import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { readFileIfPresent, writeFileAtomically } from '../../base/atomic-file.js'
import { compileDocument } from '../../contract/compile/compile-document.js'
import { hashJson, toCanonicalJson } from '../../contract/fingerprint.js'
import type { Contract } from '../../core/contract/contract.js'
import type { ContractPin } from '../../core/contract/contract-trust.js'
import type { JsonObject } from '../../core/json.js'
import { EXIT, Stop } from '../exit.js'

const PINS_MAX = 1000

/** A contract as it was accepted, with its schemas, guides and documents. */
interface PinnedText {
  readonly contract: Contract
  readonly document: JsonObject
}

interface PinsOnDisk {
  readonly pins: readonly (Omit<ContractPin, 'isTrusted'> & { readonly trusted: boolean })[]
  readonly withdrawn: readonly string[]
}

/**
 * The accepted contract of each work tree, stored in the state directory, where agents cannot reach it. (REQ-TRUST-2)
 */
export class ContractPins {
  readonly #folder: string
  readonly #file: string

  constructor(stateDir: string) {
    this.#folder = join(stateDir, 'contracts')
    this.#file = join(this.#folder, 'pins.json')
  }

  list(): readonly ContractPin[] {
    return this.#read().pins.map(({ trusted, ...pin }) => ({ ...pin, isTrusted: trusted }))
  }

  findPin(workspace: string): ContractPin | null {
    return this.list().find((pin) => pin.workspace === workspace) ?? null
  }

  isWithdrawn(hash: string): boolean {
    return this.#read().withdrawn.includes(hash)
  }

  /** The pinned text, read from the state directory and compared with its hash. */
  readPinnedText({ hash }: ContractPin): PinnedText {
    const content = readFileIfPresent(this.#textFile(hash))
    const document = content === null ? null : (JSON.parse(content.toString('utf8')) as JsonObject)
    if (document === null || hashJson(document) !== hash)
      throw new Stop(
        EXIT.refused,
        `The accepted text of the contract (${this.#textFile(hash)}) is missing or was changed.\nAccept the contract again with \`phaselock trust\`.`,
      )
    return { contract: compileDocument(document, hash), document }
  }

  /** Pins the contract for its work tree, replacing an earlier one. */
  pin(pin: Omit<ContractPin, 'hash' | 'name' | 'version'>, { contract, document }: PinnedText): void {
    const { hash, name, version } = contract
    const { isTrusted: trusted, ...about } = pin
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
    writeFileAtomically(this.#textFile(hash), toCanonicalJson(document))
    const { pins, withdrawn } = this.#read()
    const others = pins.filter((one) => one.workspace !== pin.workspace).slice(1 - PINS_MAX)
    this.#write({
      pins: [...others, { ...about, hash, name, version, trusted }],
      withdrawn: withdrawn.filter((one) => one !== hash),
    })
  }

  /** Removes the pin of a work tree. Its contract no longer counts, although the ledger knows it. */
  withdraw(pin: ContractPin): void {
    const { pins, withdrawn } = this.#read()
    this.#write({
      pins: pins.filter((one) => one.workspace !== pin.workspace),
      withdrawn: [...withdrawn.filter((one) => one !== pin.hash), pin.hash].slice(-PINS_MAX),
    })
  }

  #textFile(hash: string): string {
    return join(this.#folder, `${hash}.json`)
  }

  #read(): PinsOnDisk {
    const content = readFileIfPresent(this.#file)
    if (content === null) return { pins: [], withdrawn: [] }
    try {
      return JSON.parse(content.toString('utf8')) as PinsOnDisk
    } catch {
      throw new Stop(
        EXIT.refused,
        `${this.#file} is damaged: it says which contracts are trusted.\nRemove it, and accept the contract of each work tree again with \`phaselock trust\`.`,
      )
    }
  }

  #write(pins: PinsOnDisk): void {
    writeFileAtomically(this.#file, `${JSON.stringify(pins, null, 2)}\n`)
  }
}
