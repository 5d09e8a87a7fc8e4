import { realpathSync } from 'node:fs'
import { type LoadedContract, type LoadResult, loadContractFile } from '../../contract/load/load-contract.js'
import type { Contract } from '../../core/contract/contract.js'
import { isBelowConfinement, isSandboxOnly } from '../../core/contract/contract-permissions.js'
import { type ContractPin, judgeFound, type TrustVerdict } from '../../core/contract/contract-trust.js'
import type { KnownContract } from '../../core/identity/registry.js'
import type { JsonObject } from '../../core/json.js'
import { plainLine } from '../../core/plain-text.js'
import { EXIT, Stop } from '../exit.js'
import { findProgramName, quoteShellWord } from '../program-name.js'
import { canAsk, confirm, tell } from '../terminal/terminal.js'
import { chooseContract, isBelow, listBasePaths, loadChosen, ownContract, shortenPath } from './choose-contract.js'
import { ContractPins } from './contract-pins.js'
import { formatPermissionLines } from './permission-text.js'

/** The contract that a server starts with, and on whose authority. */
export interface SettledContract {
  readonly contract: Contract
  readonly document: JsonObject
  /** Where it was read from, for people. */
  readonly file: string
  /** `bundled:tdd` or `file`. */
  readonly origin: string
  /** Files that agents must not touch; null for a bundled contract. */
  readonly contractFile: string | null
  /** Files that it extends: absolute paths. */
  readonly contractBases: readonly string[]
  readonly contractParts: readonly string[]
  readonly isTrusted: boolean
  /** Why the used text differs from the one in the work tree, and how to accept the new one. */
  readonly notes: readonly string[]
}

export interface WantedContract {
  /** As given with `--contract`. */
  readonly contract?: string
  readonly minConfinement?: Contract['enforcement']['confinement']
  readonly stateDir: string
  readonly workspace: string
  /** Options given by the operator, repeated in the commands of messages. */
  readonly givenStateDir: string | null
}

/** The contracts that the ledger knows, by hash. */
type ReadKnown = () => Promise<ReadonlyMap<string, KnownContract>>

/** The contract to start with. Stops if no operator has accepted its permissions. (REQ-TRUST-2) */
export async function settleContract(wanted: WantedContract, readKnown: ReadKnown): Promise<SettledContract> {
  const settled = wanted.contract === undefined ? await settleFound(wanted, readKnown) : await settleNamed(wanted)
  const { confinement } = settled.contract.enforcement
  if (isBelowConfinement(confinement, wanted.minConfinement ?? null))
    throw new Stop(
      EXIT.refused,
      `${settled.file} asks for confinement ${confinement}, and --min-confinement demands ${wanted.minConfinement}.\nChange enforcement.confinement in the contract, or start without --min-confinement.`,
    )
  return settled
}

/** The files next to a contract that belong to it. */
function listFiles(loaded: LoadedContract | null): Pick<SettledContract, 'contractBases' | 'contractParts'> {
  if (loaded === null) return { contractBases: [], contractParts: [] }
  return { contractBases: listBasePaths(loaded), contractParts: loaded.parts }
}

// An operator who names a contract accepts it.
async function settleNamed(wanted: WantedContract): Promise<SettledContract> {
  const choice = chooseContract(wanted.contract, wanted.workspace)
  const loaded = await loadChosen(choice)
  const isFile = choice.origin === 'file'
  const file = isFile ? realpathSync(loaded.file) : null
  const own = ownContract(wanted.workspace)
  if (own !== null && file === realpathSync(own))
    pinFound(wanted, { ...loaded, own }, { by: 'contract', isTrusted: true })
  const about = { origin: choice.origin, contractFile: file, ...listFiles(isFile ? loaded : null) }
  return { ...loaded, ...about, isTrusted: true, notes: [] }
}

async function settleFound(wanted: WantedContract, readKnown: ReadKnown): Promise<SettledContract> {
  const pins = new ContractPins(wanted.stateDir)
  const pinned = pins.findPin(wanted.workspace)
  const isBinding = pinned !== null && (pinned.by !== 'init' || (await readKnown()).has(pinned.hash))
  const own = ownContract(wanted.workspace, pinned?.file)
  if (own === null && !isBinding) return settleBundled(wanted)
  const loaded = own === null ? null : await loadFound(own, isBinding)
  const hash = loaded?.ok === true ? loaded.contract.hash : null
  // The contract that `init` wrote is meant to be edited: until a server has used it, an edited text counts as a new
  // one.
  const pin = isBinding || hash === pinned?.hash ? pinned : null
  const verdict = judgeFound({
    hash,
    pin,
    known: hash === null || hash === pin?.hash ? undefined : (await readKnown()).get(hash),
    isWithdrawn: hash !== null && pins.isWithdrawn(hash),
    isSandboxOnly: loaded?.ok === true && isSandboxOnly(loaded.contract) && isBelow(wanted.workspace, own ?? ''),
    canAsk: canAsk(),
  })
  if (verdict === 'pinned_text' && pin !== null) return settlePinned(wanted, { pins, pin, own, loaded })
  // Without a pin, a contract that does not load has stopped the start already.
  if (own === null || loaded?.ok !== true) throw new Error('a contract was judged that is not there')
  if (verdict === 'refuse') throw stopUntrusted(wanted, own, loaded.contract)
  if (verdict === 'ask') await askAbout(own, loaded.contract)
  const isTrusted = verdict === 'as_pinned' ? pin?.isTrusted === true : verdict !== 'unasked'
  if (verdict !== 'as_pinned') pinFound(wanted, { ...loaded, own }, { by: PINNED_BY[verdict], isTrusted })
  const about = { origin: 'file', file: shortenPath(own), contractFile: realpathSync(own), ...listFiles(loaded) }
  return { ...loaded, ...about, isTrusted, notes: [] }
}

