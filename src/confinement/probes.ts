import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type Server } from 'node:net'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import type { ConfinedCommand, Guarantee, Job, Missing } from './confinement.js'
import { quoteWord } from './launch/keeper.js'

const PROBE_MS_MAX = 20_000
const BEGIN_MS_MAX = 3000
const BEGIN_POLL_MS = 10

interface SandboxStarter {
  start(job: Job): Promise<ConfinedCommand>
}

/** Tries to break every guarantee. A guarantee that was broken, or could not be tried, is missing. */
export async function probe(sandbox: SandboxStarter, stateDir: string): Promise<readonly Missing[]> {
  const scene = await setScene(stateDir)
  try {
    const seen = await runAttempts(sandbox, scene)
    return judge(scene, seen)
  } finally {
    removeScene(scene)
  }
}

interface Scene {
  readonly dir: string
  readonly tree: string
  readonly outside: string
  readonly mark: string
  readonly server: Server
  readonly port: number
  readonly victim: ChildProcess
  connections: number
}

async function setScene(stateDir: string): Promise<Scene> {
  const dir = mkdtempSync(join(stateDir, 'probe-'))
  const tree = join(dir, 'tree')
  const outside = join(dir, 'outside')
  const mark = randomBytes(12).toString('hex')
  for (const folder of [tree, outside, join(tree, 'src'), join(tree, 'tests')]) mkdirSync(folder)
  writeFileSync(join(tree, 'src', 'main.txt'), 'as it was\n')
  writeFileSync(join(dir, 'secret'), `${mark}-secret`, { mode: 0o600 })
  const server = createServer((socket) => {
    scene.connections += 1
    socket.destroy()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const victim = spawn('sleep', ['60'], { stdio: 'ignore' })
  victim.on('error', () => undefined)
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const scene: Scene = { dir, tree, outside, mark, server, port, victim, connections: 0 }
  return scene
}

function removeScene(scene: Scene): void {
  scene.server.close()
  scene.victim.kill('SIGKILL')
  rmSync(scene.dir, { recursive: true, force: true })
}

/** Each line is one attempt; it prints something if it succeeded. */
function buildAttemptScript(scene: Scene): string {
  const { dir, outside, port, victim, mark } = scene
  return [
    'exec 2>/dev/null',
    `echo x > ${quoteWord(join(outside, 'file'))} && echo "BROKEN tree_writes wrote beside the work tree"`,
    'echo x > /usr/phaselock-probe && echo "BROKEN tree_writes wrote into /usr"',
    `grep -l ${mark} ${quoteWord(join(dir, 'secret'))} && echo "BROKEN private_files read the state directory"`,
    `ls -A ${quoteWord(homedir())} | grep -qE '^[.](ssh|bash_history|config|netrc|npmrc)$' && echo "BROKEN private_files saw the home directory"`,
    'cat /etc/shadow && echo "BROKEN private_files read /etc/shadow"',
    `(exec 9<>/dev/tcp/127.0.0.1/${port}) && echo "BROKEN network reached a server of the machine"`,
    `[ -e /proc/${victim.pid}/status ] && grep -q '^Name:.*sleep' /proc/${victim.pid}/status && echo "BROKEN processes saw another process"`,
    `kill -9 ${victim.pid}`,
    `(setsid sleep 7${mark.replace(/\D/g, '').slice(0, 8)} >/dev/null 2>&1 &)`,
    // This must not need another process: a pipe to it is a descriptor too.
    `n=0; for fd in /proc/self/fd/*; do [ "\${fd##*/}" -gt 2 ] && [ -h "$fd" ] && n=$((n + 1)); done; [ $n -gt 0 ] && echo "BROKEN environment inherited $n descriptors"`,
    '[ -n "$ORCHESTRATOR_JWT_SECRET" ] && echo "BROKEN environment inherited a secret"',
    'unshare --user true && echo "BROKEN syscalls made a user namespace"',
    'unshare --mount true && echo "BROKEN syscalls made a mount namespace"',
    `grep -q '^Seccomp:.*2' /proc/self/status || echo "BROKEN syscalls has no seccomp filter"`,
    'for f in /proc/sys/kernel/core_pattern /proc/sysrq-trigger /proc/sys/kernel/hostname; do (: >> $f) && echo "BROKEN kernel opened $f for writing"; done',
    'mount -t tmpfs none /tmp && echo "BROKEN kernel mounted a file system"',
    'echo changed > tests/new.txt && ln src/main.txt tests/alias && echo smuggled >> tests/alias; rm -rf src; mkdir src',
    'echo "UID $(id -u)"',
    'echo READY; read _',
  ].join('\n')
}

interface ProbeResult {
  readonly lines: readonly string[]
  readonly realUid: number | null
  readonly survivors: boolean
  readonly paths: readonly string[]
}

async function runAttempts(sandbox: SandboxStarter, scene: Scene): Promise<ProbeResult> {
  const abort = new AbortController()
  const confined = await sandbox.start({
    tree: scene.tree,
    argv: ['bash', '-c', buildAttemptScript(scene)],
    cwd: '.',
    env: {},
    network: false,
    writes: 'keep',
    git: 'read',
    hidden: [],
    signal: abort.signal,
    timeoutMs: PROBE_MS_MAX,
  })
  let output = ''
  let errors = ''
  let realUid: number | null = null
  let isLooking = false
  const sleeper = `7${scene.mark.replace(/\D/g, '').slice(0, 8)}`
  confined.stderr.on('data', (chunk: Buffer) => {
    errors = (errors + chunk.toString('utf8')).slice(0, 2000)
  })
  confined.stdout.on('data', (chunk: Buffer) => {
    output = (output + chunk.toString('utf8')).slice(0, 20_000)
    if (isLooking || !output.includes('READY')) return
    isLooking = true
    void waitForUid(sleeper, BEGIN_MS_MAX).then((uid) => {
      realUid = uid ?? -1
      confined.stdin.end('\n')
    })
  })
  const ended = await confined.done
  const paths = ended.changes.list.map((change) => change.path)
  await ended.changes.discard()
  if (!output.includes('READY'))
    throw new Error(`a command could not be started: ${errors.trim() || `exit ${ended.exitCode}`}`)
  return { lines: output.split('\n'), realUid, survivors: findUidOfProcess(sleeper) !== null, paths }
}

// On a busy machine the command may report that it is ready before its background process has begun.
async function waitForUid(argument: string, ms: number): Promise<number | null> {
  const deadline = Date.now() + ms
  for (;;) {
    const uid = findUidOfProcess(argument)
    if (uid !== null || Date.now() > deadline) return uid
    await new Promise((resolve) => setTimeout(resolve, BEGIN_POLL_MS))
  }
}

/** The real uid of the process that was started with this argument, as the machine sees it. */
function findUidOfProcess(argument: string): number | null {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      if (!readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(argument)) continue
      return Number(/^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? -1)
    } catch {
      // It ended during the check.
    }
  }
  return null
}

