import { Link, useNavigate } from '@tanstack/react-router'
import { type ReactNode, useEffect, useMemo } from 'react'
import { keys } from '../../api/keys.js'
import { useRead } from '../../api/use-api.js'
import { Page } from '../../app/page.js'
import { useShortcuts } from '../../app/shortcuts.js'
import { toButtonClass } from '../../ui/button.js'
import { Tabs } from '../../ui/controls.js'
import { EmptyState, FailedState, Loaded, LoadingState } from '../../ui/states.js'
import { ChangesTab } from './changes-tab.js'
import { EvidenceTab } from './evidence-tab.js'
import { NowRail } from './now-rail.js'
import { listArtifacts } from './observed-runs.js'
import { OpenQuestions } from './open-questions.js'
import { PastChanges } from './past-changes.js'
import { PhaseLine } from './phase-line.js'
import { PromptTab } from './prompt-tab.js'
import { TaskActions } from './task-actions.js'
import { TaskHead } from './task-head.js'
import type { Task, TaskStateAt } from './task-types.js'
import { readText } from './task-types.js'
import { TABS, type TabId, type TaskView, useTaskView } from './task-view.js'
import { TerminalTab } from './terminal-tab.js'
import { findIndex, TimeSlider } from './time-slider.js'
import { Timeline } from './timeline.js'
import { countKinds } from './timeline-items.js'
import { type TaskEvents, useTaskEvents } from './use-task-events.js'
import './task.css'

/** One task: where it stands, everything that happened to it, and what can be done. */
export function TaskPage() {
  const view = useTaskView()
  const task = useRead<Task>(keys.task(view.id), '/tasks/{id}', { path: { id: view.id } })
  const title = task.data?.id ?? view.id
  return (
    <Page title={title} crumbs={[{ name: 'Board', to: '/board' }]}>
      {task.data === undefined && task.error?.status === 404 ? (
        <EmptyState
          icon="search"
          title="There is no such task"
          actions={
            <Link className={toButtonClass({})} to="/board">
              Open the board
            </Link>
          }
        >
          The address may be mistyped, or the server has another ledger. The board has all tasks.
        </EmptyState>
      ) : (
        <Loaded what="The task" query={task} rows={5}>
          {(data) => <TaskBody key={data.id} task={data} view={view} />}
        </Loaded>
      )}
    </Page>
  )
}

function TaskBody({ task, view }: { readonly task: Task; readonly view: TaskView }) {
  const log = useTaskEvents(task.id)
  const state = useStateAt(task.id, view.at)
  useTaskKeys(view, log)
  const isPast = view.at !== null
  const shown = isPast && state !== undefined ? { ...task, ...state.task } : task
  const events = useMemo(
    () => (view.at === null ? log.events : log.events.slice(0, findIndex(log.events, view.at) + 1)),
    [log.events, view.at],
  )
  const calls = useMemo(() => countKinds(events).get('call') ?? 0, [events])
  const unexplained = useMemo(() => hasUnexplained(events), [events])
  return (
    <>
      <TaskHead
        task={shown}
        unexplained={unexplained}
        calls={calls}
        actions={
          isPast ? (
            <p className="muted">Go back to now to act on the task.</p>
          ) : (
            <TaskActions task={task} state={state} unexplained={unexplained && view.tab !== 'changes'} />
          )
        }
      />
      {state === undefined ? <div className="stepper-room" /> : <PhaseLine state={state} isPast={isPast} />}
      <TimeSlider events={log.events} at={view.at} onMove={(at) => view.change({ at })} />
      {!isPast && task.open_questions > 0 && <OpenQuestions taskId={task.id} />}
      <div className={view.tab === 'timeline' ? 'page--cols task-cols' : 'task-cols'}>
        <div className="task-main">
          <TaskTabs task={shown} view={view} log={{ ...log, events }} state={state} />
        </div>
        {view.tab === 'timeline' && state !== undefined && (
          <NowRail state={state} nextStep={isPast ? null : (task.next_step ?? null)} />
        )}
      </div>
    </>
  )
}

interface TaskTabsProps {
  readonly task: Task
  readonly view: TaskView
  readonly log: TaskEvents
  readonly state: TaskStateAt | undefined
}

