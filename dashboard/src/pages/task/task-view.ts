import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { type EventKind, KINDS } from './event-kinds.js'

export const TABS = ['timeline', 'changes', 'evidence', 'prompt', 'terminal'] as const
export type TabId = (typeof TABS)[number]

/** What the address of a task page says: it can be sent to a colleague. */
export interface TaskView {
  readonly id: string
  readonly tab: TabId
  /** The event that the page shows the task at; null: now. */
  readonly at: number | null
  readonly only: EventKind | null
  readonly from: string
  readonly change: (next: Partial<Omit<TaskView, 'id' | 'change'>>) => void
}

/** Reads the address; what it does not know is left out. */
export function useTaskView(): TaskView {
  const { id = '' } = useParams({ strict: false }) as { id?: string }
  const search = useSearch({ strict: false }) as Readonly<Record<string, unknown>>
  const navigate = useNavigate()
  const view = {
    id,
    tab: TABS.find((tab) => tab === search.tab) ?? 'timeline',
    at: typeof search.at === 'number' && Number.isSafeInteger(search.at) && search.at > 0 ? search.at : null,
    only: KINDS.find(({ kind }) => kind === search.kind)?.kind ?? null,
    from: /^(phase|[1-9]\d{0,5})$/.test(String(search.from)) ? String(search.from) : 'start',
  }
  const change: TaskView['change'] = (next) => {
    const { tab, at, only, from } = { ...view, ...next }
    const shown = {
      ...(tab === 'timeline' ? {} : { tab }),
      ...(at === null ? {} : { at }),
      ...(only === null ? {} : { kind: only }),
      ...(from === 'start' ? {} : { from: from === 'phase' ? from : Number(from) }),
    }
    // Moving the slider is not a page that one goes back to.
    void navigate({ to: '.', search: shown, replace: next.tab === undefined, resetScroll: false } as never)
  }
  return { ...view, change }
}
