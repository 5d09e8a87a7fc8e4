import { spawnSync } from 'node:child_process'

/** A network namespace that is connected to this machine by one link. */
export interface Namespace {
  /** The address of this machine on the link. */
  readonly outside: string
  /** The address inside. */
  readonly inside: string
  /** Words before a command that runs inside. */
  readonly enter: readonly string[]
  /** Takes the link down: packets are lost, and nobody is told. */
  cut(): void
  heal(): void
  remove(): void
}

// For tests of networks (RFC 2544), so that no real machine has such an address.
const NETWORKS = 64 * 256

/** Null where it cannot be made: it needs root and iproute2. */
export function openNamespace(): Namespace | null {
  const number = (process.pid * 31 + made) % NETWORKS
  made += 1
  const name = `phaselock-${process.pid}-${made}`
  const [above, below] = [`pl${process.pid}a${made}`.slice(-15), `pl${process.pid}b${made}`.slice(-15)]
  const network = `198.18.${number >> 6}.`
  const first = (number & 63) * 4
  const [outside, inside] = [`${network}${first + 1}`, `${network}${first + 2}`]
  const within = ['netns', 'exec', name, 'ip']
  const remove = (): void => {
    // The link goes with the namespace.
    run(['netns', 'delete', name])
  }
  const isMade = [
    ['netns', 'add', name],
    ['link', 'add', above, 'type', 'veth', 'peer', 'name', below],
    ['link', 'set', below, 'netns', name],
    ['address', 'add', `${outside}/30`, 'dev', above],
    ['link', 'set', above, 'up'],
    [...within, 'address', 'add', `${inside}/30`, 'dev', below],
    [...within, 'link', 'set', 'lo', 'up'],
    [...within, 'link', 'set', below, 'up'],
  ].every(run)
  if (!isMade) {
    run(['link', 'delete', above])
    remove()
    return null
  }
  // Down on the inner side: outside the route stays, so that no packet takes another way.
  const set = (state: 'up' | 'down'): void => {
    if (!run([...within, 'link', 'set', below, state])) throw new Error(`the link of ${name} cannot be set ${state}`)
  }
  return {
    ...{ outside, inside, remove, enter: ['ip', 'netns', 'exec', name] },
    cut: () => set('down'),
    heal: () => set('up'),
  }
}

let made = 0

function run(words: readonly string[]): boolean {
  return process.getuid?.() === 0 && spawnSync('ip', [...words], { stdio: 'ignore' }).status === 0
}
