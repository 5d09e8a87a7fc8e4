import { existsSync } from 'node:fs'
import { BUNDLED_CONTRACTS, findBundledContract, isBundledContract } from '../../contract/bundled-contracts.js'
import { findNearest } from '../../contract/nearest.js'
import { plainLine } from '../../core/plain-text.js'
import type { Client } from '../client/client.js'
import { EXIT, Stop } from '../exit.js'
import { findProgramName, quoteShellWord } from '../program-name.js'

const NAMES_SHOWN_MAX = 20

/** A contract on this machine, or one that the server knows by name or hash. */
type StartContract = { readonly path: string } | { readonly known: string }

/** The contract that was named. Nothing is changed yet: an unknown name stops here, before a run is aborted. */
export async function chooseStartContract(
  client: Client,
  named: string,
  task: string | undefined,
): Promise<StartContract> {
  // Bundled names first: a file that an agent left under such a name must not replace it.
  if (isBundledContract(named)) return { path: findBundledContract(named) }
  if (existsSync(named)) return { path: named }
  // Paths rarely contain spaces, and texts often contain slashes: "Add GET /health".
  if (!/\s/.test(named) && /[/\\]|\.(ya?ml|json|md|markdown)$/.test(named)) return { path: named }
  const { contracts } = await client.contracts()
  if (contracts.some(({ name, hash }) => name === named || hash === named)) return { known: named }
  const names = [...new Set([...BUNDLED_CONTRACTS, ...contracts.map(({ name }) => name)])]
  throw new Stop(EXIT.refused, formatUnknown(named, names, task))
}

/** Its hash on the server; a contract on this machine is registered first. */
export async function resolveContractHash(client: Client, choice: StartContract): Promise<string> {
  if ('known' in choice) return choice.known
  // Schemas and guides are next to the file on this machine: include them, so that the server looks nothing up.
  const { loadChosen } = await import('./choose-contract.js')
  const loaded = await loadChosen({ path: choice.path, origin: 'file' })
  return (await client.addContract({ contract: loaded.document })).hash
}

function formatUnknown(named: string, names: readonly string[], task: string | undefined): string {
  const close = /\s/.test(named) ? null : findNearest(named, names)
  const meant = close === null ? '' : ` Did you mean ${plainLine(close)}?`
  const shown = names.slice(0, NAMES_SHOWN_MAX).map(plainLine).join(', ')
  const more = names.length > NAMES_SHOWN_MAX ? ` and ${names.length - NAMES_SHOWN_MAX} more` : ''
  return [
    `There is no contract ${JSON.stringify(named)}.${meant}`,
    ...(task === undefined
      ? [
          'The argument of `start` is a contract. The text of a task goes after --task:',
          `  ${findProgramName()} start --task ${quoteShellWord(named)}`,
        ]
      : []),
    `Contracts: ${shown}${more}, or a file.`,
  ].join('\n')
}
