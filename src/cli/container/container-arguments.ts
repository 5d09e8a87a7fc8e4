import { spawnSync } from 'node:child_process'
import type { Engine, EngineName } from './engine.js'

/** Where the image keeps state. Only this container has the volume. */
const STATE_VOLUME = '/var/lib/phaselock'
export const STATE_INSIDE = `${STATE_VOLUME}/state`
/** Windows paths mean nothing in the container. */
const WORK_INSIDE = '/work'
const SOMEBODY = 1000

export interface ContainerPlan {
  readonly name: string
  readonly image: string
  readonly port: number
  readonly workspace: string
  /** Git settings of the person, in the file that is mounted. */
  readonly gitConfig: string
  /** What `phaselock serve` gets besides. */
  readonly serve: readonly string[]
}

/** The arguments that start the server in a container. */
export function buildRunArguments(engine: Engine, plan: ContainerPlan): readonly string[] {
  const inside = mapWorkspace(plan.workspace)
  return [
    ...['run', '--detach', '--name', plan.name, '--hostname', 'phaselock'],
    ...['--label', 'phaselock=server'],
    // Only this machine reaches it.
    ...['--publish', `127.0.0.1:${plan.port}:${plan.port}`],
    ...['--volume', `${plan.name}:${STATE_VOLUME}`],
    ...['--volume', `${plan.workspace}:${inside}`],
    ...['--volume', `${plan.gitConfig}:/etc/gitconfig:ro`],
    ...listUserArguments(engine),
    ...['--security-opt', 'no-new-privileges', '--pids-limit', '4096'],
    ...SANDBOX[engine.name],
    plan.image,
    ...['serve', '--host', '0.0.0.0', '--insecure-http', '--port', String(plan.port)],
    ...['--workspace', inside, '--state-dir', STATE_INSIDE, '--json', ...plan.serve],
  ]
}

/** The work tree has the same path inside, so that paths in answers are those of the host. */
export function mapWorkspace(workspace: string): string {
  return workspace.startsWith('/') ? workspace : WORK_INSIDE
}

// The sandbox makes namespaces and mounts of its own, /proc among them: the engine's filters would forbid it.
const SANDBOX: Readonly<Record<EngineName, readonly string[]>> = {
  docker: ['seccomp=unconfined', 'apparmor=unconfined', 'systempaths=unconfined'].flatMap(toSecurityOption),
  podman: ['seccomp=unconfined', 'unmask=ALL', 'label=disable'].flatMap(toSecurityOption),
}

function toSecurityOption(value: string): readonly string[] {
  return ['--security-opt', value]
}

/** Files that the server writes into the work tree belong to the person. */
function listUserArguments({ isRootless }: Engine): readonly string[] {
  const [uid, gid] = [process.getuid?.() ?? SOMEBODY, process.getgid?.() ?? SOMEBODY]
  return [
    ...(isRootless ? ['--userns', 'keep-id'] : []),
    ...['--user', `${uid}:${gid}`],
    // As root the server changes to another account for commands, which takes capabilities.
    ...(uid === 0 ? [] : ['--cap-drop', 'ALL']),
  ]
}

/** For git in the container: name and mail of the host for commits, and permission to use a tree of another user. */
export function buildGitConfig(workspace: string): string {
  const read = (key: string): string =>
    spawnSync('git', ['-C', workspace, 'config', key], { encoding: 'utf8' }).stdout?.trim() ?? ''
  const user = ['name', 'email'].flatMap((key) => {
    const value = read(`user.${key}`)
    return value === '' ? [] : [`\t${key} = ${JSON.stringify(value)}`]
  })
  return [
    ...(user.length === 0 ? [] : ['[user]', ...user]),
    '[safe]',
    `\tdirectory = ${JSON.stringify(mapWorkspace(workspace))}`,
    '',
  ].join('\n')
}
