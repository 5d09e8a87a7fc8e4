import type { PinnedHarness } from '../../core/observed.js'
import { harnessKind, isNearTests, shadowIsNear } from '../../core/pinned-names.js'
import type { Parts } from './parts.js'

/** One file that is not as it was, in words without the moment: `Makefile changed`. */
export interface SetupChange {
  readonly path: string
  readonly text: string
}

/** What decides how tests are run and is not as it was at RED, each in words. `tests` are the test files of RED. */
export function harnessChanges(before: PinnedHarness, now: PinnedHarness, tests: readonly string[]): readonly string[] {
  return setupChanges(before, now, (path) => counts(path, tests)).map(({ text }) => `${text} since the RED run`)
}

/** What is not as it was. Files that were added count where `isCounted` says so. */
export function setupChanges(
  before: PinnedHarness,
  now: PinnedHarness,
  isCounted: (added: string) => boolean,
): readonly SetupChange[] {
  const was = new Map(Object.entries(before))
  const is = new Map(Object.entries(now))
  const changes: SetupChange[] = []
  for (const [path, parts] of was) {
    const current = is.get(path)
    if (current === undefined) changes.push({ path, text: `${path} was removed` })
    else changes.push(...partChanges(path, parts, current).map((text) => ({ path, text })))
  }
  for (const path of is.keys()) if (!was.has(path) && isCounted(path)) changes.push({ path, text: `${path} was added` })
  return changes
}

/** A package of its own somewhere else is part of an implementation; one around the tests decides how they are run. */
export function counts(path: string, tests: readonly string[]): boolean {
  const kind = harnessKind(path)
  if (kind === 'shadow') return shadowIsNear(path, tests)
  return kind === null || kind === 'whole' || isNearTests(path, tests)
}

function partChanges(path: string, before: Parts, now: Parts): readonly string[] {
  const was = new Map(Object.entries(before))
  const is = new Map(Object.entries(now))
  // A file that can no longer be read in parts, or could not be, is compared as one.
  if (was.has('') !== is.has('')) return [`${path} changed`]
  const named = (part: string): string => (part === '' ? path : `${path} (${part})`)
  return [...new Set([...was.keys(), ...is.keys()])]
    .filter((part) => was.get(part) !== is.get(part))
    .map((part) => `${named(part)} ${!is.has(part) ? 'was removed' : was.has(part) ? 'changed' : 'was added'}`)
}
