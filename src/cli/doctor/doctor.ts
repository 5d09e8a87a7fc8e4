import { spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { resolve } from 'node:path'
import { readGitSettings } from '../../app/trees/git-settings.js'
import { loadContractFile } from '../../contract/load/load-contract.js'
import { plainLine } from '../../core/plain-text.js'
import { openDatabase } from '../../store/database.js'
import { listLedgerFiles } from '../../store/ledger-files.js'
import { verifyDirectory } from '../../store/verify/verify-ledger.js'
import { openClient } from '../client/client.js'
import { parsePort } from '../client/connection.js'
import { findLiveServerNote } from '../client/server-file.js'
import { chooseContract, listBasePaths } from '../contracts/choose-contract.js'
import { EXIT, Stop } from '../exit.js'
import { type Finding, missing, ok, warning } from '../finding.js'
import { findGivenStateDir, getDefaultStateDir, listFoldersUpwards } from '../places.js'
import { findProgramName } from '../program-name.js'
import { describeAuthor } from '../terminal/commit-author.js'
import { paintText, print, printJson } from '../terminal/terminal.js'
import { showProgress } from '../trial/progress.js'
import { runFinding } from '../workflow/run-status.js'
import { checkConfinement, makeConfinementFix } from './doctor-confinement.js'
import { checkModel } from './doctor-knowledge.js'
import { checkObservedRuns } from './doctor-observed.js'
import { checkTests } from './doctor-tests.js'

const PORT_DEFAULT = 8000
const NAME_WIDTH = 19
const NODE_MIN = [20, 19] as const
const SECRET_BYTES_MIN = 32
// A larger ledger takes too long for a quick check; `audit verify` reads it completely.
const VERIFY_BYTES_MAX = 64 * 1024 * 1024

export interface DoctorOptions {
  /** Default: the port of the running server of the work tree, or else the default port. */
  readonly port?: number
  readonly contract?: string
  readonly workspace: string
  readonly stateDir?: string
  /** False with `--no-trial`. */
  readonly trial: boolean
  readonly fix?: boolean
  readonly json?: boolean
  /** Only agent CLIs and what binds them. */
  readonly agents?: boolean
  readonly harness?: boolean
}

/** Checks everything that a server needs, and fails when something is missing. */
export async function runDoctor(options: DoctorOptions): Promise<void> {
  const fix = options.fix === true ? makeConfinementFix() : null
  if (fix !== null && options.json !== true) print(`${fix.text}\n`)
  const findings = await collectFindings(options)
  const isMissing = findings.some((finding) => finding.status === 'missing')
  if (options.json === true) printJson({ ok: !isMissing, findings, ...(fix === null ? {} : { fix }) })
  else print(findings.map(formatFinding).join('\n'))
  if (isMissing) throw new Stop(EXIT.refused, '')
}

/** The state directory named, else that of the running server of the work tree or of a folder above it. */
function findStateDir({ stateDir, workspace }: DoctorOptions): string {
  const likely = listFoldersUpwards(workspace).map((folder) => getDefaultStateDir(folder))
  const running = likely.find((dir) => findLiveServerNote(dir) !== null)
  return findGivenStateDir(stateDir) ?? running ?? getDefaultStateDir(workspace)
}

async function collectFindings(options: DoctorOptions): Promise<readonly Finding[]> {
  const stateDir = findStateDir(options)
  const isQuiet = options.json === true
  if (options.agents === true || options.harness === true)
    return showProgress('Trying each agent CLI with a call that must be refused', isQuiet, async () =>
      (await import('./doctor-agents.js')).checkAgents(resolve(options.workspace), stateDir),
    )
  return [
    checkNodeVersion(),
    checkSqlite(),
    checkWorkTree(options.workspace),
    checkStateDirectory(stateDir),
    await showProgress('Verifying the ledger', isQuiet, () => checkLedger(stateDir)),
    ...(await checkContract(options)),
    ...(await checkPorts(options, stateDir)),
    checkSecret(),
    await checkGit(options.workspace),
    ...(await runFinding(stateDir)),
    ...(await checkTaskTrees(stateDir)),
    ...(await showProgress('Trying the sandbox', isQuiet, () => checkConfinement())),
    ...checkObservedRuns(options.workspace, stateDir),
  ]
}

function checkNodeVersion(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const isEnough = major > NODE_MIN[0] || (major === NODE_MIN[0] && minor >= NODE_MIN[1])
  const detail = `Node ${process.versions.node}`
  return isEnough ? ok('node', detail) : missing('node', detail, `Install Node ${NODE_MIN.join('.')} or newer.`)
}

function checkSqlite(): Finding {
  try {
    const database = openDatabase(':memory:', {})
    const version = database.prepare('SELECT sqlite_version() AS version').get()?.version
    database.close()
    return ok('sqlite', `SQLite ${String(version)}`)
  } catch (error) {
    return missing('sqlite', plainLine(String(error)), 'Run `npm install` in the Phaselock folder again.')
  }
}

function checkWorkTree(workspace: string): Finding {
  const isFolder = existsSync(workspace) && statSync(workspace).isDirectory()
  return isFolder
    ? ok('work tree', workspace)
    : missing('work tree', `${workspace} is not a folder`, 'Name it with --workspace DIR.')
}

function checkStateDirectory(dir: string): Finding {
  if (!existsSync(dir)) return ok('state', `${dir} is made at the first start`)
  const mode = statSync(dir).mode & 0o777
  if ((mode & 0o077) !== 0)
    return warning('state', `${dir} is open to others (mode ${mode.toString(8)})`, `Run: chmod 700 ${dir}`)
  try {
    accessSync(dir, constants.R_OK | constants.W_OK)
    return ok('state', dir)
  } catch {
    return missing('state', `${dir} cannot be written`, 'Change its owner, or choose another with --state-dir.')
  }
}

async function checkLedger(dir: string): Promise<Finding> {
  const file = listLedgerFiles(dir).database
  if (!existsSync(file)) return ok('ledger', 'none yet')
  if (statSync(file).size > VERIFY_BYTES_MAX)
    return ok('ledger', 'too large for a quick look; `phaselock audit verify` reads it whole')
  const report = await verifyDirectory(dir)
  if (report.ok) return ok('ledger', `${report.events} events, intact`)
  const [first] = report.problems
  return missing(
    'ledger',
    plainLine(`${first?.code}: ${first?.detail}`),
    'See `phaselock audit verify`; put a good copy back.',
  )
}

async function checkContract(options: DoctorOptions): Promise<readonly Finding[]> {
  try {
    const { path, origin } = chooseContract(options.contract, options.workspace)
    const loaded = await loadContractFile(path)
    if (loaded.ok) {
      const { contract } = loaded
      const isOwn = origin === 'file' || options.contract !== undefined
      const files = { contractFile: resolve(path), contractBases: listBasePaths(loaded) }
      const about = { workspace: options.workspace, contract, ...files, isOwn }
      return [
        ok('contract', plainLine(`${contract.name} ${contract.version} (${path})`)),
        ...checkModel(contract, process.env),
        ...(await checkTests({ ...about, isWanted: options.trial, isQuiet: options.json === true })),
      ]
    }
    const errors = loaded.diagnostics.filter((diagnostic) => diagnostic.severity === 'error').length
    return [missing('contract', plainLine(`${path} has errors: ${errors}`), `Run: phaselock validate ${path}`)]
  } catch (error) {
    if (!(error instanceof Stop)) throw error
    return [missing('contract', plainLine(error.message), 'Name a file, or a bundled contract.')]
  }
}

async function checkPorts({ port }: DoctorOptions, stateDir: string): Promise<readonly Finding[]> {
  const running = findLiveServerNote(stateDir)
  if (running === null) return [await checkPort(port ?? PORT_DEFAULT)]
  const runningPort = Number(parsePort(running.url))
  const server = ok(`port ${runningPort}`, `the server of this work tree (pid ${running.pid})`)
  return port === undefined || port === runningPort ? [server] : [server, await checkPort(port)]
}

async function checkPort(number: number): Promise<Finding> {
  const name = `port ${number}`
  const code = await new Promise<string | null>((settle) => {
    const probe = createServer()
    probe.once('error', (error: NodeJS.ErrnoException) => settle(error.code ?? 'fault'))
    probe.listen({ host: '127.0.0.1', port: number }, () => probe.close(() => settle(null)))
  })
  if (code === null) return ok(name, 'free')
  const detail = code === 'EADDRINUSE' ? 'in use' : `cannot be used (${code})`
  return missing(name, detail, `Stop what uses it, or choose another with --port ${number + 1}`)
}

/** Tasks of the running server whose work tree is gone. */
async function checkTaskTrees(stateDir: string): Promise<readonly Finding[]> {
  const server = findLiveServerNote(stateDir)
  if (server === null) return []
  try {
    const { checks } = await (await openClient({ url: server.url, stateDir })).checkServer()
    return checks
      .filter(({ name }) => name.startsWith('task '))
      .map(({ name, detail, remedy }) => warning(plainLine(name), plainLine(detail), plainLine(remedy)))
  } catch (error) {
    if (!(error instanceof Stop)) throw error
    return [
      warning('server', plainLine(error.message), `Look at its log, or start it again: \`${findProgramName()} up\`.`),
    ]
  }
}

function checkSecret(): Finding {
  const given = process.env.ORCHESTRATOR_JWT_SECRET ?? ''
  if (given === '') return ok('secret', 'generated into the state directory')
  return Buffer.byteLength(given) >= SECRET_BYTES_MIN
    ? ok('secret', 'from ORCHESTRATOR_JWT_SECRET')
    : missing('secret', 'ORCHESTRATOR_JWT_SECRET is shorter than 32 bytes', 'Set a longer one: openssl rand -base64 48')
}

async function checkGit(workspace: string): Promise<Finding> {
  const found = spawnSync('git', ['--version'], { encoding: 'utf8', timeout: 5000 })
  if (found.status !== 0)
    return warning('git', 'not found', 'Install git: agents read the state of the work tree with it.')
  const { text, remedy } = describeAuthor(await readGitSettings(resolve(workspace), process.env))
  const detail = `${found.stdout.trim()}; ${text}`
  return remedy === '' ? ok('git', detail) : warning('git', detail, remedy)
}

function formatFinding({ name, status, detail, remedy, last_lines = [] }: Finding): string {
  const colour = { ok: 'green', warning: 'yellow', missing: 'red' } as const
  const line = `${paintText(colour[status], status.padEnd(8))} ${name.padEnd(NAME_WIDTH)} ${detail}`
  const below = [...(remedy === '' ? [] : [remedy]), ...last_lines.map((text) => `  ${plainLine(text)}`)]
  return [line, ...below.map((text) => `${' '.repeat(NAME_WIDTH + 10)}${text}`)].join('\n')
}
