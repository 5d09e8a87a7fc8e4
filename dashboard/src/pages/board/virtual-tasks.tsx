import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useLayoutEffect, useRef, useState } from 'react'
import type { TaskRow } from './board-data.js'

interface Props {
  readonly tasks: readonly TaskRow[]
  readonly current: string | null
  readonly className: string
  readonly label?: string
  /** How high a task is likely to be; it is measured once it is in the page. */
  readonly height: number
  readonly gap?: number
  readonly children: (task: TaskRow) => ReactNode
}

/** A list of any length: only the tasks near the screen are in the page, and the current one is scrolled to. */
export function VirtualTasks({ tasks, current, className, label, height, gap = 0, children }: Props): ReactNode {
  const list = useRef<HTMLUListElement>(null)
  const [top, setTop] = useState(0)
  useLayoutEffect(() => {
    setTop((list.current?.getBoundingClientRect().top ?? 0) + window.scrollY)
  }, [])
  const rows = useWindowVirtualizer({
    count: tasks.length,
    estimateSize: () => height,
    gap,
    overscan: 8,
    scrollMargin: top,
    getItemKey: (index) => tasks[index]?.id ?? index,
  })
  const at = current === null ? -1 : tasks.findIndex(({ id }) => id === current)
  useLayoutEffect(() => {
    if (at !== -1) rows.scrollToIndex(at, { align: 'auto' })
  }, [at, rows])
  return (
    <ul ref={list} className={className} aria-label={label} style={{ height: rows.getTotalSize() }}>
      {rows.getVirtualItems().map(({ key, index, start }) => {
        const task = tasks[index]
        return task === undefined ? null : (
          <li
            key={key}
            ref={rows.measureElement}
            data-index={index}
            aria-setsize={tasks.length}
            aria-posinset={index + 1}
            style={{ transform: `translateY(${start - top}px)` }}
          >
            {children(task)}
          </li>
        )
      })}
    </ul>
  )
}
