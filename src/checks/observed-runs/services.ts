import { spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { packagePath } from '../../base/package-root.js'
import { formatSocketPath, type JobSocket } from '../../confinement/confinement.js'
import { buildHostView } from '../../confinement/view/host-view.js'
import { isInside } from '../../confinement/view/toolchains.js'
import type { Service } from '../../core/contract/contract-parts.js'
import type { ServiceUse } from '../../core/evidence/observed-run.js'

const RELAY = packagePath('runtime/sandbox/inside.mjs')
const CONNECTIONS_MAX = 256
const CONNECT_MS_MAX = 3000
const READY_MS_MAX = 60_000
const READY_AGAIN_MS = 200
const COMMAND_MS_MAX = 120_000
const OUTPUT_CHARS_MAX = 2000
const LINGER_MS = 500

/** Services of the machine that one command may reach, and nothing else of its network. */
export interface OpenServices {
  readonly sockets: readonly JobSocket[]
  /** Wraps a command with a relay that listens on the command's own loopback. */
  wrap(argv: readonly string[], env: Readonly<Record<string, string>>): readonly string[]
  /** Folders that the relay needs. */
  readonly shown: readonly string[]
  used(): readonly ServiceUse[]
  close(): Promise<void>
}

/**
 * Connects to each service. Services that do not answer are started if the contract says how. Returns a text if one of
 * them cannot be reached.
 */
export async function openServices(
  services: Readonly<Record<string, Service>>,
  isWalled: boolean,
): Promise<OpenServices | string> {
  const opened: Relay[] = []
  const close = async (): Promise<void> => {
    for (const relay of opened) await relay.close()
  }
  for (const [name, service] of Object.entries(services)) {
    const problem = await startService(name, service)
    if (problem !== null) {
      await close()
      return problem
    }
    opened.push(await openRelay(name, service, isWalled))
  }
  const doors = opened.flatMap(({ name, port }) => (port === null ? [] : [`${port}=${formatSocketPath(name)}`]))
  const node = realpathSync(process.execPath)
  return {
    sockets: isWalled ? opened.flatMap(({ socket }) => socket ?? []) : [],
    shown: isWalled && doors.length > 0 ? [dirname(realpathSync(RELAY)), dirname(node)].filter(isHidden) : [],
    wrap: (argv, { NODE_OPTIONS = '' }) => {
      if (!isWalled || doors.length === 0) return argv
      // The guards apply to the command, not to the relay that starts it.
      const start = ['env', '-u', 'NODE_OPTIONS', node, realpathSync(RELAY), ...doors, '--']
      return [...start, 'env', `NODE_OPTIONS=${NODE_OPTIONS}`, ...argv]
    },
    used: () => opened.map(({ use }) => use()),
    close,
  }
}

// Usually Node is in a folder that every command sees.
function isHidden(folder: string): boolean {
  return !buildHostView().shown.some((one) => isInside(one, folder))
}

interface Relay {
  readonly name: string
  /** The port inside the sandbox; null if the service is a socket there too. */
  readonly port: number | null
  readonly socket: JobSocket | null
  use(): ServiceUse
  close(): Promise<void>
}

async function openRelay(name: string, service: Service, isWalled: boolean): Promise<Relay> {
  const { address } = service
  const to = parseAddress(address)
  const counts = { connections: 0, refused: 0 }
  const about = {
    name,
    port: 'port' in to ? to.port : null,
    use: () => ({ name, address, ...counts }),
  }
  if (!isWalled) return { ...about, socket: null, close: () => stopService(service) }
  const dir = mkdtempSync(join(tmpdir().length > 60 ? '/tmp' : tmpdir(), 'phaselock-service-'))
  const path = join(dir, 's')
  const open = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true }, (near) => {
    counts.connections += 1
    const far = connect({ ...to, allowHalfOpen: true })
    let isConnected = false
    far.once('connect', () => {
      isConnected = true
    })
    far.once('error', () => {
      if (!isConnected) counts.refused += 1
    })
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(one)
      one.on('error', () => other.destroy())
      one.on('close', () => {
        open.delete(one)
        other.destroySoon()
      })
      one.pipe(other)
    }
  })
  server.maxConnections = CONNECTIONS_MAX
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, resolve)
  })
  // Commands may run under another account. Only this run uses the folder.
  chmodSync(path, 0o666)
  return {
    ...about,
    socket: { name, path },
    close: async () => {
      for (const socket of open) socket.destroy()
      server.close()
      rmSync(dir, { recursive: true, force: true })
      await stopService(service)
    },
  }
}

