import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { syncDirectory } from '../../store/ledger-files.js'
import { generateOperatorToken } from './identity.js'

export const SECRET_VARIABLE = 'ORCHESTRATOR_JWT_SECRET'
const PREVIOUS_MAX = 3

/** The secrets of this server: where they come from and where they are kept. They never leave this object but to sign and verify. */
export interface SecretKeeper {
  readonly source: 'environment' | 'file'
  readonly variable: string
  /** The signing secret first, then those that still verify. */
  readonly signing: () => readonly string[]
  /** Makes a new signing secret; the present one still verifies. Null where the secret comes from the environment. */
  readonly rotate: () => readonly string[] | null
  readonly operatorTokenFile: string
  readonly readOperatorToken: () => string | null
  readonly writeOperatorToken: () => string
}

export function openSecrets(
  stateDir: string,
  environment: NodeJS.ProcessEnv,
  variable: string = SECRET_VARIABLE,
): SecretKeeper {
  const file = join(stateDir, 'signing.secret')
  const fromEnvironment = environment[variable]
  const previous = (environment[`${variable}_PREVIOUS`] ?? '')
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')
  const source = fromEnvironment !== undefined && fromEnvironment !== '' ? 'environment' : 'file'
  if (source === 'file' && !existsSync(file)) writeSecret(file, randomBytes(48).toString('base64url'))
  const signing = (): readonly string[] =>
    source === 'environment' ? [fromEnvironment ?? '', ...previous] : [...readLines(file), ...previous]
  const operatorTokenFile = join(stateDir, 'operator.token')
  return {
    source,
    variable,
    signing,
    rotate: () => {
      if (source === 'environment') return null
      writeSecret(file, [randomBytes(48).toString('base64url'), ...readLines(file).slice(0, PREVIOUS_MAX)].join('\n'))
      return signing()
    },
    operatorTokenFile,
    readOperatorToken: () => (existsSync(operatorTokenFile) ? (readLines(operatorTokenFile)[0] ?? null) : null),
    writeOperatorToken: () => {
      const token = generateOperatorToken()
      writeSecret(operatorTokenFile, token)
      return token
    },
  }
}

function readLines(file: string): readonly string[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

function writeSecret(file: string, content: string): void {
  const temporary = `${file}.new`
  writeFileSync(temporary, `${content}\n`, { mode: 0o600, flush: true })
  chmodSync(temporary, 0o600)
  renameSync(temporary, file)
  // Without this a power failure may bring back the directory as it was: the token just copied would be dead.
  syncDirectory(dirname(file))
}
