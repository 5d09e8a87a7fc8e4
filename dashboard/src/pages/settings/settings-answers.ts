/** What the endpoints behind the settings answer. */
export interface Operator {
  readonly name: string
  readonly role: string | null
  readonly added_at: string
  readonly revoked_at: string | null
}

export interface SessionRow {
  readonly id: string
  readonly operator: string
  readonly came_from: 'first_code' | 'code' | 'token'
  readonly created_at: string
  readonly last_used_at: string | null
  readonly expires_at: string
  readonly user_agent: string | null
  readonly current: boolean
}

export interface Passkey {
  readonly id: string
  readonly name: string
  readonly operator: string
  readonly created_at: string
  readonly last_used_at: string | null
}

export interface Webhook {
  readonly url: string
  readonly events: readonly string[]
  /** Why it gets nothing; null when it does. */
  readonly problem: string | null
  readonly last_deliveries: readonly {
    readonly at: string
    readonly event: string
    readonly status: 'delivered' | 'retrying' | 'failed'
    readonly attempts: number
    readonly error: string | null
  }[]
}

export interface DoctorCheck {
  readonly name: string
  readonly status: 'ok' | 'warning' | 'problem'
  readonly detail: string
  readonly remedy: string | null
}

const SOURCES: Readonly<Record<SessionRow['came_from'], string>> = {
  first_code: 'the code of the first start',
  code: 'a one-time code',
  token: 'an operator token',
}

/** How the session began. */
export function nameSource(from: SessionRow['came_from']): string {
  return SOURCES[from] ?? from
}

const BROWSERS: readonly (readonly [string, RegExp])[] = [
  ['Edge', /Edg\//],
  ['Firefox', /Firefox\//],
  ['Chrome', /Chrom(e|ium)\//],
  ['Safari', /Safari\//],
  ['curl', /^curl\//],
]
const SYSTEMS: readonly (readonly [string, RegExp])[] = [
  ['Android', /Android/],
  ['iOS', /iPhone|iPad/],
  ['Windows', /Windows/],
  ['macOS', /Mac OS X/],
  ['Linux', /Linux/],
]

/** `Firefox on Linux`; what cannot be told is shown as it was sent. */
export function nameBrowser(userAgent: string | null): string {
  if (userAgent === null || userAgent === '') return 'Unknown browser'
  const browser = BROWSERS.find(([, pattern]) => pattern.test(userAgent))?.[0]
  const system = SYSTEMS.find(([, pattern]) => pattern.test(userAgent))?.[0]
  if (browser === undefined) return userAgent.slice(0, 60)
  return system === undefined ? browser : `${browser} on ${system}`
}
