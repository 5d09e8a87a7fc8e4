import type { Attempt } from './attempts.js'

/** Numbers by processor: x64, then arm64. */
const NUMBERS: Readonly<Record<string, readonly [x64: number, arm64: number]>> = {
  clone: [56, 220],
  clone3: [435, 435],
  ioctl: [16, 29],
  socket: [41, 198],
  ptrace: [101, 117],
  pivot_root: [155, 41],
  chroot: [161, 51],
  mount: [165, 40],
  umount2: [166, 39],
  swapon: [167, 224],
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  unshare: [272, 97],
  perf_event_open: [298, 241],
  fanotify_init: [300, 262],
  name_to_handle_at: [303, 264],
  open_by_handle_at: [304, 265],
  setns: [308, 268],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  bpf: [321, 280],
  userfaultfd: [323, 282],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsmount: [432, 432],
  fspick: [433, 433],
  pidfd_getfd: [438, 438],
  mount_setattr: [442, 442],
}

function numberOf(name: string): number {
  const [x64 = 0, arm64 = 0] = NUMBERS[name] ?? []
  return process.arch === 'arm64' ? arm64 : x64
}

/**
 * Makes the call with arguments that are wrong on purpose: whoever is let through to the kernel hears that they are wrong, or that it
 * worked. Whoever is stopped before hears that it is not permitted or does not exist.
 */
function call(name: string, args: string, needs: Attempt<unknown>['needs'] = 'plain', title = name): Attempt<unknown> {
  const perl = `use Errno; my $r = syscall(${numberOf(name)}${args === '' ? '' : `, ${args}`}); exit($r != -1 || !($!{EPERM} || $!{ENOSYS} || $!{EACCES} || $!{EAFNOSUPPORT}) ? 0 : 1)`
  return { name: `the call ${title}`, needs, script: () => `exec perl -e '${perl}'` }
}

const NEW_NAMESPACES: Readonly<Record<string, number>> = {
  mount: 0x20000,
  cgroup: 0x2000000,
  uts: 0x4000000,
  ipc: 0x8000000,
  user: 0x10000000,
  pid: 0x20000000,
  net: 0x40000000,
}
const NEW_USER = 0x10000000
const SIGCHLD = 17

/** A child in a new namespace: the child ends at once, the parent says whether there was one. */
function cloned(number: string, args: string, before = ''): string {
  return `exec perl -MPOSIX -e '${before} my $r = syscall(${number}, ${args}); POSIX::_exit(0) if $r == 0; exit($r > 0 ? 0 : 1)'`
}

const clones: readonly Attempt<unknown>[] = Object.entries(NEW_NAMESPACES).flatMap(([kind, flag]) => [
  {
    name: `a new ${kind} namespace by clone`,
    needs: 'plain',
    script: () => cloned(String(numberOf('clone')), `${flag | NEW_USER | SIGCHLD}, 0, 0, 0, 0`),
  },
  {
    name: `a new ${kind} namespace by clone3`,
    needs: 'plain',
    script: () =>
      cloned('435', '$args, 88', `my $args = pack("Q11", ${flag | NEW_USER}, 0, 0, 0, ${SIGCHLD}, 0, 0, 0, 0, 0, 0);`),
  },
])

const unshares: readonly Attempt<unknown>[] = [...Object.keys(NEW_NAMESPACES), 'time'].map((kind) => ({
  name: `a new ${kind} namespace by unshare`,
  needs: 'plain',
  script: () => `unshare --user --${kind} true || unshare --${kind} true`,
}))

const BAD = '-1'

export const SYSCALLS: readonly Attempt<unknown>[] = [
  ...clones,
  ...unshares,
  call('setns', `${BAD}, 0`),
  call('unshare', '0'),
  call('ptrace', '0, 0, 0, 0'),
  call('process_vm_readv', `1, 0, 0, 0, 0, ${BAD}`),
  call('process_vm_writev', `1, 0, 0, 0, 0, ${BAD}`),
  call('pidfd_getfd', `${BAD}, 0, 0`),
  call('bpf', `${BAD}, 0, 0`, 'root'),
  call('perf_event_open', `0, 0, 0, 0, ${BAD}`),
  call('add_key', '0, 0, 0, 0, 0'),
  call('request_key', '0, 0, 0, 0'),
  call('keyctl', `0, -3, 0, 0, 0`),
  call('io_uring_setup', '0, 0'),
  call('io_uring_enter', `${BAD}, 0, 0, 0, 0, 0`),
  call('io_uring_register', `${BAD}, 99, 0, 0`),
  call('userfaultfd', '1'),
  call('fanotify_init', `${BAD}, 0`, 'root'),
  call('name_to_handle_at', `${BAD}, 0, 0, 0, 0`),
  call('open_by_handle_at', `${BAD}, 0, 0`, 'root'),
  call('mount', '0, 0, 0, 0, 0', 'namespaces'),
  call('umount2', '0, 0', 'namespaces'),
  call('pivot_root', '0, 0', 'namespaces'),
  call('chroot', '0', 'namespaces'),
  call('open_tree', `${BAD}, 0, ${BAD}`),
  call('move_mount', `${BAD}, 0, ${BAD}, 0, ${BAD}`, 'namespaces'),
  call('fsopen', `0, ${BAD}`, 'namespaces'),
  call('fsmount', `${BAD}, ${BAD}, 0`, 'namespaces'),
  call('fspick', `${BAD}, 0, ${BAD}`, 'namespaces'),
  call('mount_setattr', `${BAD}, 0, 0, 0, 0`),
  call('swapon', '0, 0', 'root'),
  call('ioctl', '0, 0x5412, 0', 'plain', 'ioctl TIOCSTI'),
  call('ioctl', '0, 0x100005412, 0', 'plain', 'ioctl TIOCSTI with bits above the number'),
  call('ioctl', '0, 0x541c, 0', 'plain', 'ioctl TIOCLINUX'),
  call('socket', '40, 1, 0', 'plain', 'socket to the hypervisor'),
]

// int 0x80 with the numbers of 32-bit programs: `unshare(CLONE_NEWUSER)`, and the exit code says whether it worked.
const ELF_32_BIT_CALLS =
  '7f454c4602010100000000000000000002003e00010000007800400000000000400000000000000000000000000000000000000040003800' +
  '0100000000000000010000000500000000000000000000000000400000000000000040000000000095000000000000009500000000000000' +
  '0010000000000000b836010000bb00000010cd8085c00f95c30fb6db89dfb83c0000000f05'

export const FOREIGN_CALLS: readonly Attempt<unknown>[] =
  process.arch === 'x64'
    ? [
        {
          name: 'a new user namespace by a call of 32-bit programs',
          needs: 'plain',
          script: () =>
            `f=$(mktemp); trap "rm -f $f" EXIT; printf '%s' ${ELF_32_BIT_CALLS} | perl -ne 'print pack("H*", $_)' > $f; chmod +x $f; $f`,
        },
      ]
    : []
