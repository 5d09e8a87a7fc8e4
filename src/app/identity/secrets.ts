import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeFileAtomically } from '../../base/atomic-file.js'
import { generateOperatorToken } from './identity.js'

const SECRET_VARIABLE = 'ORCHESTRATOR_JWT_SECRET'
const PREVIOUS_MAX = 3

/**
 * The secrets of this server: where they come from and where they are stored. They are used here to sign and verify,
 * and never leave this object otherwise.
 */
export interface SecretKeeper {
  readonly source: 'environment' | 'file'
  readonly variable: string
  /** The signing secret first, then older ones that still verify. */
  readonly signing: () => readonly string[]
  /** Makes a new signing secret; the current one still verifies. Null where the secret comes from the environment. */
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
  if (source === 'file' && !existsSync(file)) writeFileAtomically(file, `${makeSecret()}\n`)
  const signing = (): readonly string[] =>
    source === 'environment' ? [fromEnvironment ?? '', ...previous] : [...readLines(file), ...previous]
  const operatorTokenFile = join(stateDir, 'operator.token')
  return {
    source,
    variable,
    signing,
    rotate: () => {
      if (source === 'environment') return null
      writeFileAtomically(file, `${[makeSecret(), ...readLines(file).slice(0, PREVIOUS_MAX)].join('\n')}\n`)
      return signing()
    },
    operatorTokenFile,
    readOperatorToken: () => (existsSync(operatorTokenFile) ? (readLines(operatorTokenFile)[0] ?? null) : null),
    writeOperatorToken: () => {
      const token = generateOperatorToken()
      writeFileAtomically(operatorTokenFile, `${token}\n`)
      return token
    },
  }
}

function makeSecret(): string {
  return randomBytes(48).toString('base64url')
}

function readLines(file: string): readonly string[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}
