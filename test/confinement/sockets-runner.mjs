// Runs behind a wall, as whatever account it is started by, the lines that a test gives it, with a socket that they are given
// and things that they are not. Prints what became of them.
import { mkdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'

const [dist, asked] = process.argv.slice(2)
const { provider, dir, lines } = JSON.parse(asked)
const { openConfinement } = await import(join(dist, 'confinement/open-confinement.js'))
const { runCommand } = await import(join(dist, 'confinement/run-command.js'))
const { openSocketDir, makeSocketPath, listenAt } = await import(join(dist, 'gateway/socket-paths.js'))
const { buildInsideCommand } = await import(join(dist, 'gateway/inside-command.js'))

const arrived = { given: 0, other: 0, port: 0 }
const server = (name) =>
  createServer({ allowHalfOpen: true }, (socket) => {
    arrived[name] += 1
    socket.on('error', () => undefined)
    socket.end(`${name} answers\n`)
  })

const stateDir = join(dir, 'state')
const tree = join(dir, 'tree')
for (const folder of [stateDir, tree]) mkdirSync(folder, { recursive: true, mode: 0o700 })
const wall = await openConfinement({ stateDir, only: provider })
const doors = openSocketDir(stateDir)
const [given, other] = [makeSocketPath(doors), makeSocketPath(doors)]
await listenAt(server('given'), given)
await listenAt(server('other'), other)
const port = await new Promise((resolve) => {
  const tcp = server('port').listen(0, '127.0.0.1', () => resolve(tcp.address().port))
})
const base = { tree, cwd: '.', writes: 'discard', git: 'read', hidden: [], timeoutMs: 60_000 }
const fill = (line) =>
  line.replaceAll('GIVEN', given).replaceAll('OTHER', other).replaceAll('DOORS', doors).replaceAll('PORT', String(port))

const results = []
for (const { line, how } of lines) {
  const argv = ['bash', '-c', fill(line)]
  const plain = { ...base, argv, env: {}, network: false, signal: new AbortController().signal }
  const job = {
    plain: plain,
    given: { ...plain, sockets: [{ name: 'orchestrator', path: given }] },
    inside: { ...plain, ...buildInsideCommand({ sockets: { orchestrator: given }, env: {}, argv }) },
    networked: { ...plain, ...buildInsideCommand({ sockets: { orchestrator: given }, env: {}, argv }), network: true },
  }[how]
  try {
    const { exitCode, stdout, stderr } = await runCommand(wall, job)
    results.push({ exitCode, stdout, stderr })
  } catch (error) {
    results.push({ thrown: error.message })
  }
}
console.log(JSON.stringify({ provider: wall.provider, missing: wall.missing, results, arrived }))
await wall.close()
process.exit(0)