const PINNED_BY: Readonly<Record<TrustVerdict, string>> = {
  ask: 'terminal',
  registered: 'registered',
  unasked: 'found',
  ...{ as_pinned: '', pinned_text: '', refuse: '' },
}

async function settleBundled(wanted: WantedContract): Promise<SettledContract> {
  const choice = chooseContract(undefined, wanted.workspace)
  const loaded = await loadChosen(choice)
  return { ...loaded, origin: choice.origin, contractFile: null, ...listFiles(null), isTrusted: true, notes: [] }
}

// If another text is pinned, a contract that does not load does not stop the start.
function loadFound(own: string, isPinned: boolean): Promise<LoadResult> {
  const path = shortenPath(own)
  return isPinned ? loadContractFile(path) : loadChosen({ path, origin: 'file' })
}

interface ChangedContract {
  readonly pins: ContractPins
  readonly pin: ContractPin
  readonly own: string | null
  readonly loaded: LoadResult | null
}

function settlePinned(wanted: WantedContract, { pins, pin, own, loaded }: ChangedContract): SettledContract {
  const { contract, document } = pins.readPinnedText(pin)
  const file = shortenPath(own ?? pin.file)
  const state = own === null ? 'is gone' : loaded?.ok === true ? 'was changed' : 'was changed and does not load'
  const isExtending = (pin.bases ?? []).length > 0 || (loaded?.ok === true && loaded.bases.length > 0)
  const files = listFiles(loaded?.ok === true ? loaded : null)
  const remedy =
    own === null
      ? `To start without it: ${formatCommand(wanted, 'untrust', pin.file)}`
      : `To use the new text: ${formatCommand(wanted, 'trust', own)}`
  return {
    ...{ contract, document, file, origin: 'file', isTrusted: pin.isTrusted },
    contractFile: own === null ? pin.file : realpathSync(own),
    contractBases: [...new Set([...(pin.bases ?? []), ...files.contractBases])],
    contractParts: [...new Set([...pin.parts, ...files.contractParts])],
    notes: [
      `${plainLine(file)}${isExtending && own !== null ? ' or what it extends' : ''} ${state} since ${new Date(pin.at).toISOString()}. The accepted text (${pin.hash.slice(0, 12)}) is used.`,
      remedy,
    ],
  }
}

function pinFound(
  { stateDir, workspace }: WantedContract,
  {
    contract,
    document,
    parts,
    bases,
    own,
  }: Pick<LoadedContract, 'contract' | 'document' | 'parts' | 'bases'> & { readonly own: string },
  { by, isTrusted }: { readonly by: string; readonly isTrusted: boolean },
): void {
  const pins = new ContractPins(stateDir)
  const before = pins.findPin(workspace)
  if (before?.hash === contract.hash && before.isTrusted && before.file === own) return
  const files = { parts, bases: listBasePaths({ bases }) }
  pins.pin({ workspace, file: own, ...files, isTrusted, by, at: Date.now() }, { contract, document })
}

async function askAbout(own: string, contract: Contract): Promise<void> {
  tell(askText(own, contract))
  if (!(await confirm('Start with it?'))) throw new Stop(EXIT.refused, 'Nothing was started.')
}

function askText(own: string, contract: Contract): string {
  const { name, version, hash } = contract
  const about = `${plainLine(name)} ${plainLine(version)} (${hash.slice(0, 12)})`
  return [
    `${plainLine(shortenPath(own))} is a contract that you have not accepted yet: ${about}`,
    ...formatLinkLines(own),
    'It asks for:',
    ...formatPermissionLines(contract).map((line) => `  ${line}`),
  ].join('\n')
}

function formatLinkLines(own: string): readonly string[] {
  const real = realpathSync(own)
  return real === own ? [] : [`The file is a link to ${plainLine(real)}`]
}

function stopUntrusted(wanted: WantedContract, own: string, contract: Contract): Stop {
  const message = [
    askText(own, contract),
    '',
    'That is more than commands in the sandbox, and nobody has accepted it. Nothing was started.',
    `Read it, then accept it with: ${formatCommand(wanted, 'trust', own)}`,
  ]
  return new Stop(EXIT.refused, message.join('\n'))
}

/** The command line to use from the current folder. */
function formatCommand({ givenStateDir }: WantedContract, command: 'trust' | 'untrust', file: string): string {
  const where = givenStateDir === null ? '' : ` --state-dir ${quoteShellWord(givenStateDir)}`
  return `${findProgramName()} ${command} ${quoteShellWord(plainLine(shortenPath(file)))}${where}`
}
