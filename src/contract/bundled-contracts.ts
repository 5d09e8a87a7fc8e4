import { fileURLToPath } from 'node:url'
import { PACKAGE_ROOT } from '../base/package-root.js'

const FOLDER = new URL('contracts/', PACKAGE_ROOT)

/** The contracts that ship with Phaselock. */
export const BUNDLED_CONTRACTS = [
  'bugfix',
  'dependency-update',
  'docs',
  'guardrails',
  'plan-review',
  'refactor',
  'release',
  'security-review',
  'small-change',
  'spec-driven',
  'spike',
  'tdd',
  'test-generation',
] as const
/** Those that are folders of documents. */
const DOCUMENTS: readonly BundledContract[] = ['test-generation']
export type BundledContract = (typeof BUNDLED_CONTRACTS)[number]

export function isBundledContract(name: string): name is BundledContract {
  return BUNDLED_CONTRACTS.some((bundled) => bundled === name)
}

/** The path of a contract that ships with Phaselock: a file, or the folder of a workflow of documents. */
export function findBundledContract(name: BundledContract): string {
  return fileURLToPath(new URL(isDocuments(name) ? name : `${name}.yaml`, FOLDER))
}

export function isDocuments(name: BundledContract): boolean {
  return DOCUMENTS.includes(name)
}

/** The folder of the built-in artifact schemas (`plan.json` and the others). */
export function findBuiltInSchemas(): string {
  return fileURLToPath(new URL('schemas/', FOLDER))
}
