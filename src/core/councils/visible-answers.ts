import type { CoordinationRun, Participant } from './council.js'

/** What the agent has been shown after these answers; null when none of them is new to it. */
export function computeSight(
  run: CoordinationRun,
  agent: Participant,
  labels: readonly string[],
): ReadonlyMap<string, number> | null {
  const shown = new Map(agent.shown)
  let isNew = false
  for (const label of labels) {
    const { anonymousId, revision } = parseLabel(run, label)
    if (revision <= (shown.get(anonymousId) ?? 0)) continue
    shown.set(anonymousId, revision)
    isNew = true
  }
  return isNew ? shown : null
}

function parseLabel(run: CoordinationRun, label: string): { readonly anonymousId: string; readonly revision: number } {
  const dot = label.indexOf('.')
  const anonymousId = label.slice(0, dot)
  const newest = run.newest.get(run.ids.get(anonymousId) ?? '')?.revision ?? 0
  const revision = Number(label.slice(dot + 1))
  if (!(revision >= 1 && revision <= newest)) throw new Error(`the run has no answer ${label}`)
  return { anonymousId, revision }
}
