import type { ReactNode } from 'react'
import { api } from '../../api/client.js'
import { keys } from '../../api/keys.js'
import { logOut } from '../../api/session.js'
import { useAct, useRead } from '../../api/use-api.js'
import { Button } from '../../ui/button.js'
import { Panel } from '../../ui/layout-parts.js'
import { Badge } from '../../ui/marks.js'
import { ActionProblem, EmptyState, Loaded } from '../../ui/states.js'
import { Age, Time } from '../../ui/time.js'
import { nameBrowser, nameSource, type SessionRow } from './settings-answers.js'

function nameAct(session: SessionRow): string {
  const where = `${session.operator} in ${nameBrowser(session.user_agent)}`
  return session.current ? `Log out ${where}` : `Revoke the session of ${where}`
}

/** Who is logged in where. A session that is revoked ends at once, also its open pages. */
export function SessionList(): ReactNode {
  const query = useRead<{ readonly sessions: readonly SessionRow[] }>(keys.sessions, '/sessions')
  const revoke = useAct(
    async ({ id, current }: SessionRow) => {
      if (current) await logOut()
      else await api.post('/sessions/{id}/revoke', { path: { id } })
    },
    [keys.sessions],
  )
  return (
    <Panel title="Sessions" sub="twelve hours each" flush>
      <Loaded what="The list of sessions" query={query}>
        {({ sessions }) =>
          sessions.length === 0 ? (
            <EmptyState icon="person" title="Nobody is logged in">
              A session begins with <code>phaselock login</code>.
            </EmptyState>
          ) : (
            <ul className="set-rows">
              {sessions.map((session) => (
                <li key={session.id}>
                  <div>
                    <b>{nameBrowser(session.user_agent)}</b>{' '}
                    {session.current ? <Badge tone="running">this browser</Badge> : null}
                    <p className="muted" title={session.user_agent ?? ''}>
                      {session.operator}, logged in <Time at={session.created_at} /> with{' '}
                      {nameSource(session.came_from)}
                      {session.last_used_at === null ? null : (
                        <>
                          , used <Age since={session.last_used_at} /> ago
                        </>
                      )}
                      , ends <Time at={session.expires_at} />
                    </p>
                  </div>
                  <Button
                    aria-label={nameAct(session)}
                    busy={revoke.isPending && revoke.variables?.id === session.id}
                    onClick={() => revoke.mutate(session)}
                  >
                    {session.current ? 'Log out' : 'Revoke'}
                  </Button>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
      {revoke.error === null ? null : (
        <div className="set-pad">
          <ActionProblem error={revoke.error} />
        </div>
      )}
    </Panel>
  )
}
