const NAME_CHARS_MAX = 128

// The end of a name decides: `phase_token` is a secret, `token_count`, `max_tokens` and `secret_name` are not.
const SECRET_ENDS: ReadonlySet<string> = new Set([
  'password',
  'passwd',
  'passphrase',
  'secret',
  'secrets',
  'token',
  'apikey',
  'authorization',
  'credential',
  'credentials',
  'cookie',
  'jwt',
  'bearer',
  'pat',
])

const SECRET_KEYS: ReadonlySet<string> = new Set([
  'api',
  'access',
  'secret',
  'private',
  'signing',
  'encryption',
  'master',
  'session',
  'hmac',
  'ssh',
  'auth',
])

// `pass` and `pwd` alone are results and directories; `DB_PASS` and `db_pwd` are secrets.
const SECRET_WHEN_PREFIXED: ReadonlySet<string> = new Set(['pass', 'pwd', 'auth'])

/** Whether a field or variable of this name contains a secret. Case, dashes and camel case do not matter. */
export function isSecretName(name: string): boolean {
  const words = name
    .slice(0, NAME_CHARS_MAX)
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '')
  const last = words.at(-1) ?? ''
  const before = words.at(-2) ?? ''
  if (SECRET_ENDS.has(last)) return true
  if (last === 'key') return SECRET_KEYS.has(before)
  if (last === 'base') return before === 'key'
  return SECRET_WHEN_PREFIXED.has(last) && before !== '' && before !== 'old'
}

const SECRET_CHARS_MIN = 8

/** Values of an environment whose names look like secrets. */
export function listEnvironmentSecrets(environment: NodeJS.ProcessEnv): readonly string[] {
  return Object.entries(environment)
    .filter(([name, value]) => isSecretName(name) && value !== undefined && value.length >= SECRET_CHARS_MIN)
    .map(([, value]) => value ?? '')
}
