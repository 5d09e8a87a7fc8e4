import type { Attempt } from './attempts.js'
import type { Scene, Victim } from './scene.js'
import type { Stage } from './stage.js'

/** What an attempt may know: everything. Where a secret lies is no secret. */
export type Target = Stage & { readonly scene: Scene; readonly victim: Victim }

type Way = Attempt<Target>

const plain = (name: string, script: (at: Target) => string): Way => ({ name, needs: 'plain', script })
const asRoot = (name: string, script: (at: Target) => string): Way => ({ name, needs: 'root', script })

/** Files that hold secrets, or that are simply not the agent's to read. */
export const READING: readonly Way[] = [
  plain('listing the state directory', ({ stateDir }) => `ls ${stateDir}/ | grep -q ledger`),
  plain('reading signing.secret', ({ stateDir }) => `cat ${stateDir}/signing.secret`),
  plain('reading operator.token', ({ stateDir }) => `cat ${stateDir}/operator.token`),
  plain('reading ledger.db', ({ stateDir }) => `head -c 16 ${stateDir}/ledger.db`),
  plain('reading server.json', ({ stateDir }) => `cat ${stateDir}/server.json`),
  plain('the state directory by way of the tree', ({ tree }) => `cat ${tree}/../state/operator.token`),
  plain(
    'the state directory by way of /proc/self/root',
    ({ stateDir }) => `cat /proc/self/root${stateDir}/operator.token`,
  ),
  plain('the state directory by way of /proc/self/cwd', () => 'cat /proc/self/cwd/../state/operator.token'),
  plain(
    'the state directory by way of a link in the tree',
    ({ tree }) => `cat ${tree}/folder-leading-out/state/operator.token`,
  ),
  plain('a link in the tree that leads out', ({ tree }) => `cat ${tree}/leading-out`),
  plain('a file beside the tree that only its owner may read', ({ scene }) => `cat ${scene.beside}`),
  plain('the contract beside the tree', ({ dir }) => `cat ${dir}/contract.yaml`),
  plain('a file in the home directory', ({ home }) => `cat ${home}/sentinel.txt`),
  plain('the keys in ~/.ssh', ({ home }) => `cat ${home}/.ssh/id_ed25519`),
  plain('the credentials in ~/.aws', ({ home }) => `cat ${home}/.aws/credentials`),
  asRoot('listing /root', () => 'ls /root/'),
  asRoot('reading /etc/shadow', () => 'cat /etc/shadow'),
  plain('reading /etc/fstab, which commands need for nothing', () => 'cat /etc/fstab || cat /etc/hostname'),
]

/** Another process, found and looked into. */
export const LOOKING: readonly Way[] = [
  plain("the server's environment", ({ pid }) => `grep -qa AWS_SECRET_ACCESS_KEY /proc/${pid}/environ`),
  plain("the server's root", ({ pid, stateDir }) => `cat /proc/${pid}/root${stateDir}/operator.token`),
  plain("the server's working directory", ({ pid }) => `cat /proc/${pid}/cwd/../beside.txt`),
  plain("the server's descriptors", ({ pid }) => `ls /proc/${pid}/fd/ | grep .`),
  plain("the server's memory map", ({ pid }) => `cat /proc/${pid}/maps | grep .`),
  plain("the server's memory", ({ pid }) => `exec 9<>/proc/${pid}/mem`),
  plain('the status of another process', ({ victim }) => `grep -q sleep /proc/${victim.pid}/status`),
  // The pattern must not find the script that it stands in.
  plain(
    'the command line of another process',
    ({ victim }) => `cat /proc/[0-9]*/cmdline | grep -qa '${bracketed(victim.mark)}'`,
  ),
  plain('a secret in the environment of any process', () => "cat /proc/[0-9]*/environ | grep -qa 'plante[d]-'"),
  plain('a secret in the environment of any thread', () => "cat /proc/[0-9]*/task/*/environ | grep -qa 'plante[d]-'"),
  plain('sending the server a signal', ({ pid }) => `kill -0 ${pid}`),
  plain('killing another process', ({ victim }) => `kill -9 ${victim.pid}`),
]

function bracketed(word: string): string {
  return `${word.slice(0, -1)}[${word.slice(-1)}]`
}

const unixConnect = (address: string): string =>
  `exec perl -MSocket -e 'socket(my $s, AF_UNIX, SOCK_STREAM, 0) or exit 1; exit(connect($s, ${address}) ? 0 : 1)'`

const abstractOf = (scene: Scene, form: string): string => `pack("S ${form}", AF_UNIX, "\\0${scene.abstractName}")`

