import { type ReactNode, useState } from 'react'
import { api } from '../../api/client.js'
import { keys } from '../../api/keys.js'
import { useAct, useRead } from '../../api/use-api.js'
import { Button } from '../../ui/button.js'
import { Pick } from '../../ui/controls.js'
import type { FileDiff, TreeDiff } from '../../ui/diff/diff-types.js'
import { DiffView } from '../../ui/diff/diff-view.js'
import { Delta } from '../../ui/diff/file-tree.js'
import { ActionProblem, EmptyState, Loaded, Note } from '../../ui/states.js'
import { showHidden } from '../../ui/text/hidden-characters.js'
import { formatOrdinal } from '../../ui/text/ordinal.js'
import { type Act, ActDialog } from './act-dialog.js'
import type { Task, TaskStateAt } from './task-types.js'

interface Props {
  readonly task: Task
  readonly state: TaskStateAt | undefined
  /** `start`, `phase`, or the number of a visit. */
  readonly from: string
  readonly onFrom: (from: string) => void
}

/** The change of the work tree, against the start of the task or of a visit. */
export function ChangesTab({ task, state, from, onFrom }: Props) {
  const query = useRead<TreeDiff>(keys.task(task.id, 'diff', from), '/tasks/{id}/diff', {
    path: { id: task.id },
    query: { from },
    keepPrevious: true,
  })
  const [whole, setWhole] = useState<ReadonlyMap<string, FileDiff>>(new Map())
  const load = useAct(async (path: string) => {
    const one = await api.get<TreeDiff>('/tasks/{id}/diff', { path: { id: task.id }, query: { from, path } })
    const file = one.files.find((candidate) => candidate.path === path)
    if (file !== undefined) setWhole((before) => new Map(before).set(`${from} ${path}`, file))
  })
  return (
    <Loaded what="The change" query={query} rows={6}>
      {(diff) => (
        <section aria-label="Changes">
          <div className="sect">
            <h3 className="h2">
              {diff.totals.files} {diff.totals.files === 1 ? 'file' : 'files'}
            </h3>
            <Delta {...sumLines(diff.files.map((file) => whole.get(`${from} ${file.path}`) ?? file))} />
            <div className="sect__end">
              <Pick label="Since" value={from} options={listStarts(state)} onChange={onFrom} />
            </div>
          </div>
          <ActionProblem error={load.error} />
          <ChangesBody
            diff={{ ...diff, files: diff.files.map((file) => whole.get(`${from} ${file.path}`) ?? file) }}
            task={task}
            onLoad={(path) => load.mutate(path)}
          />
        </section>
      )}
    </Loaded>
  )
}

interface BodyProps {
  readonly diff: TreeDiff
  readonly task: Task
  readonly onLoad: (path: string) => void
}

function ChangesBody({ diff, task, onLoad }: BodyProps): ReactNode {
  const [act, setAct] = useState<Act | null>(null)
  if (!diff.available)
    return (
      <EmptyState icon="diff" title="The change cannot be shown">
        {diff.unavailable_reason ?? 'The work tree is not there any more.'}
      </EmptyState>
    )
  if (diff.files.length === 0)
    return (
      <EmptyState icon="diff" title="Nothing has changed">
        The work tree is as it was then.
      </EmptyState>
    )
  return (
    <>
      <DiffView
        diff={diff}
        onLoad={onLoad}
        note={(file) => (file.unexplained ? <UnexplainedNote task={task} path={file.path} onAct={setAct} /> : null)}
      />
      {act !== null && <ActDialog taskId={task.id} act={act} onClose={() => setAct(null)} />}
    </>
  )
}

interface UnexplainedProps {
  readonly task: Task
  readonly path: string
  readonly onAct: (act: Act) => void
}

function UnexplainedNote({ task, path, onAct }: UnexplainedProps) {
  const onTree = (name: 'accept' | 'revert') => (reason: string) => ({
    act: `${name}Tree`,
    path: `/tasks/{id}/tree/${name}`,
    params: { id: task.id },
    body: { reason, paths: [path] },
  })
  const shown = showHidden(path)
  return (
    <Note
      tone="refused"
      icon="warn"
      title="No allowed call wrote this."
      actions={
        <>
          <Button
            onClick={() =>
              onAct({
                title: 'Revert this change',
                does: `${shown} goes back to what allowed calls left, or to the last commit. The gate can open again.`,
                button: 'Revert',
                call: onTree('revert'),
              })
            }
          >
            Revert…
          </Button>
          <Button
            look="ghost"
            onClick={() =>
              onAct({
                title: 'Accept this change',
                does: `${shown} counts as explained from now on, and no longer keeps gates closed.`,
                button: 'Accept',
                call: onTree('accept'),
              })
            }
          >
            Accept…
          </Button>
        </>
      }
    >
      The file differs from what every allowed call left. Gates stay closed until you revert the change or accept it
      with a reason.
    </Note>
  )
}

function sumLines(files: readonly FileDiff[]): { readonly additions: number; readonly deletions: number } {
  const sum = (name: 'additions' | 'deletions'): number => files.reduce((total, file) => total + file[name], 0)
  return { additions: sum('additions'), deletions: sum('deletions') }
}

function listStarts(state: TaskStateAt | undefined): readonly { readonly value: string; readonly name: string }[] {
  const visits = (state?.phases ?? []).flatMap(({ id, visits: own }) =>
    own.map(({ visit }, index) => ({
      visit,
      name: index === 0 ? `${id} began` : `the ${formatOrdinal(index + 1)} ${id} began`,
    })),
  )
  return [
    { value: 'start', name: 'the start' },
    { value: 'phase', name: 'this visit began' },
    ...visits.toSorted((a, b) => a.visit - b.visit).map(({ visit, name }) => ({ value: String(visit), name })),
  ]
}
