import { keepSettable } from '../../core/contract/variables.js'
import type { Job } from '../confinement.js'
import { type Identity, INSIDE_ID } from './identity.js'

/** What a launcher needs to know about one command; all paths as the keeper sees them. */
export interface Launch {
  readonly identity: Identity
  readonly keeperPid: number
  readonly base: string
  /** Visible folders below /tmp, where each command has its own: they are mounted again. */
  readonly belowTmp: readonly string[]
  /** The folder mounted in place of the work tree. */
  readonly tree: string
  readonly runDir: string
  /** The folder mounted as the cache folder of the home directory; null: it is an ordinary folder in /tmp. */
  readonly cache: string | null
  readonly job: Job
  /** Folders and files below the work tree that are mounted read-only from outside, and those that are covered. */
  readonly readOnly: readonly { readonly from: string; readonly at: string }[]
  /** Folders of a copied view that are mounted onto themselves: nobody can move them. */
  readonly held: readonly { readonly from: string; readonly at: string }[]
  readonly covered: readonly { readonly at: string; readonly type: 'file' | 'directory' }[]
  /** The limits of each process, as a line for the shell. */
  readonly limits: string
  /** The descriptor that the filter is read from; null where there is none. */
  readonly filterFd: number | null
  /** Paths of the machine's programs; searching a long PATH takes time. */
  readonly where: (program: string) => string
}

/** Descriptors that a launch takes beside 0, 1 and 2; none of them reaches the command. */
export const FILTER_FD = 3
export const GO_FD = 4
export const INFO_FD = 5
/** What the command's environment is read from, by the innermost shell alone. */
export const ENVIRONMENT_FD = 6
/** The filter of an observed run. The last of these descriptors. */
export const OBSERVED_FILTER_FD = 7

/** The whole environment of everything that runs before the command: nothing of the server, nothing of a contract. */
export const LAUNCHER_ENVIRONMENT = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' }

/** The variables as the innermost shell reads them: each ends with a NUL, which no value can contain. */
export function encodeEnvironment(env: Readonly<Record<string, string>>): Buffer {
  return Buffer.from(
    Object.entries(keepSettable(env))
      .map(([name, value]) => `${name}=${value}\0`)
      .join(''),
  )
}
/** Writable settings in /proc are mounted read-only, including those of real root under a root server. */
export const KERNEL_SETTINGS = [
  ...['sys', 'sysrq-trigger', 'irq', 'bus', 'fs', 'acpi', 'scsi', 'mtrr', 'driver', 'dynamic_debug'],
]
/** Under a root server, files that the kernel shows only to root are covered. */
export const KERNEL_SECRETS = [
  ...[
    'kcore',
    'keys',
    'key-users',
    'kpagecgroup',
    'kpagecount',
    'kpageflags',
    'pagetypeinfo',
    'sched_debug',
    'slabinfo',
  ],
  ...['timer_list', 'vmallocinfo'],
]
export const TMP_BYTES_MAX = 512 * 1024 * 1024
/** For the folder where sockets are mounted; it contains only their names. */
export const SOCKETS_BYTES_MAX = '65536'

/** The program to start, and its arguments. */
export type Launcher = (launch: Launch) => readonly string[]

/** Enters the keeper's namespaces, where the mounts are. */
export function buildEnterArgs({ identity, keeperPid, where }: Launch): readonly string[] {
  const there = [where('nsenter'), '--user', '--mount', '--target', String(keeperPid)]
  return identity.kind === 'root' ? [...there, '--setuid', '0', '--setgid', '0'] : [...there, '--preserve-credentials']
}

// A separate real uid cannot open files of a tree with another owner. These two capabilities allow it, and reach only
// the files that are visible: everything of value is not mounted.
const KEPT = 'dac_override,fowner'
export const KEPT_CAPABILITIES = ['CAP_DAC_OVERRIDE', 'CAP_FOWNER']

/**
 * Switches to the account of commands. Under a root server that is a separate step; under a user's server the namespace
 * did it.
 */
export function buildBecomeArgs({ identity, where }: Launch): readonly string[] {
  if (identity.kind === 'user') return []
  const kept = KEPT.split(',').map((one) => `+${one}`)
  const only = ['-all', ...kept].join(',')
  return [
    where('setpriv'),
    ...['--reuid', String(INSIDE_ID), '--regid', String(INSIDE_ID), '--clear-groups', '--no-new-privs'],
    // Switching accounts clears the setting that ends a process with its parent.
    ...['--pdeathsig', 'KILL'],
    // access(2) only checks the uid unless this is set, and many programs call it first.
    '--securebits=+no_setuid_fixup',
    ...[`--inh-caps=${only}`, `--ambient-caps=${only}`, `--bounding-set=${only}`],
  ]
}

// The command must not get descriptors that others left open.
const CLOSE_OTHERS = `for n in /proc/self/fd/*; do n="\${n##*/}"; [ "$n" -gt 2 ] && eval "exec $n>&-"; done; unset n`
const READ_ENVIRONMENT = `mapfile -d '' -t -u ${ENVIRONMENT_FD} _phaselock && [ "\${#_phaselock[@]}" -gt 0 ] || exit 126`
// If the server was killed before the launcher set up to die with it, nobody is left to end the command.
const END_WITH_SERVER = `read -t 0 -u ${GO_FD} && exit 126`
// Each word is passed unchanged: nothing in a name or a value is expanded. From here on a contract decides what the
// shell does.
const EXPORT_ENVIRONMENT = `export -- "\${_phaselock[@]}" || exit 126; unset _phaselock`

/**
 * The command itself, with limits for its processes. As the first process of a namespace the shell that sets them
 * stays: the first process ignores signals unless it handles them, and a command expects them to work.
 */
export function buildCommandArgs({ job, limits, where }: Launch, place: 'first' | 'child'): readonly string[] {
  const [program = '', flag, line] = job.argv
  const isLine = program === 'bash' && flag === '-c' && line !== undefined && job.argv.length === 3
  const start = `${limits} || exit 126; ${READ_ENVIRONMENT}; ${END_WITH_SERVER}; ${CLOSE_OTHERS}; ${EXPORT_ENVIRONMENT}`
  const run = place === 'child' ? { line: 'eval "$1"', words: 'exec "$@"' } : FIRST
  return [where('bash'), '-c', `${start}; ${isLine ? run.line : run.words}`, 'bash', ...(isLine ? [line] : job.argv)]
}

const FIRST = { line: '(eval "$1"); exit $?', words: '"$@"; exit $?' }