/** Every way to somebody else by a socket. */
export const CONNECTING: readonly Way[] = [
  plain('the server itself', ({ port }) => `exec 9<>/dev/tcp/127.0.0.1/${port}`),
  plain('the server itself by name', ({ port }) => `exec 9<>/dev/tcp/localhost/${port}`),
  plain('another server on the loopback', ({ scene }) => `exec 9<>/dev/tcp/127.0.0.1/${scene.ports.four}`),
  plain('another address of the loopback', ({ scene }) => `exec 9<>/dev/tcp/127.0.0.53/${scene.ports.four}`),
  plain('the address 0.0.0.0', ({ scene }) => `exec 9<>/dev/tcp/0.0.0.0/${scene.ports.four}`),
  plain('a server on the loopback of IPv6', ({ scene }) => `exec 9<>/dev/tcp/::1/${scene.ports.six}`),
  plain(
    'a server on another address of the machine',
    ({ scene }) => `exec 9<>/dev/tcp/${scene.address}/${scene.ports.four}`,
  ),
  plain(
    'a datagram to the loopback',
    ({ scene }) => `exec 9<>/dev/udp/127.0.0.1/${scene.ports.udp}; echo x >&9; sleep 0.1; echo x >&9`,
  ),
  plain('an address on the outside', () => 'exec 9<>/dev/udp/198.51.100.7/9'),
  plain(
    'the resolver of names',
    () => "exec 9<>/dev/udp/$(sed -n 's/^nameserver \\([0-9.]*\\)$/\\1/p' /etc/resolv.conf | head -1)/53",
  ),
  plain('an interface beside the loopback', () => "tail -n +3 /proc/net/dev | grep -qv '^ *lo:'"),
  plain('a unix socket beside the tree', ({ scene }) => unixConnect(`pack_sockaddr_un("${scene.sockets.beside}")`)),
  // Some libraries fill the name up with zeros.
  plain(
    'an abstract unix socket',
    ({ scene }) => `(${unixConnect(abstractOf(scene, 'a*'))}) || ${unixConnect(abstractOf(scene, 'a108'))}`,
  ),
  plain('a unix socket in the tree', ({ scene }) => unixConnect(`pack_sockaddr_un("${scene.sockets.inTree}")`)),
  plain('a unix socket in the git directory', ({ scene }) => unixConnect(`pack_sockaddr_un("${scene.sockets.inGit}")`)),
]

/** Writing where nothing may be written. Nothing is changed by those that are made outside as well. */
export const WRITING: readonly Way[] = [
  plain('a new file beside the tree', ({ dir, account }) =>
    account.name === 'root' ? `touch ${dir}/new` : `touch ${dir}/home/new`,
  ),
  plain('a file beside the tree', ({ scene }) => `echo x >> ${scene.beside}`),
  plain('a file beside the tree by way of a link', ({ tree }) => `echo x >> ${tree}/leading-out`),
  plain('a file in the home directory', ({ home }) => `echo x >> ${home}/sentinel.txt`),
  plain('the ledger', ({ stateDir }) => `exec 9<>${stateDir}/ledger.db`),
  asRoot('a file in /usr', () => 'exec 9<>/usr/lib/os-release'),
  asRoot('the accounts of the machine', () => 'exec 9<>/etc/passwd'),
  asRoot('the libraries that every program loads', () => 'exec 9<>/etc/ld.so.cache'),
  asRoot('a new file in /etc', () => 'f=/etc/phaselock-wall-$$; touch $f && rm $f'),
  asRoot('a new file in /run', () => 'f=/run/phaselock-wall-$$; touch $f && rm $f'),
]

const KERNEL_FILES = ['/proc/sys/kernel/core_pattern', '/proc/sys/vm/drop_caches', '/proc/sys/kernel/hostname']

/** The kernel's own settings, its file systems, and devices. Files are opened only. */
export const KERNEL: readonly Way[] = [
  ...KERNEL_FILES.map((file) => asRoot(`opening ${file} for writing`, () => `exec 9>${file}`)),
  asRoot('opening anything in /proc for writing that is not its own', () => WRITABLE_IN_PROC),
  plain('looking at /sys', () => 'ls /sys/kernel/'),
  asRoot('writing in /sys', () => 'exec 9>/sys/module/printk/parameters/time'),
  asRoot(
    'reading what the kernel shows to root alone',
    () =>
      'cat /proc/slabinfo /proc/vmallocinfo /proc/pagetypeinfo | grep -q . || head -c 8 /proc/kpagecount | grep -qa .',
  ),
  asRoot('reading the messages of the kernel', () => 'head -c 1 /dev/kmsg || dmesg'),
  asRoot('a disk', () => 'find /dev -type b | grep .'),
  plain('a terminal of somebody else', () => 'ls /dev/pts | grep -q "^[0-9]" || ls /dev | grep -q "^tty[0-9]"'),
  asRoot('making a device', ({ tree }) => `mknod ${tree}/tests/null c 1 3 && rm ${tree}/tests/null`),
  asRoot('making a device in /dev/shm', () => 'f=/dev/shm/device-$$; mknod $f b 8 0 && rm $f'),
  {
    name: 'mounting a file system',
    needs: 'namespaces',
    script: () => 'mount -t tmpfs none /mnt || mount -t tmpfs none /tmp',
  },
  {
    name: 'mounting a folder elsewhere',
    needs: 'namespaces',
    script: () => 'mount --bind /usr /mnt || mount --bind /usr /tmp',
  },
  {
    name: 'mounting a folder of the tree writable',
    needs: 'namespaces',
    script: ({ tree }) => `mount --bind ${tree}/.git ${tree}/tests && umount ${tree}/tests`,
  },
  {
    name: 'taking away a mount',
    needs: 'namespaces',
    script: () => 'mount --bind /usr /mnt && umount /mnt || umount -l /usr/local/etc || umount -l /tmp',
  },
  { name: 'making the root writable again', needs: 'namespaces', script: () => 'mount -o remount,bind,rw / ' },
  { name: 'another root', needs: 'namespaces', script: () => 'chroot / true' },
  { name: 'another name of the machine', needs: 'namespaces', script: () => 'unshare --uts hostname other' },
  plain('a file without limit', () => 'ulimit -f unlimited'),
]

// What everybody on the machine may open does not count: /proc/pressure is one.
const WRITABLE_IN_PROC = `exec perl -MFcntl -MFile::Find -e '
  my $found = 0;
  find({ no_chdir => 1, preprocess => sub { grep { !/^(\\d+|self|thread-self|net)$/ } @_ }, wanted => sub {
    my @s = lstat($_) or return; return unless -f _; return if $s[2] & 2 or !($s[2] & 0222);
    $found++ if sysopen(my $f, $_, O_WRONLY) }}, "/proc");
  exit($found ? 0 : 1)'`
