import type { JsonObject } from '../json.js'

/** A place in a document of the workflow; the file is relative to the workflow's folder. */
export interface DocumentPlace {
  readonly file: string
  /** From 1. */
  readonly line: number
}

/** The document of one phase, which agents can read only while the phase is open or completed. */
export interface PhaseDocument {
  /** The phase number in the documents, also its id as text; null in a phase of a YAML contract. */
  readonly number: number | null
  /** The phase's whole document. */
  readonly content: string
  readonly sources: readonly DocumentPlace[]
  /** Of `content`, counted with a real tokenizer when the contract was loaded. */
  readonly totalTokens: number
  /** The example evidence of the document; {} when it gives none. */
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

/** The required grade of an evidence field: reported, a file of the work tree, or observed by Phaselock. */
export type EvidenceGrade = 'reported' | 'artifact' | 'observed'
