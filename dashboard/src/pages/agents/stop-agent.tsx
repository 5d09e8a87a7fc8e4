import { type ReactNode, useState } from 'react'
import { api } from '../../api/client.js'
import { keys } from '../../api/keys.js'
import { useAct } from '../../api/use-api.js'
import { Button } from '../../ui/button.js'
import { Field } from '../../ui/controls.js'
import { Panel } from '../../ui/layout-parts.js'
import { ActionProblem } from '../../ui/states.js'

/** Ends the process of an agent that Phaselock started. It says what happens to the task before it is pressed. */
export function StopAgent({ agentId }: { readonly agentId: string }): ReactNode {
  const [reason, setReason] = useState('')
  const [parks, setParks] = useState(false)
  const stop = useAct(
    () =>
      api.post('/agents/{id}/stop', {
        path: { id: agentId },
        body: { park: parks, ...(reason.trim() === '' ? {} : { reason: reason.trim() }) },
      }),
    [keys.agents, keys.agent(agentId)],
  )
  return (
    <Panel title="Stop this agent">
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          stop.mutate(undefined)
        }}
      >
        <p className="soft">
          Its process and its tokens end at once. Its task{' '}
          {parks ? 'is parked until somebody resumes it' : 'can then be claimed by others'}.
        </p>
        <Field
          label="Reason"
          hint="Kept in the ledger"
          value={reason}
          maxLength={1000}
          onChange={(event) => setReason(event.target.value)}
        />
        <label>
          <input type="checkbox" checked={parks} onChange={(event) => setParks(event.target.checked)} /> Park its task
        </label>
        <ActionProblem error={stop.error} />
        <Button look="reject" type="submit" icon="stop" busy={stop.isPending}>
          Stop {agentId}
        </Button>
      </form>
    </Panel>
  )
}
