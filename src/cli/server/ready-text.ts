import type { Orchestrator } from '../../app/orchestrator.js'
import type { Confinement } from '../../confinement/confinement.js'
import type { Contract } from '../../core/contract/contract.js'
import { listPermissions } from '../../core/contract/contract-permissions.js'
import { plainLine } from '../../core/plain-text.js'
import { formatPermissionLines } from '../contracts/permission-text.js'
import type { SettledContract } from '../contracts/settle-contract.js'
import { getDefaultStateDir, getSamplePath } from '../places.js'
import { findProgramName } from '../program-name.js'
import { formatStateDirOption, formatStepLines, listAgentSteps, listSampleSteps } from '../terminal/next-steps.js'
import { paintText } from '../terminal/terminal.js'
import { readProgramVersion } from '../version.js'

/** The message for people when the server is ready. It says where the token is, never the token itself. */
export function formatReady(running: {
  readonly app: Orchestrator
  readonly confinement: Confinement
  readonly url: string
  /** Logs in once, within 10 minutes. */
  readonly login: string
  readonly settled: SettledContract
  readonly isInsecure: boolean
  /** What happens to the hooks of the repository. */
  readonly hooks: readonly string[]
}): string {
  const { app, url, settled } = running
  const { name, version, hash, enforcement } = app.contractOf
  const contract = settled.origin === 'file' ? settled.file : settled.origin.replace(':', ' ')
  const { secrets } = app
  const lines: (readonly [string, string])[] = [
    ['Dashboard', running.login],
    ['', `this link logs you in once, within 10 minutes; later: ${findProgramName()} login`],
    ['API', `${url}/api/v1`],
    ['Docs', `${url}/docs`],
    ['Contract', `${plainLine(name)} ${plainLine(version)} (${hash.slice(0, 12)}), ${enforcement.mode}`],
    ['', contract],
    ...settled.notes.map((note, index) => [index === 0 ? 'Changed' : '', note] as const),
    ['Work tree', app.workspace],
    ['State', app.stateDir],
    ['Operator', `token in ${secrets.operatorTokenFile}`],
    [
      'Signing',
      secrets.source === 'file'
        ? `secret generated into the state directory (signing.secret)`
        : `secret from the variable ${secrets.variable}`,
    ],
    ...formatPermissionLines(app.contractOf).map((line, index) => [index === 0 ? 'Asks for' : '', line] as const),
    ...running.hooks.map((line, index) => [index === 0 ? 'Git hooks' : '', line] as const),
    ...formatConfinedLines(running.confinement, app.contractOf),
    ...formatUnsentLines(app),
    ...(running.isInsecure
      ? [['Warning', 'plain HTTP on an open address: tokens can be read on the way'] as const]
      : []),
  ]
  const program = findProgramName()
  // The printed commands must reach this server, even from a folder where nothing leads to it.
  const where = formatStateDirOption(app.stateDir)
  const agents = app.contractOf.agents ?? new Map()
  const isSample = getDefaultStateDir(app.workspace) === getDefaultStateDir(getSamplePath())
  const listSteps = isSample ? listSampleSteps : listAgentSteps
  return [
    paintText('bold', `Phaselock ${readProgramVersion()} is ready.`),
    '',
    ...lines.map(([label, text]) => `  ${paintText('cyan', label.padEnd(10))} ${text}`),
    '',
    'Next:',
    ...formatStepLines(listSteps({ program, agents, environment: app.environment, where })),
    '',
    `Register an agent that you start yourself with: ${program} agent add${where} NAME`,
    'Ctrl-C stops.',
  ].join('\n')
}

// Nothing is sent unsigned if a signature was configured: operators must know.
function formatUnsentLines({ contractOf, environment }: Orchestrator): readonly (readonly [string, string])[] {
  return (contractOf.webhooks ?? []).flatMap(({ url, secretEnvVar }) =>
    secretEnvVar === null || (environment[secretEnvVar] ?? '') !== ''
      ? []
      : [['Webhooks', `NOT SENT to ${new URL(url).origin}: the variable ${secretEnvVar} is not set`] as const],
  )
}

// The guarantees for this contract: each was just tried, and a missing one is named with its remedy.
function formatConfinedLines(
  { provider, missing, notes }: Confinement,
  contract: Contract,
): readonly (readonly [string, string])[] {
  const asked = contract.enforcement.confinement
  if (asked === 'off')
    return [
      ['Confined', 'NO: the contract says confinement: off. Commands run without a sandbox,'],
      ['', 'with the rights of this server'],
    ]
  if (missing.length === 0)
    return [
      ['Confined', `${provider}: no writes outside the tree, no secrets, no network,`],
      ['', 'no other processes, never root; each was tried just now'],
      ...(hasNetwork(contract) ? [['', 'but the contract gives network to the commands listed above'] as const] : []),
      ...notes.map((note) => ['', note] as const),
    ]
  const lost = [...new Set(missing.map((one) => one.guarantee))]
  const [first] = missing
  return [
    ['Confined', `NOT ENFORCED: ${lost.join(', ')}`],
    ['', plainLine(first?.found ?? '')],
    ['', first?.remedy ?? ''],
    [
      '',
      asked === 'required'
        ? 'This contract requires it: if it runs commands, claims are refused. See: phaselock doctor'
        : 'This contract says confinement: best_effort: its commands run without a sandbox here.',
    ],
  ]
}

function hasNetwork(contract: Contract): boolean {
  return listPermissions(contract).some(({ kind, reach }) => kind === 'network' && reach === 'operator')
}
