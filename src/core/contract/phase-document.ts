import type { JsonObject } from '../json.js'

/** A place in a document of the workflow; the file is relative to the workflow's folder. */
export interface DocumentPlace {
  readonly file: string
  /** From 1. */
  readonly line: number
}

/** The document of one phase: what agents are given to read while the phase is open, and not before. */
export interface PhaseDocument {
  /** As the documents number it, the phase's id being the same number as a text; null in a phase of a YAML contract. */
  readonly number: number | null
  /** The phase's own document, complete and in order. */
  readonly content: string
  readonly sources: readonly DocumentPlace[]
  /** Of `content`, counted with a real tokenizer when the contract was loaded. */
  readonly totalTokens: number
  /** Evidence as the document's own example writes it; {} when it gives none. */
  readonly examples: JsonObject
  /** In the order of their numbers. */
  readonly tasks: readonly PhaseTask[]
}

export interface PhaseTask {
  /** `task-1` for `task-1-collect.md`. */
  readonly id: string
  readonly title: string
  readonly content: string
}

/** What an evidence field must be worth: told, a file of the work tree, or seen by Phaselock itself. */
export type EvidenceGrade = 'reported' | 'artifact' | 'observed'
