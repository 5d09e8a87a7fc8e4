/**
 * The machine words of a seccomp filter, or null if the syscall numbers of the processor are unknown. An observed run
 * cannot send SIGUSR1 either: it starts the debugger of Node.js in the program that gets it, and Node.js 20 cannot turn
 * that off.
 */
export function buildSeccompFilter(use: 'agent' | 'observed' = 'agent', arch: string = process.arch): Buffer | null {
  const machine = MACHINES.get(arch)
  return machine === undefined ? null : assemble(machine, use === 'observed' ? refuseSignal(machine) : [])
}

interface Machine {
  /** AUDIT_ARCH_*: a call made through another convention (32-bit, x32) has other numbers and ends the process. */
  readonly audit: number
  readonly clone: number
  readonly clone3: number
  readonly ioctl: number
  readonly socket: number
  readonly fcntl: number
  /** Calls that send a signal, by the argument that names it. */
  readonly signals: Readonly<Record<'second' | 'third', readonly number[]>>
  /** The lowest number of a foreign convention that shares the audit value (x32); 0 when there is none. */
  readonly foreign: number
  readonly denied: readonly number[]
}

// Namespaces and mounts, other processes' memory, kernel objects that outlive the command, and the kernel's own settings.
const X64: Readonly<Record<string, number>> = {
  ptrace: 101,
  syslog: 103,
  uselib: 134,
  personality: 135,
  ustat: 136,
  sysfs: 139,
  vhangup: 153,
  modify_ldt: 154,
  pivot_root: 155,
  _sysctl: 156,
  adjtimex: 159,
  chroot: 161,
  acct: 163,
  settimeofday: 164,
  mount: 165,
  umount2: 166,
  swapon: 167,
  swapoff: 168,
  reboot: 169,
  sethostname: 170,
  setdomainname: 171,
  iopl: 172,
  ioperm: 173,
  create_module: 174,
  init_module: 175,
  delete_module: 176,
  quotactl: 179,
  nfsservctl: 180,
  lookup_dcookie: 212,
  clock_settime: 227,
  kexec_load: 246,
  add_key: 248,
  request_key: 249,
  keyctl: 250,
  migrate_pages: 256,
  unshare: 272,
  move_pages: 279,
  perf_event_open: 298,
  fanotify_init: 300,
  name_to_handle_at: 303,
  open_by_handle_at: 304,
  clock_adjtime: 305,
  setns: 308,
  process_vm_readv: 310,
  process_vm_writev: 311,
  kcmp: 312,
  finit_module: 313,
  kexec_file_load: 320,
  bpf: 321,
  userfaultfd: 323,
}
const ARM64: Readonly<Record<string, number>> = {
  lookup_dcookie: 18,
  umount2: 39,
  mount: 40,
  pivot_root: 41,
  nfsservctl: 42,
  chroot: 51,
  vhangup: 58,
  quotactl: 60,
  acct: 89,
  personality: 92,
  unshare: 97,
  kexec_load: 104,
  init_module: 105,
  delete_module: 106,
  clock_settime: 112,
  syslog: 116,
  ptrace: 117,
  reboot: 142,
  sethostname: 161,
  setdomainname: 162,
  settimeofday: 170,
  adjtimex: 171,
  add_key: 217,
  request_key: 218,
  keyctl: 219,
  swapon: 224,
  swapoff: 225,
  migrate_pages: 238,
  move_pages: 239,
  perf_event_open: 241,
  fanotify_init: 262,
  name_to_handle_at: 264,
  open_by_handle_at: 265,
  clock_adjtime: 266,
  setns: 268,
  process_vm_readv: 270,
  process_vm_writev: 271,
  kcmp: 272,
  finit_module: 273,
  bpf: 280,
  userfaultfd: 282,
  kexec_file_load: 294,
}
// From 424 on the numbers are the same on every processor.
const NEWER: Readonly<Record<string, number>> = {
  io_uring_setup: 425,
  io_uring_enter: 426,
  io_uring_register: 427,
  open_tree: 428,
  move_mount: 429,
  fsopen: 430,
  fsconfig: 431,
  fsmount: 432,
  fspick: 433,
  pidfd_getfd: 438,
  mount_setattr: 442,
  quotactl_fd: 443,
  memfd_secret: 447,
  statmount: 457,
  listmount: 458,
  lsm_set_self_attr: 460,
  open_tree_attr: 467,
}
const NEWER_NUMBERS = Object.values(NEWER)
const CLONE3 = 435
const PIDFD_SEND_SIGNAL = 424

const MACHINES: ReadonlyMap<string, Machine> = new Map([
  [
    'x64',
    {
      audit: 0xc000003e,
      clone: 56,
      clone3: CLONE3,
      ioctl: 16,
      socket: 41,
      fcntl: 72,
      // kill, tkill, rt_sigqueueinfo; tgkill, rt_tgsigqueueinfo.
      signals: { second: [62, 200, 129, PIDFD_SEND_SIGNAL], third: [234, 297] },
      foreign: 0x40000000,
      denied: [...Object.values(X64), ...NEWER_NUMBERS],
    },
  ],
  [
    'arm64',
    {
      audit: 0xc00000b7,
      clone: 220,
      clone3: CLONE3,
      ioctl: 29,
      socket: 198,
      fcntl: 25,
      signals: { second: [129, 130, 138, PIDFD_SEND_SIGNAL], third: [131, 240] },
      foreign: 0,
      denied: [...Object.values(ARM64), ...NEWER_NUMBERS],
    },
  ],
])

