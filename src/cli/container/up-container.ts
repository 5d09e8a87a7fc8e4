import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { basename, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { writeFileAtomically } from '../../base/atomic-file.js'
import { plainText } from '../../core/plain-text.js'
import { PROOF_KEY_FILE } from '../../store/server-proof.js'
import { findRunningServer } from '../client/lock-holder.js'
import { type ContainerPlace, readServerNote, type ServerNote, writeServerNote } from '../client/server-file.js'
import { ownContract } from '../contracts/choose-contract.js'
import { settleContract } from '../contracts/settle-contract.js'
import { EXIT, Stop } from '../exit.js'
import { findProgramName } from '../program-name.js'
import { extractMessage, resolveServerPlaces, sayRunning, toWanted } from '../server/background.js'
import type { ServeOptions } from '../server/serve.js'
import { showProgress } from '../trial/progress.js'
import { buildGitConfig, buildRunArguments, mapWorkspace, STATE_INSIDE } from './container-arguments.js'
import { findImage } from './container-image.js'
import { askEngine, findEngine, isContainerRunning, requireEngine } from './engine.js'

const READY_MS_MAX = 60_000
// The first container of an image can take long: some storage drivers copy all of it.
const START_MS_MAX = 120_000
const POLL_MS = 200
const LOG_LINES_MAX = 30
const LOOPBACK = '127.0.0.1'

export interface ContainerOptions extends ServeOptions {
  readonly container?: boolean
  readonly engine?: string
  readonly image?: string
}

/** Starts the server in a container, with the work tree mounted, and waits until it answers. */
export async function runUpInContainer(options: ContainerOptions): Promise<void> {
  refuseOthers(options)
  const { stateDir, workspace } = resolveServerPlaces(options)
  const running = findRunningServer(stateDir)
  if (running !== null) return sayRunning(running, stateDir, { ...options, isNew: false })
  refuseWorktree(workspace)
  const engine = findEngine(options.engine)
  const settled = await settleContract(toWanted(options), async () => new Map())
  if (settled.notes.length > 0) throw new Stop(EXIT.refused, `${settled.notes.join('\n')}\nNothing was started.`)
  const image = await findImage(engine.name, options.image)
  const port = await choosePort(options.port)
  const place = { engine: engine.name, name: `phaselock-${basename(stateDir)}` }
  const gitConfig = join(stateDir, 'container.gitconfig')
  writeFileAtomically(gitConfig, buildGitConfig(workspace))
  // What a start that failed has left; a running one was found above.
  askEngine(engine.name, ['rm', '--force', place.name])
  const plan = { name: place.name, image, port, workspace, gitConfig, serve: listServeArguments(options, workspace) }
  requireEngine(engine.name, buildRunArguments(engine, plan), {
    doing: 'The container cannot be started',
    msMax: START_MS_MAX,
  })
  const note = await showProgress('Starting the server', options.json === true, () => waitForServer(place))
  keepOnHost(stateDir, place, note)
  sayRunning({ ...note, container: place }, stateDir, { ...options, isNew: true, settled })
}

const NOT_INSIDE = ['store', 'advertise', 'sharedTrees', 'tlsCert', 'tlsKey', 'transcripts', 'confinement'] as const

// What belongs to the host means nothing inside, and a server that listens elsewhere than asked would be a surprise.
function refuseOthers(options: ContainerOptions): void {
  const given = NOT_INSIDE.filter((name) => options[name] !== undefined)
  const words = given.map((name) => `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`)
  if (options.host !== LOOPBACK) words.unshift('--host')
  if (words.length === 0) return
  throw new Stop(
    EXIT.usage,
    `${words.join(', ')} cannot be used with --container: its server is for this machine, with its state in a volume.\nRun the image yourself for more: docs/operate.md.`,
  )
}

function refuseWorktree(workspace: string): void {
  const git = join(workspace, '.git')
  if (!existsSync(git) || !isLink(git)) return
  throw new Stop(
    EXIT.refused,
    `${workspace} is a linked work tree: its repository is elsewhere and would be missing in the container.\nStart it in the main work tree; \`git worktree list\` names it first.`,
  )
}

function isLink(git: string): boolean {
  try {
    return readFileSync(git, 'utf8').startsWith('gitdir:')
  } catch {
    // A folder: a repository of its own.
    return false
  }
}

/** The contract is named inside: it was accepted here. */
function listServeArguments(options: ContainerOptions, workspace: string): readonly string[] {
  const own = options.contract === undefined ? ownContract(workspace) : null
  const contract = own === null ? options.contract : own.replace(workspace, mapWorkspace(workspace))
  return [
    ...(contract === undefined ? [] : ['--contract', contract]),
    ...(options.confirm === undefined ? [] : ['--confirm', options.confirm]),
    ...(options.minConfinement === undefined ? [] : ['--min-confinement', options.minConfinement]),
    ...(options.allowHost ?? []).flatMap((name) => ['--allow-host', name]),
    ...(options.firstCode === true ? ['--first-code'] : []),
  ]
}

async function waitForServer(place: ContainerPlace): Promise<ServerNote> {
  const deadline = Date.now() + READY_MS_MAX
  while (Date.now() < deadline) {
    const { ok, stdout } = askEngine(place.engine, ['exec', place.name, 'cat', `${STATE_INSIDE}/server.json`])
    const note = ok ? (JSON.parse(stdout) as { pid: number; url: string; started_at: string }) : null
    if (note !== null && (await isReady(note.url))) return { pid: note.pid, url: note.url, startedAt: note.started_at }
    if (!isContainerRunning(place)) break
    await wait(POLL_MS)
  }
  const { stdout, stderr } = askEngine(place.engine, ['logs', place.name])
  askEngine(place.engine, ['rm', '--force', place.name])
  const said = plainText(`${stdout}${stderr}`).trimEnd().split('\n').slice(-LOG_LINES_MAX).join('\n')
  throw new Stop(EXIT.refused, `The server in the container did not start.\n${extractMessage(said)}`)
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/health`, { signal: AbortSignal.timeout(2000) })).ok
  } catch {
    // Not listening yet, or its port is not published yet.
    return false
  }
}

/** What commands on the host need: the address, the person's token, and what the server proves itself with. */
function keepOnHost(stateDir: string, place: ContainerPlace, note: ServerNote): void {
  for (const file of ['operator.token', PROOF_KEY_FILE]) {
    const text = requireEngine(place.engine, ['exec', place.name, 'cat', `${STATE_INSIDE}/${file}`], {
      doing: `${file} of the server cannot be read`,
    })
    writeFileAtomically(join(stateDir, file), text)
  }
  writeServerNote(stateDir, { ...note, container: place })
  if (readServerNote(stateDir)?.container === undefined)
    throw new Stop(
      EXIT.refused,
      `The note about the container in ${stateDir} cannot be read. Run: ${findProgramName()} down`,
    )
}

async function choosePort(wanted: number): Promise<number> {
  const found = await new Promise<number | null>((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(null))
    probe.listen({ host: LOOPBACK, port: wanted }, () => {
      const { port } = probe.address() as { port: number }
      probe.close(() => resolve(port))
    })
  })
  if (found !== null) return found
  throw new Stop(
    EXIT.refused,
    `Port ${wanted} is in use. Choose another one with --port, or any free one with --port 0.`,
  )
}
