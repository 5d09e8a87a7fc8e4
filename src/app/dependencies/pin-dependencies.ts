import { isDependencyPart } from '../../core/dependencies/package-managers.js'
import type { PinnedHarness, PinnedRun } from '../../core/evidence/observed-run.js'

type Around = Pick<PinnedRun, 'harness' | 'commands'>

/**
 * The test setup that RED recorded, updated with the dependencies of an install. Null if nothing changed; a text if the
 * install changed more than dependencies.
 */
export function pinDependencies(
  pinned: PinnedRun | null,
  about: { readonly program: string; readonly before: Around; readonly after: Around },
): PinnedRun | null | string {
  const { program, before, after } = about
  const harness = merge(pinned?.harness ?? null, { program, before: before.harness ?? {}, after: after.harness ?? {} })
  if (typeof harness === 'string') return harness
  let isChanged = harness !== null
  const commands: Record<string, PinnedHarness> = { ...pinned?.commands }
  for (const [key, setup] of Object.entries(after.commands ?? {})) {
    const merged = merge(pinned?.commands?.[key] ?? null, {
      ...{ program, before: before.commands?.[key] ?? {}, after: setup },
    })
    if (typeof merged === 'string') return merged
    if (merged !== null) commands[key] = merged
    isChanged ||= merged !== null
  }
  if (pinned === null || !isChanged) return null
  return { ...pinned, ...(harness === null ? {} : { harness }), commands }
}

function merge(
  pinned: PinnedHarness | null,
  {
    program,
    before,
    after,
  }: { readonly program: string; readonly before: PinnedHarness; readonly after: PinnedHarness },
): PinnedHarness | null | string {
  const merged: Record<string, Readonly<Record<string, string>>> = { ...pinned }
  let isChanged = false
  for (const path of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [was, is] = [before[path] ?? {}, after[path] ?? {}]
    for (const part of new Set([...Object.keys(was), ...Object.keys(is)])) {
      if (was[part] === is[part]) continue
      const name = part === '' ? path : `${path} (${part})`
      if (!isDependencyPart(program, path, part)) return `it changed test setup: ${name}`
      if (pinned === null) continue
      const held = merged[path] ?? {}
      if (held[part] !== was[part])
        return `${name} changed since RED: restore it first, or ask with request_setup_change`
      const { [part]: _, ...others } = held
      merged[path] = is[part] === undefined ? others : { ...others, [part]: is[part] }
      isChanged = true
    }
    if (after[path] === undefined) delete merged[path]
  }
  return isChanged ? merged : null
}
