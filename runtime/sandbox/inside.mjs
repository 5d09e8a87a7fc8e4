// Runs in the sandbox before an agent that can only speak TCP: listens on the loopback, which only this agent has,
// forwards each connection to one of the mounted sockets, and runs the agent.
//
//   node inside.mjs PORT=SOCKET … -- PROGRAM ARGUMENT …
import { spawn } from 'node:child_process'
import { connect, createServer } from 'node:net'
import { constants, networkInterfaces } from 'node:os'

const CONNECTIONS_MAX = 256
const CANNOT_RUN = 126
const NOT_FOUND = 127
const SIGNALLED = 128
const PASSED_ON = ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGUSR1', 'SIGUSR2', 'SIGWINCH', 'SIGCONT']

const words = process.argv.slice(2)
const end = words.indexOf('--')
const ports = words.slice(0, Math.max(end, 0)).map((word) => /^(\d{1,5})=(\/.+)$/.exec(word))
const [program, ...args] = end === -1 ? [] : words.slice(end + 1)

if (program === undefined || ports.some((port) => port === null)) fail('called with unknown arguments')
if (Object.values(networkInterfaces()).some((all) => all?.some((one) => !one.internal)))
  fail('the sandbox has a network: the agent is not started')

// All signals, including the one that would open Node's debugger here.
const waiting = []
let child = null
for (const signal of PASSED_ON)
  process.on(signal, () => {
    if (child === null) waiting.push(signal)
    else child.kill(signal)
  })

try {
  await Promise.all(ports.map(([, port, socket]) => openDoor(Number(port), socket)))
} catch (error) {
  fail(`cannot listen on the loopback (${error.code})`)
}

child = spawn(program, args, { stdio: 'inherit' })
child.on('error', (error) => {
  process.stderr.write(`phaselock: ${program} cannot be started (${error.code})\n`)
  process.exit(error.code === 'ENOENT' ? NOT_FOUND : CANNOT_RUN)
})
child.on('exit', (code, signal) => process.exit(code ?? SIGNALLED + (constants.signals[signal] ?? 0)))
for (const signal of waiting) child.kill(signal)

function openDoor(port, socket) {
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (near) => {
    const far = connect({ path: socket, allowHalfOpen: true })
    for (const [one, other] of [
      [near, far],
      [far, near],
    ]) {
      one.on('error', () => other.destroy())
      one.on('close', () => other.destroySoon())
      one.pipe(other)
    }
  })
  server.maxConnections = CONNECTIONS_MAX
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host: '127.0.0.1', port }, resolve)
  })
}

function fail(why) {
  process.stderr.write(`phaselock: ${why}\n`)
  process.exit(CANNOT_RUN)
}
