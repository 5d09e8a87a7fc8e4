import { useEffect, useState } from 'react'
import { api } from '../../api/client.js'
import { type ApiProblem, toProblem } from '../../api/problem.js'

interface LogPage {
  readonly text: string
  readonly cursor: string | number
  readonly more: boolean
  readonly ended: boolean
}

export interface AgentLog {
  readonly lines: readonly string[]
  readonly isLoading: boolean
  readonly hasEnded: boolean
  /** Lines that were left out because there are too many. */
  readonly cut: number
  readonly problem: ApiProblem | null
}

const POLL_MS = 1500
const LINES_MAX = 20_000
const EMPTY: AgentLog = { lines: [], isLoading: true, hasEnded: false, cut: 0, problem: null }

/** The output of an agent that Phaselock started: its end, then what it adds, until the agent has ended. */
export function useAgentLog(agentId: string, tries: number): AgentLog {
  const [log, setLog] = useState(EMPTY)
  // biome-ignore lint/correctness/useExhaustiveDependencies: `tries` starts it again
  useEffect(() => {
    const stop = new AbortController()
    setLog(EMPTY)
    void follow(agentId, stop.signal, setLog)
    return () => stop.abort()
  }, [agentId, tries])
  return log
}

async function follow(
  agentId: string,
  signal: AbortSignal,
  change: (next: (log: AgentLog) => AgentLog) => void,
): Promise<void> {
  let cursor: string | number | undefined
  while (!signal.aborted) {
    try {
      const page = await api.get<LogPage>('/agents/{id}/log', { path: { id: agentId }, query: { cursor }, signal })
      cursor = page.cursor
      change((log) => addPage(log, page))
      if (page.ended && !page.more) return
      if (page.more) continue
    } catch (error) {
      if (signal.aborted) return
      const problem = toProblem(error)
      change((log) => ({ ...log, isLoading: false, problem }))
      if (problem.status >= 400) return
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}

function addPage(log: AgentLog, page: LogPage): AgentLog {
  const [first = '', ...rest] = page.text.split('\n')
  // A page may end in the middle of a line; the next one goes on with it.
  const last = log.lines.at(-1) ?? ''
  const all = page.text === '' ? log.lines : [...log.lines.slice(0, -1), `${last}${first}`, ...rest]
  const lines = all.slice(-LINES_MAX)
  return { lines, cut: log.cut + all.length - lines.length, hasEnded: page.ended, isLoading: false, problem: null }
}