function TaskTabs({ task, view, log, state }: TaskTabsProps) {
  const { events } = log
  const artifacts = useMemo(() => listArtifacts(events).length, [events])
  const lastAgent = task.agent_id ?? findLastAgent(events)
  const contents: Readonly<Record<TabId, () => ReactNode>> = {
    timeline: () => <TimelineTab view={view} log={log} />,
    changes: () =>
      view.at !== null && state !== undefined ? (
        <PastChanges state={state} />
      ) : (
        <ChangesTab task={task} state={state} from={view.from} onFrom={(from) => view.change({ from })} />
      ),
    evidence: () => <EvidenceTab taskId={task.id} events={events} />,
    prompt: () => <PromptTab task={task} />,
    terminal: () => <TerminalTab agentId={lastAgent} />,
  }
  const counts: Partial<Record<TabId, number>> = {
    timeline: events.length,
    evidence: artifacts,
  }
  return (
    <Tabs
      label="Views of this task"
      value={view.tab}
      onChange={(tab) => view.change({ tab: tab as TabId })}
      tabs={TABS.map((id) => ({
        id,
        name: id.charAt(0).toUpperCase() + id.slice(1),
        count: counts[id],
        content: view.tab === id ? contents[id]() : null,
      }))}
    />
  )
}

function TimelineTab({ view, log }: { readonly view: TaskView; readonly log: TaskEvents }) {
  if (log.problem !== null) return <FailedState what="The timeline" error={log.problem} onRetry={log.retry} />
  if (log.isLoading) return <LoadingState what="the timeline" rows={6} />
  return (
    <Timeline
      events={log.events}
      isPartial={log.isPartial}
      left={log.left}
      only={view.only}
      onOnly={(only) => view.change({ only })}
      chosen={view.at}
    />
  )
}

// The state now changes with the task; the state at an event never does.
function useStateAt(taskId: string, at: number | null): TaskStateAt | undefined {
  const key = at === null ? keys.task(taskId, 'state') : keys.audit('state', taskId, at)
  const { data } = useRead<TaskStateAt>(key, '/tasks/{id}/state', {
    path: { id: taskId },
    query: { at },
    keepPrevious: true,
  })
  return data
}

function useTaskKeys(view: TaskView, log: TaskEvents): void {
  const navigate = useNavigate()
  const step = (by: number): void => {
    const { events } = log
    const index = view.at === null ? events.length - 1 : findIndex(events, view.at)
    const next = events[Math.max(0, index + by)]
    view.change({ at: next === undefined || index + by >= events.length - 1 ? null : next.seq })
  }
  useShortcuts([
    ...TABS.map((tab, index) => ({
      keys: String(index + 1),
      does: `Show the ${tab}`,
      run: () => view.change({ tab }),
    })),
    { keys: '[', does: 'One event back', run: () => step(-1) },
    { keys: ']', does: 'One event forward', run: () => step(1) },
    { keys: 'u', does: 'Back to the board', run: () => void navigate({ to: '/board' }) },
  ])
  const { at, tab } = view
  useEffect(() => {
    if (at !== null && tab === 'timeline') document.getElementById(`event-${at}`)?.scrollIntoView({ block: 'nearest' })
  }, [at, tab])
}

function findLastAgent(events: readonly { readonly type: string; readonly data: Readonly<Record<string, unknown>> }[]) {
  const claim = events.findLast(({ type }) => type === 'task_claimed')
  return claim === undefined ? null : readText(claim.data, 'agent_id')
}

// The newest word about the work tree counts.
function hasUnexplained(events: TaskEvents['events']): boolean {
  const last = events.findLast(({ type }) => TREE_EVENTS.has(type))
  if (last === undefined) return false
  if (last.type === 'unledgered_change_found') return true
  const blockers = last.data.blockers as readonly { readonly code: string }[] | undefined
  return last.type === 'gate_blocked' && (blockers ?? []).some(({ code }) => code === 'unledgered_change')
}

const TREE_EVENTS = new Set([
  'unledgered_change_found',
  'gate_blocked',
  'gate_passed',
  'tree_accepted',
  'tree_reverted',
  'task_completed',
  'task_cancelled',
])
