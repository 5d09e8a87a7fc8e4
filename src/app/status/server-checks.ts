import { type Stats, statfsSync, statSync } from 'node:fs'
import type { JsonObject } from '../../core/json.js'
import type { Orchestrator } from '../orchestrator.js'
import { findMissingTrees } from '../tasks/inbox.js'

const NODE_MIN = [20, 19] as const
const FREE_BYTES_MIN = 1024 ** 3

interface ServerCheck {
  readonly name: string
  readonly status: 'ok' | 'warning' | 'problem'
  readonly detail: string
  readonly remedy: string
}

/** What `phaselock doctor` looks at, of the running server. */
export async function checkServer(app: Orchestrator): Promise<JsonObject> {
  const checks = [
    checkNode(),
    checkLedger(app),
    ...checkFolders(app),
    ...(await findMissingTrees(app)).map(({ state, detail, remedy }) => warn(`task ${state.id}`, detail, remedy)),
    ...(await checkSandbox(app)),
    ...checkContract(app),
    checkPause(app),
    ...(await app.webhooks()).flatMap(checkWebhook),
  ]
  return { checks: checks.map((check) => ({ ...check })) }
}

function checkNode(): ServerCheck {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const isEnough = major > NODE_MIN[0] || (major === NODE_MIN[0] && minor >= NODE_MIN[1])
  const detail = `Node ${process.versions.node}`
  return isEnough ? pass('node', detail) : fail('node', detail, `Install Node ${NODE_MIN.join('.')} or newer.`)
}

function checkLedger(app: Orchestrator): ServerCheck {
  const integrity = app.integrity()
  if (integrity === 'ok') return pass('ledger', 'verified when the server started')
  if (integrity === 'unchecked') return warn('ledger', 'is still being verified', 'Wait a moment.')
  return fail('ledger', 'failed verification', 'Run `phaselock audit verify`; put a good copy back.')
}

function checkFolders({ stateDir, workspace }: Orchestrator): readonly ServerCheck[] {
  const state = findStats(stateDir)
  const tree = findStats(workspace)
  const isOpen = state !== undefined && (state.mode & 0o077) !== 0
  const mode = ((state?.mode ?? 0) & 0o777).toString(8)
  return [
    tree?.isDirectory() === true
      ? pass('work tree', workspace)
      : fail('work tree', `${workspace} is not a folder`, 'Put it back, or start the server with --workspace DIR.'),
    state === undefined
      ? fail('state', `${stateDir} is gone or cannot be opened`, 'Put a backup back.')
      : isOpen
        ? warn('state', `${stateDir} is open to others (mode ${mode})`, `Run: chmod 700 ${stateDir}`)
        : pass('state', stateDir),
    checkSpace(stateDir),
  ]
}

function findStats(path: string): Stats | undefined {
  try {
    return statSync(path)
  } catch {
    return undefined
  }
}

function checkSpace(stateDir: string): ServerCheck {
  try {
    const { bavail, bsize } = statfsSync(stateDir)
    const free = bavail * bsize
    const detail = `${(free / 1024 ** 3).toFixed(1)} GiB free`
    return free >= FREE_BYTES_MIN
      ? pass('disk', detail)
      : warn('disk', detail, 'Make room: without it nothing can be recorded, and every call is refused.')
  } catch {
    return warn('disk', 'cannot be looked at', 'Look at the free space by hand.')
  }
}

async function checkSandbox(app: Orchestrator): Promise<readonly ServerCheck[]> {
  const { provider, missing, notes } = await app.confinement()
  if (missing.length === 0) return [pass('sandbox', [provider, ...notes].join('. '))]
  return missing.map(({ guarantee, found, remedy }) => warn(`sandbox: ${guarantee}`, found, remedy))
}

function checkContract(app: Orchestrator): readonly ServerCheck[] {
  const { name, version, hash } = app.contractOf
  const detail = `${name} ${version}`
  return [
    app.contracts.isTrusted(hash)
      ? pass('contract', detail)
      : warn('contract', `${detail} is not trusted`, 'Read it and trust it: `phaselock trust`.'),
  ]
}

function checkPause({ ledger }: Orchestrator): ServerCheck {
  const { paused } = ledger.registry
  return paused === null
    ? pass('agents', 'are not paused')
    : warn('agents', `are paused: ${paused}`, 'Resume them: `phaselock unpause`.')
}

function checkWebhook({
  url,
  problem,
}: {
  readonly url: string
  readonly problem: string | null
}): readonly ServerCheck[] {
  return problem === null
    ? []
    : [warn(`webhook ${url}`, problem, 'See its last deliveries, and correct the contract or the receiver.')]
}

function pass(name: string, detail: string): ServerCheck {
  return { name, status: 'ok', detail, remedy: '' }
}

function warn(name: string, detail: string, remedy: string): ServerCheck {
  return { name, status: 'warning', detail, remedy }
}

function fail(name: string, detail: string, remedy: string): ServerCheck {
  return { name, status: 'problem', detail, remedy }
}
