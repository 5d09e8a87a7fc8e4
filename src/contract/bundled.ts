import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

// The same two steps up from src/contract and from dist/contract.
const FOLDER = new URL('../../contracts/', import.meta.url)

/** The path of a contract that ships with Phaselock, such as `tdd`; null when there is none of that name. */
export function bundledContract(name: string): string | null {
  return bundledContractNames().includes(name) ? fileURLToPath(new URL(`${name}.yaml`, FOLDER)) : null
}

export function bundledContractNames(): readonly string[] {
  return readdirSync(FOLDER)
    .filter((file) => file.endsWith('.yaml'))
    .map((file) => file.slice(0, -'.yaml'.length))
    .sort()
}

/** The folder of the built-in artifact schemas (`plan.json` and the others). */
export function builtInSchemasFolder(): string {
  return fileURLToPath(new URL('schemas/', FOLDER))
}
