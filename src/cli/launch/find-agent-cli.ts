import { spawnSync } from 'node:child_process'
import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import { EXIT, Stop } from '../exit.js'
import type { AgentCliKind } from './agent-cli-kind.js'

// Gemini CLI needs three seconds of a processor for this, and the machine may be busy.
const VERSION_MS_MAX = 60_000
const VERSION = /(\d+)\.(\d+)\.(\d+)/

/** What is needed to look for a program. */
type NamedCli = Pick<AgentCliKind, 'title' | 'program' | 'npmPackage'>

export interface FoundCli {
  readonly program: string
  readonly version: string
}

/** The agent CLI on the PATH and its version; stops with how to install it when it is missing. */
export function findAgentCli(kind: NamedCli, environment: NodeJS.ProcessEnv = process.env): FoundCli {
  const program = findProgram(kind, environment)
  if (program === null)
    throw new Stop(
      EXIT.refused,
      `${kind.title} is not installed: there is no program '${kind.program}' on the PATH.\nInstall it: npm install -g ${kind.npmPackage}\nThen log in once by starting \`${kind.program}\` itself.`,
    )
  const asked = spawnSync(program, ['--version'], { encoding: 'utf8', timeout: VERSION_MS_MAX, stdio: 'pipe' })
  const version = VERSION.exec(asked.stdout ?? '')?.[0]
  if (version !== undefined) return { program, version }
  const isLate = (asked.error as NodeJS.ErrnoException | undefined)?.code === 'ETIMEDOUT'
  throw new Stop(
    EXIT.refused,
    isLate
      ? `${program} --version did not answer within ${VERSION_MS_MAX / 1000} seconds, and nothing can be promised about an unknown version.\nTry again when the machine is less busy.`
      : `${program} does not say its version, so that nothing can be promised about it.\nInstall it again: npm install -g ${kind.npmPackage}`,
  )
}

/** Where the agent CLI is on the PATH; null when it is not installed. */
export function findProgram(
  kind: Pick<NamedCli, 'program'>,
  environment: NodeJS.ProcessEnv = process.env,
): string | null {
  const paths = (environment.PATH ?? '').split(delimiter).filter(isAbsolute)
  return paths.map((folder) => join(folder, kind.program)).find(isProgram) ?? null
}

/** Stops when the version is older than the binding needs. */
export function requireVersion(kind: NamedCli, found: FoundCli, needed: { least: string; what: string }): void {
  if (compareVersions(found.version, needed.least) >= 0) return
  throw new Stop(
    EXIT.refused,
    `${kind.title} ${found.version} is too old for ${needed.what}: ${needed.least} or newer is needed. [agent_cli_too_old]\nUpdate it: npm install -g ${kind.npmPackage}@latest (it needs a current Node.js; an older one gets an older version).`,
    { code: 'agent_cli_too_old', version: found.version, least: needed.least },
  )
}

/** Below 0: the first is older. */
export function compareVersions(one: string, other: string): number {
  const [left, right] = [one, other].map((version) => (VERSION.exec(version) ?? []).slice(1).map(Number))
  for (let index = 0; index < 3; index += 1) {
    const difference = (left?.[index] ?? 0) - (right?.[index] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    // Not there or not executable: the next folder may have it.
    return false
  }
}
