import { compileDocument } from '../../contract/compile/compile-document.js'
import { toCanonicalJson } from '../../contract/fingerprint.js'
import { compileSchema } from '../../contract/schemas.js'
import type { Contract, Enforcement } from '../../core/contract/contract.js'
import { isBelowConfinement } from '../../core/contract/contract-permissions.js'
import type { JsonObject } from '../../core/json.js'
import type { Refusal } from '../../core/task/refusal.js'
import type { Ledger } from '../ledger/ledger.js'

interface SchemaProblem {
  readonly pointer: string
  readonly message: string
}
type Validate = (value: unknown) => readonly SchemaProblem[]

interface Compiled {
  readonly contract: Contract
  readonly validators: Map<string, Validate>
}

const COMPILED_MAX = 200

/** The contracts of tasks, by hash. A stored contract never changes, whatever happens to its file. */
export class ContractBook {
  readonly #compiled = new Map<string, Compiled>()

  /** `least`: the minimum the server demands; applied also to contracts registered with less. */
  constructor(
    private readonly ledger: Ledger,
    readonly least: Enforcement['confinement'] | null = null,
  ) {}

  /**
   * Registers the contract, so that tasks can be created under it. Registering twice has no effect, and a trusted
   * contract stays trusted.
   */
  async register(
    loaded: { readonly contract: Contract; readonly document: JsonObject },
    by: { readonly origin: string; readonly actor: string; readonly now: number; readonly isTrusted: boolean },
  ): Promise<Refusal | null> {
    const { hash, name, version } = loaded.contract
    this.#keep(hash, { contract: loaded.contract, validators: new Map() })
    const trust = by.isTrusted ? {} : { trust: 'none' as const }
    return this.ledger.record({ type: 'contract_registered', hash, name, version, origin: by.origin, ...trust }, by, {
      blobs: [{ sha256: hash, content: toCanonicalJson(loaded.document) }],
    })
  }

  /** Whether an operator trusted the contract. */
  isTrusted(hash: string): boolean {
    return this.ledger.registry.contracts.get(hash)?.isTrusted === true
  }

  /** The contract of a task. Rejects when it was never registered, which cannot happen for an existing task. */
  async get(hash: string): Promise<Contract> {
    const known = this.#compiled.get(hash)
    return known === undefined ? (await this.#load(hash)).contract : known.contract
  }

  async document(hash: string): Promise<JsonObject | null> {
    if (!this.ledger.registry.contracts.has(hash)) return null
    const content = await this.ledger.store.readBlob(hash)
    return content === null ? null : (JSON.parse(content) as JsonObject)
  }

  /** The validator of one of the contract's schemas; compiled once. */
  async getValidator(hash: string, schema: string): Promise<Validate> {
    const compiled = await this.#load(hash)
    const known = compiled.validators.get(schema)
    if (known !== undefined) return known
    const definition = compiled.contract.schemas.get(schema)
    if (definition === undefined) throw new Error(`contract ${hash} has no schema ${JSON.stringify(schema)}`)
    const validate = compileSchema(definition)
    compiled.validators.set(schema, validate)
    return validate
  }

  async #load(hash: string): Promise<Compiled> {
    const known = this.#compiled.get(hash)
    if (known !== undefined) return known
    const document = await this.document(hash)
    if (document === null) throw new Error(`contract ${hash} is not in the store`)
    return this.#keep(hash, { contract: compileDocument(document, hash), validators: new Map<string, Validate>() })
  }

  #keep(hash: string, { contract, validators }: Compiled): Compiled {
    const { enforcement } = contract
    const isBelow = this.least !== null && isBelowConfinement(enforcement.confinement, this.least)
    const compiled = isBelow
      ? { contract: { ...contract, enforcement: { ...enforcement, confinement: this.least } }, validators }
      : { contract, validators }
    if (this.#compiled.size >= COMPILED_MAX) this.#compiled.delete(this.#compiled.keys().next().value ?? '')
    this.#compiled.set(hash, compiled)
    return compiled
  }
}
