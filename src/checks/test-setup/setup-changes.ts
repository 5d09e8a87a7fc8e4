import type { PinnedHarness } from '../../core/evidence/observed-run.js'
import { findSetupKind, isNearTests, isShadowNear } from '../../core/paths/test-setup-names.js'
import type { Parts } from './file-parts.js'

/** The part of a file that counts by its existence alone: it would be imported instead of a package with its name. */
export const PRESENT = 'present'

/** Describes one changed file without the time: `Makefile changed`. */
export interface SetupChange {
  readonly path: string
  readonly text: string
}

/** The changed files. Added files count if `isCounted` says so. */
export function listSetupChanges(
  before: PinnedHarness,
  now: PinnedHarness,
  isCounted: (added: string, parts: Parts) => boolean,
): readonly SetupChange[] {
  const was = new Map(Object.entries(before))
  const is = new Map(Object.entries(now))
  const changes: SetupChange[] = []
  for (const [path, parts] of was) {
    const current = is.get(path)
    if (current === undefined && Object.keys(parts).join() === PRESENT) continue
    if (current === undefined) changes.push({ path, text: `${path} was removed` })
    else changes.push(...listPartChanges(path, parts, current).map((text) => ({ path, text })))
  }
  for (const [path, parts] of is)
    if (!was.has(path) && isCounted(path, parts)) changes.push({ path, text: `${path} was added` })
  return changes
}

/** A separate package elsewhere is part of an implementation; one above the tests decides how they are run. */
export function isPartOfSetup(path: string, tests: readonly string[], parts: Parts = {}): boolean {
  const kind = findSetupKind(path)
  if (kind === 'package_json' && Object.keys(parts).some((part) => RESOLUTION.test(part))) return true
  if (kind === 'shadow') return isShadowNear(path, tests)
  return kind === null || kind === 'whole' || isNearTests(path, tests)
}

// Recorded only if a script that is run depends on them.
const RESOLUTION = /^(imports|exports|main|module|browser|bin\..*)$/

function listPartChanges(path: string, before: Parts, now: Parts): readonly string[] {
  const was = new Map(Object.entries(before))
  const is = new Map(Object.entries(now))
  // A file that can no longer be read in parts, or could not be before, is compared as a whole.
  if (was.has('') !== is.has('')) return [`${path} changed`]
  const named = (part: string): string => (part === '' ? path : `${path} (${part})`)
  return [...new Set([...was.keys(), ...is.keys()])]
    .filter((part) => was.get(part) !== is.get(part))
    .map((part) => `${named(part)} ${!is.has(part) ? 'was removed' : was.has(part) ? 'changed' : 'was added'}`)
}
