import { isObject, type Json } from '../json.js'

/**
 * Files that agent CLIs write into a work tree for themselves, with the CLI that writes each. They are not part of the
 * work: our commits do not contain them, and approvals and reviews are not bound to them. Agents' tools cannot write
 * them.
 */
export const AGENT_CLI_FILES: ReadonlyMap<string, string> = new Map([['.claude/settings.local.json', 'Claude Code']])

/**
 * A changed file of an agent CLI. `problem`: what the change does besides allowing more without asking; null: nothing.
 */
export interface AgentCliFile {
  readonly cli: string
  readonly problem: string | null
}

const NAMES_MAX = 5
const NAME_CHARS_MAX = 60

/**
 * The problem with a change of the settings that Claude Code keeps in a work tree; null: none. "Don't ask again" adds
 * to `permissions.allow`, which hooks still override. Any other change could switch off hooks, servers or permissions.
 * A text is null if there is no file.
 */
export function findSettingsProblem(before: string | null, after: string | null): string | null {
  const [old, now] = [parseSettings(before), parseSettings(after)]
  if (old === null || now === null) return 'is not a JSON object'
  const named = listChangedNames(old, now).filter((name) => name !== 'permissions')
  const [oldRules, newRules] = [asMap(old.get('permissions')), asMap(now.get('permissions'))]
  if (oldRules === null || newRules === null) return 'changes permissions'
  named.push(
    ...listChangedNames(oldRules, newRules)
      .filter((name) => name !== 'allow' || !isGrown(oldRules.get(name), newRules.get(name)))
      .map((name) => `permissions.${name}`),
  )
  if (named.length === 0) return null
  const shown = named.slice(0, NAMES_MAX).map((name) => JSON.stringify(name.slice(0, NAME_CHARS_MAX)))
  return `changes ${shown.join(', ')}${named.length > shown.length ? ' and more' : ''}`
}

type Settings = ReadonlyMap<string, Json>

function parseSettings(text: string | null): Settings | null {
  if (text === null) return new Map()
  try {
    return asMap(JSON.parse(text) as Json)
  } catch {
    return null
  }
}

function asMap(value: Json | undefined): Settings | null {
  if (value === undefined) return new Map()
  return isObject(value) ? new Map(Object.entries(value)) : null
}

function listChangedNames(old: Settings, now: Settings): string[] {
  const names = new Set([...old.keys(), ...now.keys()])
  return [...names].filter((name) => JSON.stringify(old.get(name)) !== JSON.stringify(now.get(name)))
}

function isGrown(old: Json | undefined, now: Json | undefined): boolean {
  const [before, after] = [old ?? [], now ?? []]
  if (!Array.isArray(before) || !Array.isArray(after)) return false
  return after.every((one) => typeof one === 'string') && before.every((one) => after.includes(one))
}
