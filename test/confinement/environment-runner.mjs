// Runs commands with the environments that a test gives it, as whatever account it is started by. Prints what each command saw,
// and where its values could be seen meanwhile by others.
import { mkdirSync, readdirSync, readFileSync, readlinkSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const [dist] = process.argv.slice(2)
const { provider, dir, jobs } = JSON.parse(readFileSync(0, 'utf8'))
const { openConfinement } = await import(join(dist, 'confinement/open-confinement.js'))

const stateDir = join(dir, 'state')
const tree = join(dir, 'tree')
for (const folder of [stateDir, tree]) mkdirSync(folder, { recursive: true, mode: 0o700 })
const wall = await openConfinement({ stateDir, only: provider })

/** Command lines and environments of the processes outside the command, and files of the state directory, that hold the text. */
function seenOutside(text) {
  const here = readlinkSync('/proc/self/ns/pid')
  const look = (path) => {
    try {
      return readFileSync(path).includes(text) ? [path] : []
    } catch {
      return []
    }
  }
  const isOutside = (pid) => {
    try {
      return readlinkSync(`/proc/${pid}/ns/pid`) === here && Number(pid) !== process.pid
    } catch {
      return false
    }
  }
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && isOutside(name))
  const files = readdirSync(stateDir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return [
    ...pids.flatMap((pid) => [...look(`/proc/${pid}/cmdline`), ...look(`/proc/${pid}/environ`)]),
    ...files.flatMap((entry) => look(join(entry.parentPath, entry.name))),
  ]
}

const results = []
for (const { argv, env, secret, files = {}, timeoutMs = 60_000 } of jobs) {
  // As tools write their settings: beside the place, and then renamed.
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(`${path}.new`, content)
    renameSync(`${path}.new`, path)
  }
  const job = {
    tree,
    cwd: '.',
    argv,
    env,
    network: false,
    writes: 'discard',
    git: 'read',
    hidden: [],
    timeoutMs,
  }
  const confined = await wall.start({ ...job, signal: new AbortController().signal }).catch((error) => error)
  if (confined instanceof Error) {
    results.push({ exitCode: null, seen: null, stdout: '', stderr: confined.message })
    continue
  }
  const chunks = []
  const errors = []
  let seen = null
  confined.stdout.on('data', (chunk) => {
    chunks.push(chunk)
    if (seen !== null || !Buffer.concat(chunks).includes('READY')) return
    seen = secret === undefined ? [] : seenOutside(secret)
    confined.stdin.end('\n')
  })
  confined.stderr.on('data', (chunk) => errors.push(chunk))
  const { exitCode, changes } = await confined.done
  await changes.discard()
  results.push({ exitCode, seen, stdout: Buffer.concat(chunks).toString(), stderr: Buffer.concat(errors).toString() })
}
console.log(JSON.stringify({ provider: wall.provider, results }))
await wall.close()
process.exit(0)
