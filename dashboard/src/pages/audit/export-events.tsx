import { type ReactNode, useState } from 'react'
import { api } from '../../api/client.js'
import { useAct } from '../../api/use-api.js'
import { Button } from '../../ui/button.js'
import { ActionProblem } from '../../ui/states.js'
import { type AuditFilter, toQuery } from './audit-filter.js'
import type { EventPage } from './use-ledger.js'

const PAGE_EVENTS = 1000
const EVENTS_MAX = 100_000

/** Saves the events of the filter as a file with one JSON document on each line, newest first. */
export function ExportEvents({ filter }: { readonly filter: AuditFilter }): ReactNode {
  const [read, setRead] = useState(0)
  const save = useAct(async () => {
    setRead(0)
    const { lines, isCut } = await readAll(filter, setRead)
    download(lines)
    return isCut
  })
  return (
    <>
      <Button icon="download" busy={save.isPending} onClick={() => save.mutate(undefined)}>
        {save.isPending ? `${read.toLocaleString('en-GB')} events read` : 'Export'}
      </Button>
      {save.data === true ? (
        <span className="warn" role="status">
          Cut at {EVENTS_MAX.toLocaleString('en-GB')} events. For all: phaselock audit export
        </span>
      ) : null}
      {save.error === null ? null : <ActionProblem error={save.error} />}
    </>
  )
}

async function readAll(
  filter: AuditFilter,
  onRead: (count: number) => void,
): Promise<{ readonly lines: readonly string[]; readonly isCut: boolean }> {
  const lines: string[] = []
  let cursor: string | null = null
  do {
    const query: Record<string, string | number | null> = { ...toQuery(filter), limit: PAGE_EVENTS, cursor }
    const page: EventPage = await api.get<EventPage>('/audit/query', { query })
    for (const event of page.events) lines.push(`${JSON.stringify(event)}\n`)
    onRead(lines.length)
    cursor = page.next_cursor
  } while (cursor !== null && lines.length < EVENTS_MAX)
  return { lines, isCut: cursor !== null }
}

function download(lines: readonly string[]): void {
  const address = URL.createObjectURL(new Blob([...lines], { type: 'application/jsonl' }))
  const link = document.createElement('a')
  link.href = address
  link.download = `phaselock-events-${new Date().toISOString().slice(0, 19).replaceAll(':', '')}.jsonl`
  link.click()
  URL.revokeObjectURL(address)
}
