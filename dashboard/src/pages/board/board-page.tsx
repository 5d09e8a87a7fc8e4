import { useNavigate, useSearch } from '@tanstack/react-router'
import { type ReactNode, useDeferredValue, useState } from 'react'
import { Page } from '../../app/page.js'
import { setPreferences, usePreferences } from '../../app/preferences.js'
import { useShortcuts } from '../../app/shortcuts.js'
import { useListCursor } from '../../app/use-list-cursor.js'
import { Button } from '../../ui/button.js'
import { Pick, Segmented } from '../../ui/controls.js'
import { EmptyState, Loaded } from '../../ui/states.js'
import { BoardColumns } from './board-columns.js'
import {
  type BoardFilter,
  type ContractRow,
  isShown,
  STATUS_FILTERS,
  type StatusFilter,
  type TaskRow,
  useContracts,
  useGraph,
  useTasks,
} from './board-data.js'
import { BoardList } from './board-list.js'
import './board.css'
import { NewTask } from './new-task.js'

/** Tasks by phase of the chosen contract. The filters are in the address. */
export function BoardPage(): ReactNode {
  const tasks = useTasks()
  const contracts = useContracts()
  const { new: asked }: { readonly new?: unknown } = useSearch({ strict: false })
  const [isNew, setNew] = useState(false)
  const navigate = useNavigate()
  const close = (): void => {
    setNew(false)
    if (asked === true) void navigate({ to: '/board', replace: true })
  }
  useShortcuts([{ keys: 'n', does: 'New task', run: () => setNew(true) }])
  return (
    <Page title="Board">
      <Loaded what="The board" query={tasks} rows={6}>
        {({ tasks: rows, next_cursor: more }) => (
          <Loaded what="The contracts" query={contracts} rows={6}>
            {(known) => (
              <Board tasks={rows} isCut={more !== null} contracts={known.contracts} onNew={() => setNew(true)} />
            )}
          </Loaded>
        )}
      </Loaded>
      {isNew || asked === true ? <NewTask onClose={close} /> : null}
    </Page>
  )
}

interface BoardProps {
  readonly tasks: readonly TaskRow[]
  readonly isCut: boolean
  readonly contracts: readonly ContractRow[]
  readonly onNew: () => void
}

function Board({ tasks, isCut, contracts, onNew }: BoardProps): ReactNode {
  const navigate = useNavigate()
  const { boardView } = usePreferences()
  const { filter, setFilter } = useFilter(contracts, tasks)
  const graph = useGraph(filter.contract)
  const text = useDeferredValue(filter.text)
  const shown = tasks.filter((task) => isShown(task, { ...filter, text }, new Date().setHours(0, 0, 0, 0)))
  const order = graph.data?.phases.map(({ id }) => id) ?? []
  const ids = boardView === 'list' ? shown.map(({ id }) => id) : orderByPhase(shown, order)
  const cursor = useListCursor(ids, (id) => void navigate({ to: '/tasks/$id', params: { id } }), 'task')
  return (
    <>
      <Filters filter={filter} onChange={setFilter} contracts={contracts} tasks={tasks} onNew={onNew} />
      {isCut ? <p className="muted cutnote">The newest {tasks.length} tasks are shown.</p> : null}
      {shown.length === 0 ? <NoTasks isFiltered={tasks.length > 0} onNew={onNew} /> : null}
      {shown.length === 0 ? null : (
        <Loaded what="The phases of the contract" query={graph} rows={6}>
          {(data) =>
            boardView === 'board' ? (
              <BoardColumns graph={data} tasks={shown} current={cursor.current} />
            ) : (
              <BoardList tasks={shown} phases={order} current={cursor.current} />
            )
          }
        </Loaded>
      )}
    </>
  )
}

interface FiltersProps {
  readonly filter: BoardFilter
  readonly onChange: (change: Partial<BoardFilter>) => void
  readonly contracts: readonly ContractRow[]
  readonly tasks: readonly TaskRow[]
  readonly onNew: () => void
}

function Filters({ filter, onChange, contracts, tasks, onNew }: FiltersProps): ReactNode {
  const { boardView } = usePreferences()
  const agents = [...new Set(tasks.flatMap(({ agent_id }) => (agent_id === null ? [] : [agent_id])))].sort()
  return (
    <search className="tools">
      <div className="tools__picks">
        <Pick
          label="Contract"
          value={filter.contract}
          onChange={(contract) => onChange({ contract })}
          options={contracts.map(({ hash, name, version }) => ({ value: hash, name: `${name} ${version}` }))}
        />
        <Pick
          label="Agent"
          value={filter.agent}
          onChange={(agent) => onChange({ agent })}
          options={[{ value: '', name: 'any' }, ...agents.map((agent) => ({ value: agent, name: agent }))]}
        />
        <Pick
          label="Status"
          value={filter.status}
          onChange={(status) => onChange({ status })}
          options={STATUS_FILTERS}
        />
      </div>
      <input
        className="field"
        type="search"
        aria-label="Filter by text"
        placeholder="Filter by text"
        value={filter.text}
        onChange={(event) => onChange({ text: event.target.value })}
      />
      <div className="tools__end">
        <Segmented
          label="View"
          value={boardView}
          onChange={(view) => setPreferences({ boardView: view })}
          options={[
            { value: 'board', name: 'Board', icon: 'board' },
            { value: 'list', name: 'List', icon: 'list' },
          ]}
        />
        <Button look="primary" icon="plus" shortcut="n" onClick={onNew}>
          New task
        </Button>
      </div>
    </search>
  )
}

function NoTasks({ isFiltered, onNew }: { readonly isFiltered: boolean; readonly onNew: () => void }): ReactNode {
  return (
    <div className="panel">
      <EmptyState
        icon="board"
        title={isFiltered ? 'No task fits the filters' : 'There are no tasks yet'}
        actions={isFiltered ? undefined : <Button onClick={onNew}>New task</Button>}
      >
        {isFiltered
          ? 'Choose another contract, agent or status, or clear the text.'
          : 'Create one here, or with phaselock task add. Any registered agent can claim it.'}
      </EmptyState>
    </div>
  )
}

function useFilter(contracts: readonly ContractRow[], tasks: readonly TaskRow[]) {
  const navigate = useNavigate()
  const search: Readonly<Record<string, unknown>> = useSearch({ strict: false })
  const text = (name: string): string => (typeof search[name] === 'string' ? search[name] : '')
  // Without a choice: the contract of the newest task, which is what somebody looks for.
  const standard = tasks[0]?.contract ?? contracts.find((contract) => contract.default)?.hash ?? ''
  const filter: BoardFilter = {
    contract: contracts.some(({ hash }) => hash === text('contract')) ? text('contract') : standard,
    agent: text('agent'),
    status: STATUS_FILTERS.find(({ value }) => value === text('status'))?.value ?? ('open' as StatusFilter),
    text: text('text'),
  }
  const setFilter = (change: Partial<BoardFilter>): void => {
    const next = Object.entries({ ...search, ...change }).filter(([, value]) => value !== '')
    void navigate({ to: '/board', search: Object.fromEntries(next), replace: true })
  }
  return { filter, setFilter }
}

function orderByPhase(tasks: readonly TaskRow[], phases: readonly string[]): readonly string[] {
  return tasks.toSorted((a, b) => phases.indexOf(a.phase) - phases.indexOf(b.phase)).map(({ id }) => id)
}
