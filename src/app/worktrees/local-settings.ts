/** Measures that keep git from running programs named in a repository's settings. */
export interface LocalSettings {
  /** Settings of the repository that name programs, each with its replacement value. */
  readonly overrides: readonly (readonly [key: string, value: string])[]
  /** Filters that only the repository's settings define: files that need them are never written. */
  readonly filters: ReadonlySet<string>
  /** Whether a merge driver defined there is skipped. */
  readonly hasDrivers: boolean
  /** Why git may not run in this repository; null: it may. */
  readonly problem: string | null
}

interface Setting {
  readonly isLocal: boolean
  readonly key: string
  readonly value: string
}

const OVERRIDES_MAX = 1000
const FILTER = /^filter\.(.*)\.(clean|smudge|process|required)$/s
const PARTS = ['clean', 'smudge', 'process']
const DRIVER = /^merge\..*\.driver$/s
const PROGRAM =
  /^(core\.(alternaterefscommand|askpass|editor|gitproxy|pager|sshcommand)|sequence\.editor|interactive\.difffilter|diff\.external|diff\..*\.(command|textconv)|merge\..*\.driver|gpg\.(.*\.)?(program|defaultkeycommand)|credential\.(.*\.)?helper|trailer\..*\.(command|cmd))$/s
// git uses the first of several values here, so it cannot be overridden. Used when git fetches missing objects.
const FETCHING = /^remote\..*\.uploadpack$/s
const PARTIAL = /^(extensions\.partialclone|remote\..*\.(promisor|partialclonefilter))$/s

/**
 * Reads `git config --list --show-scope -z`. A program that the operator's own settings name under the same key is
 * used.
 */
export function readLocalSettings(listing: string): LocalSettings {
  const settings = parseSettings(listing)
  const local = settings.filter(({ isLocal }) => isLocal)
  const operators = new Map(settings.filter(({ isLocal }) => !isLocal).map(({ key, value }) => [key, value]))
  const named = [...new Set(local.map(({ key }) => key))]
  const programs = named.filter((key) => PROGRAM.test(key))
  const filterKeys = named.filter((key) => FILTER.test(key))
  // A filter is the operator's only if every part of it is: a mixed one would write something else.
  const filters = new Set(filterKeys.filter((key) => !operators.has(key)).map(parseFilter))
  const overrides = [
    ...programs.map((key) => [key, operators.get(key) ?? 'false'] as const),
    ...filterKeys
      .filter((key) => !filters.has(parseFilter(key)))
      .map((key) => [key, operators.get(key) ?? ''] as const),
    ...[...filters].flatMap((name) => PARTS.map((part) => [`filter.${name}.${part}`, ''] as const)),
  ]
  return {
    overrides,
    filters,
    hasDrivers: programs.some((key) => DRIVER.test(key) && !operators.has(key)),
    problem: findProblem(named, overrides),
  }
}

function parseFilter(key: string): string {
  return FILTER.exec(key)?.[1] ?? ''
}

function findProblem(named: readonly string[], overrides: LocalSettings['overrides']): string | null {
  const fetching = named.find((key) => FETCHING.test(key))
  if (fetching !== undefined && named.some((key) => PARTIAL.test(key)))
    return `the settings of this partial clone name a program (${fetching}); remove it with git config --unset`
  if (overrides.length > OVERRIDES_MAX) return `the settings of the repository name more than ${OVERRIDES_MAX} programs`
  // Bytes that are not UTF-8 cannot be passed on unchanged.
  const garbled = overrides.find(([key]) => key.includes('\uFFFD'))
  return garbled === undefined ? null : `a setting of the repository has a name that is not UTF-8: ${garbled[0]}`
}

function parseSettings(listing: string): readonly Setting[] {
  const parts = listing.split('\0')
  const settings: Setting[] = []
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const scope = parts[at] ?? ''
    const [key = '', ...value] = (parts[at + 1] ?? '').split('\n')
    // Settings of unknown origin count as the repository's.
    settings.push({ isLocal: scope !== 'system' && scope !== 'global', key, value: value.join('\n') })
  }
  return settings
}