function judge(scene: Scene, seen: ProbeResult): readonly Missing[] {
  const found: Missing[] = []
  const add = (guarantee: Guarantee, what: string): void => {
    found.push({ guarantee, found: what, remedy: REMEDIES[guarantee] })
  }
  for (const line of seen.lines) {
    const [, guarantee, what] = /^BROKEN (\w+) (.*)$/.exec(line) ?? []
    if (guarantee !== undefined && guarantee in REMEDIES) add(guarantee as Guarantee, what ?? '')
  }
  if (existsSync(join(scene.outside, 'file'))) add('tree_writes', 'a file appeared beside the work tree')
  if (readdirSync(join(scene.tree, 'tests')).length > 0)
    add('tree_writes', 'a file appeared in the work tree by itself')
  if (readFileSync(join(scene.tree, 'src', 'main.txt'), 'utf8') !== 'as it was\n')
    add('tree_writes', 'a file was changed through a second name')
  for (const path of ['tests/new.txt', 'src/main.txt'])
    if (!seen.paths.includes(path)) add('tree_writes', `a change of ${path} was not noticed`)
  if (scene.connections > 0) add('network', 'a connection arrived from inside')
  if (scene.victim.exitCode !== null || scene.victim.signalCode !== null) add('processes', 'another process was killed')
  if (seen.survivors) add('processes', 'a process outlived its command')
  if (seen.realUid === null || seen.realUid < 0) add('not_root', 'the real uid could not be seen')
  else if (seen.realUid === 0) add('not_root', 'the command ran with the real uid 0')
  return found
}

const REMEDIES: Readonly<Record<Guarantee, string>> = {
  tree_writes: 'Use a kernel with overlayfs in user namespaces (5.11 or newer), or install bubblewrap.',
  private_files: 'Install bubblewrap, and keep the state directory out of the work tree.',
  network: 'Allow network namespaces on this machine.',
  processes: 'Allow pid namespaces on this machine.',
  environment: 'Report this: descriptors or variables reached a command.',
  not_root: 'Run the server as a normal user, or allow user namespaces.',
  syscalls: 'Install bubblewrap or perl, and use a kernel with seccomp filters.',
  kernel: 'Install bubblewrap, or run the server as a normal user.',
}

export function findProgram(name: string): string | null {
  const folders = ['/usr/bin', '/bin', '/usr/sbin', '/sbin', ...(process.env.PATH ?? '').split(delimiter)]
  for (const folder of folders) {
    if (folder === '') continue
    try {
      accessSync(join(folder, name), constants.X_OK)
      return join(folder, name)
    } catch {
      // Not in this folder.
    }
  }
  return null
}
