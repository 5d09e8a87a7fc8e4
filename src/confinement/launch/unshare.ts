import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { formatSocketPath, type JobSocket, SOCKETS_AT } from '../confinement.js'
import { EMPTY } from '../view/base-root.js'
import { CACHE_INSIDE } from '../view/home-cache.js'
import { INSIDE_ID } from './identity.js'
import { quoteWord } from './keeper.js'
import {
  buildBecomeArgs,
  buildCommandArgs,
  buildEnterArgs,
  KERNEL_SECRETS,
  KERNEL_SETTINGS,
  type Launch,
  type Launcher,
  SOCKETS_BYTES_MAX,
  TMP_BYTES_MAX,
} from './launch.js'

/**
 * Starts the command with util-linux alone: the same namespaces, mounts and filter as with bubblewrap, made by a
 * script, so that nothing needs to be installed.
 */
export const launchWithUnshare: Launcher = (launch) => {
  const { identity, job } = launch
  const spaces = [
    ...['--mount', '--pid', '--ipc', '--uts', '--cgroup', '--fork', '--kill-child', '--propagation', 'private'],
    ...(job.network ? [] : ['--net']),
    // A separate namespace for each command, so that the number of further namespaces inside can be limited for it
    // alone.
    ...(identity.kind === 'user' ? ['--user', '--map-root-user'] : []),
  ]
  // The command must die with its server. And real root has a name in these namespaces: a setuid program such as mount
  // could become root.
  const dies = [launch.where('setpriv'), '--no-new-privs', '--pdeathsig', 'KILL']
  return [
    ...buildEnterArgs(launch),
    '--',
    ...dies,
    launch.where('unshare'),
    ...spaces,
    'sh',
    '-c',
    buildScript(launch),
    'phaselock',
  ]
}

function buildScript(launch: Launch): string {
  const { job, identity } = launch
  const root = join(launch.runDir, 'root')
  const inRoot = (path: string): string => quoteWord(join(root, path))
  const lines = [
    'set -e',
    `mkdir -p ${quoteWord(root)}`,
    `mount --rbind ${quoteWord(launch.base)} ${quoteWord(root)}`,
    ...buildTemporaryMount(inRoot('/tmp')),
    ...(launch.cache === null
      ? []
      : [`mkdir ${inRoot(CACHE_INSIDE)}`, `mount --bind ${quoteWord(launch.cache)} ${inRoot(CACHE_INSIDE)}`]),
    ...launch.belowTmp.flatMap((path) => [
      `mkdir -p ${inRoot(path)}`,
      `mount --rbind ${quoteWord(join(launch.base, path))} ${inRoot(path)}`,
      readOnly(inRoot(path)),
    ]),
    ...buildDeviceMounts(inRoot),
    `mkdir -p ${inRoot(job.tree)}`,
    `mount --bind ${quoteWord(launch.tree)} ${inRoot(job.tree)}`,
    ...(job.writes === 'read' ? [readOnly(inRoot(job.tree))] : []),
    ...(job.shown ?? []).flatMap((path) => [
      `mkdir -p ${inRoot(path)}`,
      `mount --bind ${quoteWord(path)} ${inRoot(path)}`,
      readOnly(inRoot(path)),
    ]),
    ...buildSocketMounts(job.sockets ?? [], inRoot),
    ...launch.readOnly.flatMap(({ from, at }) => [
      `mount --bind ${quoteWord(from)} ${inRoot(join(job.tree, at))}`,
      readOnly(inRoot(join(job.tree, at))),
    ]),
    ...launch.covered.flatMap(({ at, type }) =>
      type === 'directory'
        ? [`mount -t tmpfs -o ro,size=4k none ${inRoot(join(job.tree, at))}`]
        : [
            `mount --bind ${quoteWord(join(launch.base, EMPTY))} ${inRoot(join(job.tree, at))}`,
            readOnly(inRoot(join(job.tree, at))),
          ],
    ),
    ...buildProcessFileMounts(inRoot, identity.kind),
    'hostname phaselock 2>/dev/null || :',
    `cd ${quoteWord(root)}`,
    'pivot_root . .',
    'umount -l .',
    'mount -o remount,bind,ro /',
    `cd ${quoteWord(join(job.tree, job.cwd))}`,
    ...(job.network ? [] : [LOOPBACK_UP]),
    ...(identity.kind === 'user'
      ? ['echo 1 > /proc/sys/user/max_user_namespaces', 'mount -o remount,bind,ro /proc/sys']
      : []),
    `exec ${buildFinalCommand(launch).map(quoteWord).join(' ')}`,
  ]
  return lines.join('\n')
}

function buildTemporaryMount(at: string): readonly string[] {
  return [`mount -t tmpfs -o nosuid,nodev,mode=1777,size=${TMP_BYTES_MAX} none ${at}`]
}

const DEVICES = ['null', 'zero', 'full', 'random', 'urandom']

