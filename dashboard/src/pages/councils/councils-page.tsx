import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { keys } from '../../api/keys.js'
import { useRead } from '../../api/use-api.js'
import { Page } from '../../app/page.js'
import { Badge } from '../../ui/marks.js'
import { EmptyState, Loaded } from '../../ui/states.js'
import { showHidden } from '../../ui/text/hidden-characters.js'
import { Time } from '../../ui/time.js'
import { findOutcome } from './council-outcome.js'
import './councils.css'

interface CouncilRow {
  readonly id: string
  readonly question: string
  readonly started_at: string
  readonly ended_at: string | null
  readonly finish_reason: string
  readonly winner: string | null
  readonly agents: number
  readonly answers: number
}

interface CouncilPage {
  readonly coordinations: readonly CouncilRow[]
  readonly next_cursor: string | null
}

const COUNCILS_SHOWN = 200

/** The councils, newest first. */
export function CouncilsPage(): ReactNode {
  const query = useRead<CouncilPage>(keys.coordinations({ limit: COUNCILS_SHOWN }), '/coordinations', {
    query: { limit: COUNCILS_SHOWN },
  })
  return (
    <Page title="Councils">
      <Loaded what="The list of councils" query={query} rows={4}>
        {({ coordinations, next_cursor }) =>
          coordinations.length === 0 ? (
            <EmptyState icon="council" title="No council has met yet">
              Let several agents answer one question and vote:{' '}
              <code>phaselock coordinate --config council.yaml "Do we need a cache?"</code>
            </EmptyState>
          ) : (
            <>
              <CouncilTable rows={coordinations} />
              {next_cursor === null ? null : (
                <p className="muted cou-tail">The newest {COUNCILS_SHOWN} are shown. Older ones: phaselock report.</p>
              )}
            </>
          )
        }
      </Loaded>
    </Page>
  )
}

function CouncilTable({ rows }: { readonly rows: readonly CouncilRow[] }): ReactNode {
  return (
    <div className="panel">
      <table className="table table--stack" aria-label="Councils">
        <thead>
          <tr>
            <th scope="col">Question</th>
            <th scope="col">Outcome</th>
            <th scope="col" className="r">
              Agents
            </th>
            <th scope="col" className="r">
              Answers
            </th>
            <th scope="col" className="r">
              Began
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => {
            const { word, tone, icon } = findOutcome(row.finish_reason, row.winner)
            return (
              <tr key={row.id}>
                <td>
                  <Link to="/coordinations/$id" params={{ id: row.id }} className="open-link">
                    {showHidden(row.question)}
                  </Link>
                  <span className="mono muted cou-id">{row.id}</span>
                </td>
                <td>
                  <Badge tone={tone} icon={icon}>
                    {word}
                  </Badge>
                </td>
                <td className="r" data-name="Agents">
                  {row.agents}
                </td>
                <td className="r" data-name="Answers">
                  {row.answers}
                </td>
                <td className="r" data-name="Began">
                  <Time at={row.started_at} />
                </td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}
