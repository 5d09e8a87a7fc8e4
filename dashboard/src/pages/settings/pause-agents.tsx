import { type ReactNode, useState } from 'react'
import { confirmAct } from '../../api/confirm-act.js'
import { keys } from '../../api/keys.js'
import { useAct, useRead } from '../../api/use-api.js'
import { Button } from '../../ui/button.js'
import { Field } from '../../ui/controls.js'
import { Panel } from '../../ui/layout-parts.js'
import { Badge } from '../../ui/marks.js'
import { ActionProblem, Loaded } from '../../ui/states.js'

interface Activity {
  readonly paused: boolean | { readonly reason?: string } | null
}

/** Stops all agents at once, and lets them go on. */
export function PauseAgents(): ReactNode {
  const query = useRead<Activity>(keys.activity, '/activity')
  const [reason, setReason] = useState('')
  const change = useAct(
    (pauses: boolean) =>
      confirmAct({
        act: pauses ? 'pause' : 'unpause',
        path: pauses ? '/pause' : '/unpause',
        body: reason.trim() === '' ? {} : { reason: reason.trim() },
      }),
    [keys.activity, keys.agents, keys.inbox],
  )
  return (
    <Panel title="All agents">
      <Loaded what="The state of the agents" query={query} rows={1}>
        {({ paused }) => {
          const isPaused = paused !== false && paused !== null
          return (
            <form
              className="set-add"
              onSubmit={(event) => {
                event.preventDefault()
                change.mutate(!isPaused, { onSuccess: () => setReason('') })
              }}
            >
              <p className="soft">
                {isPaused ? (
                  <Badge tone="parked" icon="pause">
                    Paused
                  </Badge>
                ) : null}{' '}
                {isPaused
                  ? 'Every call of an agent is refused. Leases go on to run.'
                  : 'Pausing refuses every call of every agent until you let them go on. Leases go on to run.'}
              </p>
              <Field
                label="Reason"
                hint={isPaused ? 'Kept in the ledger' : 'Shown to agents and kept in the ledger'}
                value={reason}
                maxLength={1000}
                onChange={(event) => setReason(event.target.value)}
              />
              <Button
                type="submit"
                look={isPaused ? 'primary' : 'reject'}
                icon={isPaused ? 'play' : 'pause'}
                busy={change.isPending}
              >
                {isPaused ? 'Let all agents go on' : 'Pause all agents'}
              </Button>
              <ActionProblem error={change.error} />
            </form>
          )
        }}
      </Loaded>
    </Panel>
  )
}
