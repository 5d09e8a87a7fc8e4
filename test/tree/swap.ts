import { type ChildProcess, spawn, spawnSync } from 'node:child_process'

// RENAME_EXCHANGE: both names are always there, and each is one or the other.
const EXCHANGE = `
import ctypes, signal, sys
libc = ctypes.CDLL(None, use_errno=True)
count, going = 0, True
def stop(*_):
    global going
    going = False
signal.signal(signal.SIGTERM, stop)
a, b = sys.argv[1].encode(), sys.argv[2].encode()
swap = libc.renameat2
print('ready', flush=True)
while going:
    if swap(-100, a, -100, b, 2) == 0: count += 1
print(count, flush=True)
`

// Three renames in turn, for machines without the other.
const RENAMES = `
const fs = require('fs')
const [a, b] = process.argv.slice(1)
let count = 0
let going = true
process.on('SIGTERM', () => { going = false })
console.log('ready')
const turn = () => {
  for (let i = 0; i < 50; i += 1) {
    fs.renameSync(a, a + '.aside'); fs.renameSync(b, a); fs.renameSync(a + '.aside', b); count += 1
  }
  if (going) setImmediate(turn)
  else console.log(count)
}
turn()
`

export interface Swapping {
  /** Ends it, and tells how often the two names were swapped. */
  stop(): Promise<number>
}

/** Another process that swaps two names as fast as it can. */
export async function startSwapping(a: string, b: string): Promise<Swapping> {
  const child = hasExchange
    ? spawn('python3', ['-c', EXCHANGE, a, b], { stdio: ['ignore', 'pipe', 'inherit'] })
    : spawn(process.execPath, ['-e', RENAMES, a, b], { stdio: ['ignore', 'pipe', 'inherit'] })
  const lines = readLines(child)
  await lines.next()
  return {
    stop: async () => {
      child.kill('SIGTERM')
      return Number((await lines.next()).value)
    },
  }
}

async function* readLines(child: ChildProcess): AsyncGenerator<string> {
  let rest = ''
  for await (const chunk of child.stdout ?? []) {
    const lines = (rest + String(chunk)).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
}

// Waits for each directory to be made, and puts another one in its place for a moment.
const AMBUSH = `
import ctypes, os, signal, sys, time
libc = ctypes.CDLL(None, use_errno=True)
base, prey, count = sys.argv[1], sys.argv[2].encode(), 0
going = True
def stop(*_):
    global going
    going = False
signal.signal(signal.SIGTERM, stop)
print('ready', flush=True)
n = 0
while going:
    made = (base + str(n)).encode()
    while going and not os.path.lexists(made): pass
    if libc.renameat2(-100, made, -100, prey, 2) == 0:
        count += 1
        time.sleep(0.0005)
        libc.renameat2(-100, made, -100, prey, 2)
    n += 1
print(count, flush=True)
`

/** Another process that swaps every directory `base0`, `base1`, … with `prey` as soon as it is made. */
export async function startAmbush(base: string, prey: string): Promise<Swapping> {
  const child = spawn('python3', ['-c', AMBUSH, base, prey], { stdio: ['ignore', 'pipe', 'inherit'] })
  const lines = readLines(child)
  await lines.next()
  return {
    stop: async () => {
      child.kill('SIGTERM')
      return Number((await lines.next()).value)
    },
  }
}

export const hasExchange = spawnSync('python3', ['-c', 'import ctypes; ctypes.CDLL(None).renameat2']).status === 0
