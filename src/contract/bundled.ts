import { fileURLToPath } from 'node:url'

// The same two steps up from src/contract and from dist/contract.
const FOLDER = new URL('../../contracts/', import.meta.url)

/** The contracts that ship with Phaselock. */
export const BUNDLED_CONTRACTS = ['guardrails', 'plan-review', 'tdd'] as const
export type BundledContract = (typeof BUNDLED_CONTRACTS)[number]

export function isBundledContract(name: string): name is BundledContract {
  return BUNDLED_CONTRACTS.some((bundled) => bundled === name)
}

/** The path of a contract that ships with Phaselock. */
export function bundledContract(name: BundledContract): string {
  return fileURLToPath(new URL(`${name}.yaml`, FOLDER))
}

/** The folder of the built-in artifact schemas (`plan.json` and the others). */
export function builtInSchemasFolder(): string {
  return fileURLToPath(new URL('schemas/', FOLDER))
}