function parseAddress(address: string): { readonly host: string; readonly port: number } | { readonly path: string } {
  if (address.startsWith('/')) return { path: address }
  const at = address.lastIndexOf(':')
  return { host: address.slice(0, at).replace(/^\[|\]$/g, ''), port: Number(address.slice(at + 1)) }
}

/** Number of runs that use each started service; it is stopped after the last of them. */
const started = new Map<string, number>()

// Starts the service if needed. Returns why it cannot be reached, or null.
async function startService(name: string, service: Service): Promise<string | null> {
  const key = JSON.stringify(service)
  const users = started.get(key) ?? 0
  const isThere = await isReady(service)
  if (users > 0 && isThere) {
    started.set(key, users + 1)
    return null
  }
  if (isThere) return null
  if (service.start === undefined) return `the service ${name} at ${service.address} refused the connection`
  started.set(key, users + 1)
  const failed = await runOnHost(service.start)
  const until = Date.now() + READY_MS_MAX
  while (failed === null && Date.now() < until) {
    if (await isReady(service)) return null
    await new Promise((resolve) => setTimeout(resolve, READY_AGAIN_MS))
  }
  await stopService(service)
  return `the service ${name} at ${service.address} refused the connection after it was started${failed === null ? '' : `: ${failed}`}`
}

async function stopService(service: Service): Promise<void> {
  const key = JSON.stringify(service)
  const users = started.get(key) ?? 0
  if (users === 0) return
  if (users > 1) started.set(key, users - 1)
  else {
    started.delete(key)
    if (service.stop !== undefined) await runOnHost(service.stop)
  }
}

async function isReady({ address, ready }: Service): Promise<boolean> {
  const isThere = await new Promise<boolean>((resolve) => {
    const socket = connect({ ...parseAddress(address), timeout: CONNECT_MS_MAX })
    socket.once('connect', () => resolve(true))
    for (const event of ['error', 'timeout', 'close'] as const) socket.once(event, () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
  return isThere && (ready === undefined || (await runOnHost(ready)) === null)
}

const PASSED = ['PATH', 'HOME', 'USER', 'LOGNAME', 'LANG', 'TZ', 'DOCKER_HOST', 'XDG_RUNTIME_DIR'] as const

/**
 * Runs a command of the contract on the machine itself, outside the work tree. Returns its output if it fails, or null.
 */
function runOnHost(line: string): Promise<string | null> {
  const env = Object.fromEntries(PASSED.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])))
  const child = spawn('bash', ['-c', line], { cwd: '/', env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      output = `${output}${chunk}`.slice(-OUTPUT_CHARS_MAX)
    })
  return new Promise((resolve) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), COMMAND_MS_MAX)
    child.once('error', (error) => resolve(error.message))
    child.once('close', (code) => {
      clearTimeout(timer)
      resolve(code === 0 ? null : `${line} ended with ${code ?? 'a signal'}: ${output.trim()}`)
    })
    // The last lines may come after the end. Processes that the command started may keep the output open.
    child.once('exit', (code) => {
      const lingerMs = code === 0 ? 0 : LINGER_MS
      setTimeout(() => {
        for (const stream of [child.stdout, child.stderr]) stream.destroy()
      }, lingerMs).unref()
    })
  })
}
