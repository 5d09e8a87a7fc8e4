import type { Blocker } from 'phaselock/sdk'
import { toText } from '../client/answer-values.js'
import type { Answer } from './demo-api.js'
import type { Cheater } from './demo-cheater.js'
import type { Human } from './demo-human.js'
import { hashWorkTree } from './demo-sample.js'
import type { Trick } from './demo-tricks.js'

/** The result of a trick. */
export interface Attempt {
  readonly id: string
  readonly phase: string
  readonly tries: string
  /** `unenforced`: there is no sandbox here, and the answer said so. `doubtful`: refused, but not as it should be. */
  readonly outcome: 'refused' | 'unenforced' | 'doubtful' | 'opened'
  readonly code: string
  readonly why: string
}

interface Ring {
  readonly agent: Cheater
  readonly you: Human
  readonly phase: string
  /** Whether commands run without a sandbox. */
  readonly isOpenAir: boolean
}

/**
 * Plays the trick and judges its result. The answer alone does not count: a trick was refused if the code is right,
 * neither the task nor the work tree changed, and the ledger records the refusal.
 */
export async function judge(trick: Trick, { agent, you, phase, isOpenAir }: Ring): Promise<Attempt> {
  await trick.prepare?.(agent, you)
  const before = await look(agent)
  const answer = await trick.attempt(agent)
  const after = await look(agent)
  await trick.after?.(agent, you)
  const about = { id: trick.id, phase, tries: trick.tries }
  const { code, why } = getReason(answer)
  const isChanged = after.state !== before.state || after.tree !== before.tree
  if (isRefused(answer) && !isChanged) {
    if (code !== trick.code) return { ...about, outcome: 'doubtful', code, why: `It should be ${trick.code}. ${why}` }
    if (after.refused <= before.refused) return { ...about, outcome: 'doubtful', code, why: 'It is not in the ledger.' }
    return { ...about, outcome: 'refused', code, why: `${trick.because ?? ''} ${why}`.trim() }
  }
  const held =
    isOpenAir && toText(answer.body.unenforced) !== '' ? await tryWithoutSandbox(trick, { agent, you, before }) : null
  if (held !== null) return { ...about, outcome: 'unenforced', code: 'unenforced', why: held }
  const isSaid = isRefused(answer)
  const what = isSaid ? 'It was refused, and changed something all the same.' : 'It was allowed.'
  return { ...about, outcome: 'opened', code, why: what }
}

/** Without a sandbox a command cannot be prevented. Describes what still holds; null if nothing does. */
async function tryWithoutSandbox(
  trick: Trick,
  { agent, you, before }: { readonly agent: Cheater; readonly you: Human; readonly before: TaskSnapshot },
): Promise<string | null> {
  if (trick.withoutSandbox === undefined) return null
  const answer = await trick.withoutSandbox(agent)
  const after = await look(agent)
  await you.revert(agent.task)
  const isHeld = isRefused(answer) && after.state === before.state && after.refused > before.refused
  const { code, why } = getReason(answer)
  return isHeld ? `There is no sandbox here, and the gate stays closed. ${why} [${code}]` : null
}

interface TaskSnapshot {
  /** The state of the task. */
  readonly state: string
  readonly tree: string
  /** The newest refusal of the task in the ledger. */
  readonly refused: number
}

async function look({ api, task, tree }: Cheater): Promise<TaskSnapshot> {
  const shown = await api.operator.task(task)
  const { events } = await api.operator.events({ task_id: task, success: 'false', limit: 1 })
  const isOver = shown.status === 'completed' || shown.status === 'cancelled'
  return {
    state: JSON.stringify([shown.phase, shown.epoch, shown.completed_phases, isOver]),
    tree: hashWorkTree(tree),
    refused: events[0]?.seq ?? 0,
  }
}

function isRefused({ status, body }: Answer): boolean {
  return status >= 400 || body.allowed === false
}

/** The reason in the server's words: for a blocked transition, the first blocker. */
function getReason({ body }: Answer): { readonly code: string; readonly why: string } {
  const [first] = (body.blockers ?? []) as unknown as readonly Blocker[]
  if (first !== undefined) return { code: first.code, why: first.message }
  return { code: toText(body.code), why: toText(body.detail) }
}
