import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { formatSocketPath, type JobSocket, SOCKETS_AT } from '../confinement.js'
import { EMPTY } from '../view/base-root.js'
import { CACHE_INSIDE } from '../view/home-cache.js'
import { INSIDE_ID } from './identity.js'
import {
  buildBecomeArgs,
  buildCommandArgs,
  buildEnterArgs,
  INFO_FD,
  KEPT_CAPABILITIES,
  KERNEL_SECRETS,
  KERNEL_SETTINGS,
  type Launcher,
  SOCKETS_BYTES_MAX,
  TMP_BYTES_MAX,
} from './launch.js'

/** Starts the command with bubblewrap: namespaces, the base root, the work tree, a seccomp filter. */
export const launchWithBubblewrap: Launcher = (launch) => {
  const { identity, job } = launch
  const size = String(TMP_BYTES_MAX)
  const args = [
    ...['--die-with-parent', '--new-session', '--unshare-pid', '--unshare-ipc', '--unshare-uts'],
    ...['--unshare-cgroup-try', '--hostname', 'phaselock'],
    ...(job.network ? [] : ['--unshare-net']),
    ...(identity.kind === 'root'
      ? buildCapabilityArgs()
      : ['--unshare-user', '--uid', String(INSIDE_ID), '--gid', String(INSIDE_ID), '--disable-userns']),
    ...['--bind', launch.base, '/', '--proc', '/proc', ...buildProcessFileArgs(identity.kind), '--dev', '/dev'],
    ...['--perms', '1777', '--size', size, '--tmpfs', '/dev/shm', '--perms', '1777', '--size', size, '--tmpfs', '/tmp'],
    ...(launch.cache === null ? [] : ['--bind', launch.cache, CACHE_INSIDE]),
    ...launch.belowTmp.flatMap((path) => ['--ro-bind', join(launch.base, path), path]),
    ...[job.writes === 'read' ? '--ro-bind' : '--bind', launch.tree, job.tree],
    ...launch.held.flatMap(({ from, at }) => ['--bind', from, join(job.tree, at)]),
    ...(job.shown ?? []).flatMap((path) => ['--ro-bind', path, path]),
    ...buildSocketArgs(job.sockets ?? []),
    ...launch.readOnly.flatMap(({ from, at }) => ['--ro-bind', from, join(job.tree, at)]),
    ...launch.covered.flatMap(({ at, type }) =>
      type === 'directory'
        ? ['--size', '4096', '--tmpfs', join(job.tree, at), '--remount-ro', join(job.tree, at)]
        : ['--ro-bind', join(launch.base, EMPTY), join(job.tree, at)],
    ),
    ...['--remount-ro', '/', '--chdir', join(job.tree, job.cwd)],
    ...(launch.filterFd === null ? [] : ['--seccomp', String(launch.filterFd)]),
    ...['--info-fd', String(INFO_FD), '--'],
    ...buildBecomeArgs(launch),
    ...buildCommandArgs(launch, 'child'),
  ]
  return [...buildEnterArgs(launch), '--', launch.where('bwrap'), ...args]
}

// Each mount slows down every command: mount only what exists, and cover only files that others cannot read. Bubblewrap
// itself makes these folders read-only.
const COVERED_BY_BUBBLEWRAP: ReadonlySet<string> = new Set(['irq', 'bus'])
const SETTINGS = KERNEL_SETTINGS.filter((name) => existsSync(`/proc/${name}`) && !COVERED_BY_BUBBLEWRAP.has(name))
const SECRETS = KERNEL_SECRETS.filter((name) => isForRootAlone(`/proc/${name}`))

function isForRootAlone(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats !== undefined && (stats.mode & 0o004) === 0
}

function buildProcessFileArgs(kind: 'root' | 'user'): readonly string[] {
  if (kind === 'user') return ['--ro-bind', '/proc/sys', '/proc/sys']
  return [
    ...SETTINGS.flatMap((name) => ['--ro-bind', `/proc/${name}`, `/proc/${name}`]),
    ...SECRETS.flatMap((name) => ['--ro-bind', '/dev/null', `/proc/${name}`]),
  ]
}

// In a folder of this command alone: a mount point in the common root would stay visible to all others.
function buildSocketArgs(list: readonly JobSocket[]): readonly string[] {
  if (list.length === 0) return []
  const bound = list.flatMap(({ name, path }) => ['--ro-bind', path, formatSocketPath(name)])
  return ['--size', SOCKETS_BYTES_MAX, '--tmpfs', SOCKETS_AT, ...bound, '--remount-ro', SOCKETS_AT]
}

// Capabilities needed to switch to the account of commands, in addition to those that are kept.
function buildCapabilityArgs(): readonly string[] {
  const added = [...KEPT_CAPABILITIES, 'CAP_SETUID', 'CAP_SETGID', 'CAP_SETPCAP']
  return ['--cap-drop', 'ALL', ...added.flatMap((one) => ['--cap-add', one])]
}