function buildDeviceMounts(inRoot: (path: string) => string): readonly string[] {
  const dev = inRoot('/dev')
  const names = DEVICES.join(' ')
  return [
    `mount -t tmpfs -o nosuid,mode=755,size=64k none ${dev}`,
    `for d in ${names}; do : > ${dev}/$d; mount --bind /dev/$d ${dev}/$d; done`,
    `ln -s /proc/self/fd ${dev}/fd; ln -s /proc/self/fd/0 ${dev}/stdin; ln -s /proc/self/fd/1 ${dev}/stdout; ln -s /proc/self/fd/2 ${dev}/stderr`,
    `mkdir ${dev}/shm; mount -t tmpfs -o nosuid,nodev,mode=1777,size=${TMP_BYTES_MAX} none ${dev}/shm`,
  ]
}

function buildProcessFileMounts(inRoot: (path: string) => string, kind: 'root' | 'user'): readonly string[] {
  // Under a user's server the number of namespaces is set there first.
  const later = kind === 'user' ? 'sys' : ''
  const proc = inRoot('/proc')
  return [
    `mount -t proc -o nosuid,nodev,noexec proc ${proc}`,
    `for p in ${KERNEL_SETTINGS.join(' ')}; do if [ -e ${proc}/$p ]; then mount --bind ${proc}/$p ${proc}/$p; ` +
      `[ "$p" = "${later}" ] || mount -o remount,bind,ro ${proc}/$p; fi; done`,
    ...(kind === 'user'
      ? []
      : [`for p in ${KERNEL_SECRETS.join(' ')}; do [ ! -e ${proc}/$p ] || mount --bind /dev/null ${proc}/$p; done`]),
  ]
}

function readOnly(at: string): string {
  return `mount -o remount,bind,ro ${at}`
}

// Flags that a mount of the machine has are locked in a namespace below it: they must be named again.
const SOCKET_FLAGS = 'ro,nosuid,nodev,noexec'

function buildSocketMounts(list: readonly JobSocket[], inRoot: (path: string) => string): readonly string[] {
  if (list.length === 0) return []
  const folder = inRoot(SOCKETS_AT)
  return [
    `mount -t tmpfs -o nosuid,nodev,noexec,mode=755,size=${SOCKETS_BYTES_MAX} none ${folder}`,
    ...list.flatMap(({ name, path }) => {
      const at = inRoot(formatSocketPath(name))
      return [`: > ${at}`, `mount --bind ${quoteWord(path)} ${at}`, `mount -o remount,bind,${SOCKET_FLAGS} ${at}`]
    }),
    `mount -o remount,bind,${SOCKET_FLAGS} ${folder}`,
  ]
}

const LOOPBACK_UP =
  "perl -e 'socket(S,2,2,0); ioctl(S,0x8914,pack(q(a16 s x22),q(lo),1))' 2>/dev/null || ip link set lo up 2>/dev/null || :"

// Without bubblewrap another program must load the filter: perl or python can make the call.
const WITH_PERL =
  `my $n=shift;my $d=shift;open(F,"<&=",$d)||die"no filter\\n";local $/;my $f=<F>;close F;` +
  'my $p=pack("S x![Q] P",length($f)/8,$f);' +
  'syscall($n,38,1,0,0,0)==0||die"no_new_privs\\n";syscall($n,22,2,$p)==0||die"filter refused\\n";exec @ARGV;die"exec: $!\\n"'
const WITH_PYTHON = [
  'import ctypes,os,sys',
  'f=os.fdopen(int(sys.argv[2]),"rb").read();b=ctypes.create_string_buffer(f,len(f))',
  'class P(ctypes.Structure):_fields_=[("n",ctypes.c_ushort),("p",ctypes.c_void_p)]',
  'c=ctypes.CDLL(None,use_errno=True);p=P(len(f)//8,ctypes.addressof(b))',
  'if c.prctl(38,1,0,0,0)!=0 or c.prctl(22,2,ctypes.byref(p),0,0)!=0:sys.exit("filter refused")',
  'os.execvp(sys.argv[3],sys.argv[3:])',
].join('\n')
const PRCTL: Readonly<Record<string, number>> = { x64: 157, arm64: 167 }

function buildFinalCommand(launch: Launch): readonly string[] {
  const nested =
    launch.identity.kind === 'user'
      ? [
          'unshare',
          '--user',
          `--map-user=${INSIDE_ID}`,
          `--map-group=${INSIDE_ID}`,
          '--',
          'setpriv',
          '--no-new-privs',
          '--pdeathsig',
          'KILL',
        ]
      : buildBecomeArgs(launch)
  const loader = launch.filterFd === null ? null : filterLoader()
  const filtered = loader === null ? [] : [...loader, String(launch.filterFd)]
  return [...nested, ...filtered, ...buildCommandArgs(launch, 'first')]
}

/** The program that loads the filter and then becomes the command; null if none is installed. */
export function filterLoader(): readonly string[] | null {
  const prctl = PRCTL[process.arch]
  if (prctl === undefined) return null
  if (existsSync('/usr/bin/perl')) return ['/usr/bin/perl', '-e', WITH_PERL, String(prctl)]
  return existsSync('/usr/bin/python3') ? ['/usr/bin/python3', '-I', '-c', WITH_PYTHON, String(prctl)] : null
}
