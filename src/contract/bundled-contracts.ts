import { existsSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { PACKAGE_ROOT } from '../base/package-root.js'

const FOLDER = new URL('contracts/', PACKAGE_ROOT)
const ENDING = '.yaml'

/** The workflows that ship with Phaselock as one file each, by name. */
const WORKFLOWS = listNames(FOLDER)
/** Those that are folders of documents. */
const DOCUMENTS = readdirSync(FOLDER).filter((name) => existsSync(new URL(`${name}/phases`, FOLDER)))
const PRESETS_FOLDER = new URL('presets/', FOLDER)

/** The contracts that ship with Phaselock: every file in the folder. */
export const BUNDLED_CONTRACTS: readonly string[] = [...WORKFLOWS, ...DOCUMENTS].sort()

export function isBundledContract(name: string): boolean {
  return BUNDLED_CONTRACTS.includes(name)
}

/** The path of a contract that ships with Phaselock: a file, or the folder of a workflow of documents. */
export function findBundledContract(name: string): string {
  return fileURLToPath(new URL(isDocuments(name) ? name : `${name}${ENDING}`, FOLDER))
}

export function isDocuments(name: string): boolean {
  return DOCUMENTS.includes(name)
}

/** The folder of the built-in artifact schemas (`plan.json` and the others). */
export function findBuiltInSchemas(): string {
  return fileURLToPath(new URL('schemas/', FOLDER))
}

/** The prefix of bundled workflows and presets in `extends`: `phaselock/tdd`. */
export const BUNDLED_PREFIX = 'phaselock/'

/** Bundled names for `extends` with their files: presets of languages, and workflows in one file. */
export const BUNDLED_BASES: ReadonlyMap<string, string> = new Map([
  ...WORKFLOWS.map((name) => [`${BUNDLED_PREFIX}${name}`, findBundledContract(name)] as const),
  ...listNames(PRESETS_FOLDER).map(
    (name) => [`${BUNDLED_PREFIX}${name}`, fileURLToPath(new URL(`${name}${ENDING}`, PRESETS_FOLDER))] as const,
  ),
])

function listNames(folder: URL): readonly string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(ENDING))
    .map((name) => name.slice(0, -ENDING.length))
    .sort()
}
