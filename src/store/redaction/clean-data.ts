import type { Json, JsonObject } from '../../core/json.js'
import { boundData } from './bound-data.js'
import { makeRedactor } from './redact.js'

/** Storable data with its JSON text. `isChanged` is false only when the given object itself is returned. */
interface Clean {
  readonly data: JsonObject
  readonly text: string
  readonly isChanged: boolean
}

export interface Cleaner {
  /** Takes secrets out. */
  readonly redact: (value: Json) => Json
  /** Removes secrets and cuts long values. */
  readonly clean: (data: JsonObject) => Clean
}

// Every rule of the redactor needs one of these somewhere in the text; most events have none, and need only one scan.
const SUSPICIOUS =
  /eyJ|plop_|gh[pousr]_|github_pat_|glpat-|AKIA|ASIA|xox[a-z]-|xapp-|(?<!ta)sk-|[sr]k_(?:live|test)_|AIza|npm_|hf_|PRIVATE KEY|:\/\/|(?:password|passwd|passphrase|secrets?|token|apikey|authorization|credentials?|cookie|jwt|bearer|basic|pat|key|key[^a-z0-9]{0,8}base|pass|pwd|auth)(?![a-z])/i
const SMALL_CHARS_MAX = 4000
const BRACKETS_MAX = 60

/** Makes the functions that process every value before it is stored. */
export function makeCleaner(secrets: readonly string[]): Cleaner {
  const redact = makeRedactor(secrets)
  const forms = secrets.flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)])
  const isHarmless = (text: string): boolean =>
    text.length <= SMALL_CHARS_MAX &&
    !SUSPICIOUS.test(text) &&
    !forms.some((secret) => text.includes(secret)) &&
    countBrackets(text) <= BRACKETS_MAX
  return {
    redact,
    clean: (data) => {
      const text = JSON.stringify(data)
      if (isHarmless(text)) return { data, text, isChanged: false }
      const cleaned = boundData(redact(data) as JsonObject)
      return { data: cleaned, text: JSON.stringify(cleaned), isChanged: true }
    },
  }
}

// More brackets than allowed levels may mean that it is nested too deeply; then it is checked closely.
function countBrackets(text: string): number {
  let count = 0
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i)
    if (code === 0x7b || code === 0x5b) count += 1
  }
  return count
}
