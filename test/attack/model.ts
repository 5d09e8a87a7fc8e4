import fc from 'fast-check'

export const DENIALS_MAX = 4

const OFFERED: Readonly<Record<string, readonly string[]>> = {
  A: ['read_files'],
  B: ['write_files'],
  C: ['read_files'],
  D: ['read_files'],
}

/** What the rules are, said a second time and as simply as can be. */
export interface Model {
  readonly phase: string
  readonly epoch: number
  readonly holder: string | null
  readonly status: 'queued' | 'active' | 'parked' | 'cancelled' | 'completed' | 'interrupted'
  /** The note of this visit was handed in, also with a refused request. */
  readonly hasNote: boolean
  readonly denials: number
}

type Move = {
  readonly kind: 'move'
  readonly by: string
  readonly to: string
  readonly note: boolean
  readonly again: boolean
}
export type Command =
  | { readonly kind: 'claim'; readonly by: string }
  | { readonly kind: 'tool'; readonly by: string; readonly tool: string }
  | Move
  | { readonly kind: 'release'; readonly by: string }
  | { readonly kind: 'lapse' }
  | { readonly kind: 'cancel' }
  | { readonly kind: 'resume' }

function isHeld(model: Model, agent: string): boolean {
  return model.status === 'active' && model.holder === agent
}

/** What must be true after a command. */
export function expected(model: Model, one: Command, leaseIsOver: boolean): Model {
  switch (one.kind) {
    case 'claim':
      return claimed(model, one.by, leaseIsOver)
    case 'tool':
      if (!isHeld(model, one.by)) return model
      return OFFERED[model.phase]?.includes(one.tool) ? model : denied(model)
    case 'move':
      return isHeld(model, one.by) ? moved(model, one) : model
    case 'release':
      return isHeld(model, one.by) ? { ...model, status: 'queued', holder: null } : model
    case 'lapse':
      return model.status === 'active' && leaseIsOver ? { ...model, status: 'interrupted', holder: null } : model
    case 'cancel':
      return model.status === 'completed' || model.status === 'cancelled'
        ? model
        : { ...model, status: 'cancelled', holder: null }
    case 'resume':
      return model.status === 'parked' ? { ...model, status: 'active', denials: 0 } : model
  }
}

function claimed(model: Model, agent: string, leaseIsOver: boolean): Model {
  const isLapsed = model.status === 'active' && leaseIsOver
  const isFree = model.status === 'queued' || model.status === 'interrupted' || isLapsed
  if (!isFree && !isHeld(model, agent)) return model
  return { ...model, status: 'active', holder: agent, epoch: model.epoch + 1 }
}

function denied(model: Model): Model {
  const denials = model.denials + 1
  return { ...model, denials, status: denials >= DENIALS_MAX ? 'parked' : 'active' }
}

function moved(model: Model, one: Move): Model {
  const edge = `${model.phase}>${one.to}`
  const isLegal = edge === 'A>B' || edge === 'B>C' || edge === 'C>D' || edge === 'C>A'
  if (!isLegal) return denied(model)
  const hasNote = model.hasNote || one.note
  if (edge === 'B>C' && !hasNote) return denied({ ...model, hasNote })
  if (edge === 'C>A' && !one.again) return denied({ ...model, hasNote })
  const isOver = one.to === 'D'
  return {
    phase: one.to,
    epoch: model.epoch + 1,
    holder: isOver ? null : model.holder,
    status: isOver ? 'completed' : 'active',
    hasNote: false,
    denials: 0,
  }
}

// Mostly one of them, so that a task gets on.
const by = fc.constantFrom('a', 'a', 'a', 'b')
export const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('claim' as const), by }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('tool' as const),
      by,
      tool: fc.constantFrom('read_files', 'write_files', 'bash', 'nope', 'constructor'),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('move' as const),
      by,
      to: fc.constantFrom('A', 'B', 'B', 'B', 'C', 'C', 'C', 'D', 'D', 'E', '__proto__'),
      note: fc.boolean(),
      again: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('release' as const), by }) },
  { weight: 1, arbitrary: fc.constantFrom<Command>({ kind: 'lapse' }, { kind: 'resume' }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cancel' as const) }) },
)

const HONEST: readonly Command[] = [
  { kind: 'claim', by: 'a' },
  ...['B', 'C', 'D'].map((to): Move => ({ kind: 'move', by: 'a', to, note: true, again: false })),
]

export interface Step {
  readonly command: Command
  /** The lease of the holder runs out before this command. */
  readonly isLate: boolean
}

/** Random commands after none, some or all of the steps of an honest agent: chance alone hardly ever completes a task. */
export const steps: fc.Arbitrary<readonly Step[]> = fc
  .tuple(
    fc.nat({ max: HONEST.length }),
    fc.array(fc.record({ command, isLate: fc.boolean() }), { minLength: 1, maxLength: 20 }),
  )
  .map(([count, random]) => [...HONEST.slice(0, count).map((one) => ({ command: one, isLate: false })), ...random])

export const NEW: Model = { phase: 'A', epoch: 0, holder: null, status: 'queued', hasNote: false, denials: 0 }