// Offsets in struct seccomp_data, and the few instructions of classic BPF that are needed.
const NUMBER_AT = 0
const ARCH_AT = 4
const ARG0_AT = 16
const ARG1_AT = 24
const ARG2_AT = 32
const LOAD = 0x20
const JUMP_EQUAL = 0x15
const JUMP_GREATER_EQUAL = 0x35
const JUMP_ANY_BIT = 0x45
const RETURN = 0x06

const ALLOW = 0x7fff0000
const KILL = 0x80000000
const FAIL = 0x00050000
const EPERM = 1
const ENOSYS = 38
// CLONE_NEWTIME (0x80) shares its bit with the exit signal of clone(2) and cannot be requested there.
const CLONE_NEW_ANY = 0x7e020000
const EAFNOSUPPORT = 97
// Only these stay in the network namespace: a socket of the hypervisor (AF_VSOCK) or of a radio reaches past it.
const AF_UNIX = 1
const AF_INET = 2
const AF_INET6 = 10
const AF_NETLINK = 16
const TIOCSTI = 0x5412
const TIOCLINUX = 0x541c
const SIGUSR1 = 10
// The signal that a descriptor sends to its owner, which may be another process.
const F_SETSIG = 10

type Instruction = readonly [code: number, jumpTrue: number, jumpFalse: number, value: number]

function refuseSignal({ signals, fcntl }: Machine): readonly Instruction[] {
  const named = (calls: readonly number[], argument: number): readonly Instruction[] =>
    calls.flatMap((call): Instruction[] => [
      [JUMP_EQUAL, 0, 4, call],
      [LOAD, 0, 0, argument],
      [JUMP_EQUAL, 0, 1, SIGUSR1],
      [RETURN, 0, 0, FAIL | EPERM],
      [RETURN, 0, 0, ALLOW],
    ])
  return [
    ...named(signals.second, ARG1_AT),
    ...named(signals.third, ARG2_AT),
    [JUMP_EQUAL, 0, 6, fcntl],
    [LOAD, 0, 0, ARG1_AT],
    [JUMP_EQUAL, 0, 3, F_SETSIG],
    [LOAD, 0, 0, ARG2_AT],
    [JUMP_EQUAL, 0, 1, SIGUSR1],
    [RETURN, 0, 0, FAIL | EPERM],
    [RETURN, 0, 0, ALLOW],
  ]
}

function assemble(machine: Machine, more: readonly Instruction[]): Buffer {
  const program: Instruction[] = [
    [LOAD, 0, 0, ARCH_AT],
    [JUMP_EQUAL, 1, 0, machine.audit],
    [RETURN, 0, 0, KILL],
    [LOAD, 0, 0, NUMBER_AT],
  ]
  if (machine.foreign !== 0) program.push([JUMP_GREATER_EQUAL, 0, 1, machine.foreign], [RETURN, 0, 0, KILL])
  for (const number of machine.denied) program.push([JUMP_EQUAL, 0, 1, number], [RETURN, 0, 0, FAIL | EPERM])
  program.push(
    ...more,
    // A filter cannot read the flags of clone3, which are in memory. If clone3 is missing, libraries use clone.
    [JUMP_EQUAL, 0, 1, machine.clone3],
    [RETURN, 0, 0, FAIL | ENOSYS],
    [JUMP_EQUAL, 0, 4, machine.clone],
    [LOAD, 0, 0, ARG0_AT],
    [JUMP_ANY_BIT, 0, 1, CLONE_NEW_ANY],
    [RETURN, 0, 0, FAIL | EPERM],
    [RETURN, 0, 0, ALLOW],
    [JUMP_EQUAL, 0, 7, machine.socket],
    [LOAD, 0, 0, ARG0_AT],
    [JUMP_EQUAL, 4, 0, AF_UNIX],
    [JUMP_EQUAL, 3, 0, AF_INET],
    [JUMP_EQUAL, 2, 0, AF_INET6],
    [JUMP_EQUAL, 1, 0, AF_NETLINK],
    [RETURN, 0, 0, FAIL | EAFNOSUPPORT],
    [RETURN, 0, 0, ALLOW],
    [JUMP_EQUAL, 0, 4, machine.ioctl],
    [LOAD, 0, 0, ARG1_AT],
    [JUMP_EQUAL, 1, 0, TIOCSTI],
    [JUMP_EQUAL, 0, 1, TIOCLINUX],
    [RETURN, 0, 0, FAIL | EPERM],
    [RETURN, 0, 0, ALLOW],
  )
  const bytes = Buffer.alloc(program.length * 8)
  for (const [index, [code, jumpTrue, jumpFalse, value]] of program.entries()) {
    bytes.writeUInt16LE(code, index * 8)
    bytes.writeUInt8(jumpTrue, index * 8 + 2)
    bytes.writeUInt8(jumpFalse, index * 8 + 3)
    bytes.writeUInt32LE(value >>> 0, index * 8 + 4)
  }
  return bytes
}
