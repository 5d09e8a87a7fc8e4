import { plainLine } from '../../core/plain-text.js'
import { runCanary } from '../canary/run-canary.js'
import type { BindingMode, ConnectKind } from '../connect/connect-kind.js'
import { CONNECT_KINDS } from '../connect/connect-kinds.js'
import { type ConnectStatus, listConnectStatus } from '../connect/connect-status.js'
import { ownContract } from '../contracts/choose-contract.js'
import { Stop } from '../exit.js'
import { type Finding, missing, ok, warning } from '../finding.js'
import { compareVersions, type FoundCli, findAgentCli, findProgram } from '../launch/find-agent-cli.js'
import { findProgramName } from '../program-name.js'
import { isPluginEnabled } from './plugin-enabled.js'

/** What binds each installed agent CLI in this repository, and whether it holds: a call is made that must be refused. */
export async function checkAgents(workspace: string, stateDir: string): Promise<readonly Finding[]> {
  const found: Finding[] = []
  for (const status of listConnectStatus(workspace, stateDir)) {
    const kind = CONNECT_KINDS.find(({ name }) => name === status.cli)
    if (kind !== undefined) found.push(...(await checkAgent(kind, status, workspace)))
  }
  return found
}

async function checkAgent(kind: ConnectKind, status: ConnectStatus, workspace: string): Promise<readonly Finding[]> {
  if (findProgram(kind) === null)
    return status.binding === null
      ? []
      : [warning(kind.name, 'connected, but not installed', `Install it: npm install -g ${kind.npmPackage}`)]
  const program = askVersion(kind)
  if (program instanceof Stop) return [explainNoVersion(kind, program)]
  if (status.binding === null) return checkUnconnected(kind, program, workspace)
  const again = `Run: ${findProgramName()} connect ${kind.name} --${status.mode}`
  const mode = status.mode === 'native' ? 'native' : 'tools-only'
  if (compareVersions(program.version, kind.least[mode]) < 0) return [findTooOld(kind, program.version, mode)]
  const changed = status.files.filter(({ state }) => state !== 'as_written')
  const about = `${program.version}, ${status.binding}, ${mode}`
  const files =
    changed.length === 0
      ? []
      : [warning(`${kind.name} files`, changed.map(({ file, state }) => `${file}: ${state}`).join('; '), again)]
  return [...files, await tryCanary(kind, { program: program.program, workspace, about, again })]
}

/** Without entries of `connect`: bound by the plugin, or not at all. */
async function checkUnconnected(
  kind: ConnectKind,
  { program, version }: FoundCli,
  workspace: string,
): Promise<readonly Finding[]> {
  const connect = `${findProgramName()} connect ${kind.name}`
  if (kind.name !== 'claude' || !isPluginEnabled(workspace))
    return [ok(kind.name, `${version}, no binding: a session here is not bound (\`${connect}\`)`)]
  if (ownContract(workspace) === null)
    return [
      ok(kind.name, `${version}, plugin; no contract here, so that it binds nothing (\`${findProgramName()} init\`)`),
    ]
  if (compareVersions(version, kind.least['tools-only']) < 0) return [findTooOld(kind, version, 'tools-only')]
  const again = `Look at \`claude plugin list\`, or bind by settings: ${connect}`
  return [await tryCanary(kind, { program, workspace, about: `${version}, plugin, tools-only`, again })]
}

function findTooOld(kind: ConnectKind, version: string, mode: BindingMode): Finding {
  return missing(
    kind.name,
    `${version} is too old for --${mode}: ${kind.least[mode]} or newer is needed [agent_cli_too_old]`,
    `Update it: npm install -g ${kind.npmPackage}@latest`,
  )
}

async function tryCanary(
  kind: ConnectKind,
  { program, workspace, about, again }: { program: string; workspace: string; about: string; again: string },
): Promise<Finding> {
  const name = `${kind.name} canary`
  if (kind.canary === null) return warning(name, `${about}; no call can be tried with this agent CLI`, '')
  const verdict = await runCanary({ program, workspace, ...kind.canary })
  switch (verdict.kind) {
    case 'refused':
      return ok(name, `${about}; a call of its shell tool was refused`)
    case 'executed':
      return missing(
        name,
        `${about}; a call of its shell tool WAS EXECUTED [enforcement_not_live]`,
        `The binding is not active. ${again}; settings that switch hooks off may be in the way (disableAllHooks).`,
      )
    case 'unknown':
      return warning(name, `${about}; ${plainLine(verdict.why)}`, again)
  }
}

function askVersion(kind: ConnectKind): FoundCli | Stop {
  try {
    return findAgentCli(kind)
  } catch (error) {
    if (error instanceof Stop) return error
    throw error
  }
}

function explainNoVersion({ name }: ConnectKind, { message }: Stop): Finding {
  const [what = '', remedy = ''] = message.split('\n')
  return warning(name, plainLine(what), remedy)
}
