import { existsSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { sha256Hex } from '../base/sha256.js'

export const CONTRACT_FILE = 'agent_workflow.yaml'
/** The folder of a workflow of documents in a repository. */
export const WORKFLOW_FOLDER = 'agent_workflow'
const HASH_CHARS = 12
const NAME_CHARS_MAX = 40
const LEVELS_MAX = 64

/** Where the default state directories of all work trees are. */
export function getStateBase(environment: NodeJS.ProcessEnv = process.env): string {
  const base = readXdgFolder(environment.XDG_STATE_HOME, environment) ?? join(getHome(environment), '.local', 'state')
  return join(base, 'phaselock')
}

/** The default state directory of a work tree: never in the tree itself. */
export function getDefaultStateDir(workspace: string, environment: NodeJS.ProcessEnv = process.env): string {
  const real = existsSync(workspace) ? realpathSync(workspace) : resolve(workspace)
  const name = basename(real)
    .replace(/[^A-Za-z0-9_.-]+/g, '-')
    .replace(/^[-.]+/, '')
    .slice(0, NAME_CHARS_MAX)
  const hash = sha256Hex(real).slice(0, HASH_CHARS)
  return join(getStateBase(environment), `${name === '' ? 'root' : name}-${hash}`)
}

/** The sample project that `npm start` works on. */
export function getSamplePath(environment: NodeJS.ProcessEnv = process.env): string {
  const base = readXdgFolder(environment.XDG_DATA_HOME, environment) ?? join(getHome(environment), '.local', 'share')
  return join(base, 'phaselock', 'sample')
}

/** The state directory given by option or variable; null when none was given. */
export function findGivenStateDir(
  option: string | undefined,
  environment: NodeJS.ProcessEnv = process.env,
): string | null {
  const given = option ?? environment.PHASELOCK_STATE_DIR
  return given === undefined || given === '' ? null : resolve(given)
}

/** The folder and those above it, nearest first. */
export function listFoldersUpwards(from: string): readonly string[] {
  const found: string[] = []
  let at = resolve(from)
  while (found.length < LEVELS_MAX) {
    found.push(at)
    const above = dirname(at)
    if (above === at) break
    at = above
  }
  return found
}

// The XDG rules: a relative path counts as not set.
function readXdgFolder(value: string | undefined, environment: NodeJS.ProcessEnv): string | null {
  if (value === undefined || value === '') return null
  return value.startsWith('~/') ? join(getHome(environment), value.slice(2)) : value.startsWith('/') ? value : null
}

function getHome(environment: NodeJS.ProcessEnv): string {
  return environment.HOME ?? homedir()
}
