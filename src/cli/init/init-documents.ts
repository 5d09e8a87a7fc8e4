import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseDocument } from 'yaml'
import { findBundledContract } from '../../contract/bundled-contracts.js'
import { formatText } from '../../contract/format-diagnostics.js'
import { type LoadedContract, loadContractFile } from '../../contract/load/load-contract.js'
import { EXIT, Stop } from '../exit.js'
import type { FoundTests } from './found-tests.js'

/** Writes the bundled workflow of documents into a repository, with the repository's own test command. */
export async function writeDocuments(target: string, { command, allowsSigusr1 }: FoundTests): Promise<LoadedContract> {
  try {
    // A link could lead out of the repository: it is replaced, not followed.
    rmSync(target, { recursive: true, force: true })
    cpSync(findBundledContract('test-generation'), target, { recursive: true, errorOnExist: true, force: false })
    const metadata = join(target, 'metadata.yaml')
    const document = parseDocument(readFileSync(metadata, 'utf8'))
    if (command !== null) document.setIn(['commands', 'tests', 'run'], command)
    if (allowsSigusr1 === true) document.setIn(['commands', 'tests', 'sigusr1'], 'allow')
    writeFileSync(metadata, document.toString({ lineWidth: 118 }))
  } catch (error) {
    throw new Stop(EXIT.refused, `${target} cannot be written (${(error as NodeJS.ErrnoException).code ?? 'fault'}).`)
  }
  const loaded = await loadContractFile(target)
  if (!loaded.ok) throw new Stop(EXIT.refused, `${formatText(loaded.diagnostics)}The workflow does not load here.`)
  return loaded
}
