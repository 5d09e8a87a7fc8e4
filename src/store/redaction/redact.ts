import type { Json } from '../../core/json.js'
import { isSecretName } from './secret-names.js'

const REDACTED = '[redacted]'
const DEPTH_MAX = 128
const SECRETS_MAX = 256
// Shorter ones would be found inside ordinary words.
const SECRET_CHARS_MIN = 6

/**
 * Makes the function that removes secrets before storing: known shapes of tokens and keys, the given secrets, values of
 * fields and variables named like secrets. Pure; linear in the length.
 */
export function makeRedactor(secrets: readonly string[]): (value: Json) => Json {
  const exact = listExactForms(secrets)
  return (value) => redact(value, exact, 0)
}

function redact(value: Json, exact: readonly string[], depth: number): Json {
  if (typeof value === 'string') return redactText(value, exact)
  if (typeof value !== 'object' || value === null) return value
  if (depth >= DEPTH_MAX) return REDACTED
  if (isArray(value)) return value.map((item) => redact(item, exact, depth + 1))
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      redactText(name, exact),
      isSecretName(name) ? blankTexts(item, depth + 1) : redact(item, exact, depth + 1),
    ]),
  )
}

function isArray(value: Json): value is readonly Json[] {
  return Array.isArray(value)
}

/** Below a field named like a secret every text counts as one; numbers and booleans are counts and flags. */
function blankTexts(value: Json, depth: number): Json {
  if (typeof value === 'string') return value === '' ? '' : REDACTED
  if (typeof value !== 'object' || value === null) return value
  if (depth >= DEPTH_MAX) return REDACTED
  if (isArray(value)) return value.map((item) => blankTexts(item, depth + 1))
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, blankTexts(item, depth + 1)]))
}

/**
 * A secret as it is, and as encoded in URLs and basic authorization. Longest first, so that none hides inside another.
 */
function listExactForms(secrets: readonly string[]): readonly string[] {
  const usable = secrets.slice(0, SECRETS_MAX).filter((secret) => secret.length >= SECRET_CHARS_MIN)
  const forms = usable.flatMap((secret) => [
    secret,
    encodeURIComponent(secret.replaceAll(/\p{Surrogate}/gu, '')),
    Buffer.from(secret).toString('base64'),
    Buffer.from(secret).toString('base64url'),
  ])
  return [...new Set(forms)].sort((a, b) => b.length - a.length)
}

// Each pattern begins where no character of its own kind precedes: one start per run, so that a long run is read once.
// Overlapping repetitions are bounded.
const SHAPES: readonly RegExp[] = [
  /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|$)/g,
  /(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?/g,
  /(?<![\w-])plop_[\w-]{16,}/g,
  /(?<!\w)gh[pousr]_[A-Za-z0-9]{20,}/g,
  /(?<!\w)github_pat_\w{20,}/g,
  /(?<![\w-])glpat-[\w-]{20,}/g,
  /(?<!\w)(?:AKIA|ASIA)[A-Z0-9]{16}(?!\w)/g,
  /(?<![\w-])xox[a-z]-[A-Za-z0-9-]{10,}/g,
  /(?<![\w-])xapp-[A-Za-z0-9-]{10,}/g,
  /(?<![\w-])sk-(?=[A-Za-z_-]{0,200}[0-9])[\w-]{20,}/g,
  /(?<!\w)[sr]k_(?:live|test)_[A-Za-z0-9]{16,}/g,
  /(?<![\w-])AIza[\w-]{35}(?![\w-])/g,
  /(?<!\w)npm_[A-Za-z0-9]{36}(?!\w)/g,
  /(?<!\w)hf_[A-Za-z0-9]{30,}/g,
]

const AUTHORIZATION =
  /(?<![\w-])((?:proxy-)?authorization["']?\s{0,4}[:=]\s{0,4}["']?)(?:(?:bearer|basic|token|digest|negotiate)\s{1,4})?[^\s"',;]+/gi
// Prose mentions "basic requirements": outside a header only a long word with a digit counts as a credential.
const SCHEME = /(?<![\w-])(bearer|basic)(\s{1,4})(?=[A-Za-z._~+/=-]{0,200}[0-9])[\w.~+/=-]{16,}/gi
const URL_PASSWORD = /(?<![a-z0-9+.-])([a-z][a-z0-9+.-]{0,30}:\/\/)[^\s:@/?#]{0,256}:[^\s@/]{1,512}@/gi
const ASSIGNMENT =
  /(?<![\w$-])(-{0,2}[A-Za-z_][\w-]{1,80})(=)("[^"\n]{1,4096}"|'[^'\n]{1,4096}'|[^\s"'=&;|)][^\s"'&;|]{0,4096})/g
const QUOTED_FIELD =
  /((\\?["'])?(?<![\w-])([A-Za-z_][\w-]{1,80})\2\s{0,4}[:=]\s{0,4})(?:\\?"[^"\n]{1,4096}"|'[^'\n]{1,4096}')/g
const YAML_FIELD = /^([ \t]{0,80}(?:- )?)([A-Za-z_][\w-]{1,80})(:[ \t]{1,8})(?=[^\s\d]{0,200}\d)\S{8,4096}$/gm

function redactText(text: string, exact: readonly string[]): string {
  let result = text
  for (const secret of exact) if (result.includes(secret)) result = result.replaceAll(secret, REDACTED)
  for (const shape of SHAPES) result = result.replace(shape, REDACTED)
  result = result
    .replace(AUTHORIZATION, `$1${REDACTED}`)
    .replace(SCHEME, `$1$2${REDACTED}`)
    .replace(URL_PASSWORD, `$1${REDACTED}@`)
  if (!/[=:]/.test(result)) return result
  return result
    .replace(ASSIGNMENT, (whole, name: string) => (isSecretName(name) ? `${name}=${REDACTED}` : whole))
    .replace(QUOTED_FIELD, (whole, before: string, _quote, name: string) =>
      isSecretName(name) ? `${before}"${REDACTED}"` : whole,
    )
    .replace(YAML_FIELD, (whole, indent: string, name: string, colon: string) =>
      isSecretName(name) ? indent + name + colon + REDACTED : whole,
    )
}
