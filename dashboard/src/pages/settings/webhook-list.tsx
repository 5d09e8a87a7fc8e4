import type { ReactNode } from 'react'
import { keys } from '../../api/keys.js'
import { useRead } from '../../api/use-api.js'
import type { IconName } from '../../ui/icon.js'
import { Panel } from '../../ui/layout-parts.js'
import { Badge } from '../../ui/marks.js'
import { EmptyState, Loaded } from '../../ui/states.js'
import { Time } from '../../ui/time.js'
import type { Tone } from '../../ui/tone.js'
import type { Webhook } from './settings-answers.js'

const LOOKS: Readonly<
  Record<Webhook['last_deliveries'][number]['status'], { readonly tone: Tone; readonly icon: IconName }>
> = {
  delivered: { tone: 'allowed', icon: 'check' },
  retrying: { tone: 'pending', icon: 'retry' },
  failed: { tone: 'refused', icon: 'x-circle' },
}

// No event says that something was delivered.
const POLL_MS = 3000

/** The addresses that contracts name, and how their last deliveries went. */
export function WebhookList(): ReactNode {
  const query = useRead<{ readonly webhooks: readonly Webhook[] }>(keys.webhooks, '/webhooks', {
    refetchInterval: POLL_MS,
  })
  return (
    <Loaded what="The list of webhooks" query={query}>
      {({ webhooks }) =>
        webhooks.length === 0 ? (
          <EmptyState icon="bolt" title="No contract names a webhook">
            A contract sends the events of its tasks to the addresses under <code>webhooks:</code>.
          </EmptyState>
        ) : (
          <div className="stack">
            {webhooks.map((webhook) => (
              <OneWebhook key={webhook.url} webhook={webhook} />
            ))}
          </div>
        )
      }
    </Loaded>
  )
}

function OneWebhook({ webhook }: { readonly webhook: Webhook }): ReactNode {
  const { last_deliveries: deliveries } = webhook
  return (
    <Panel title={<span className="mono anywhere">{webhook.url}</span>} sub={webhook.events.join(', ')} flush>
      {webhook.problem === null ? null : <p className="set-pad bad">{webhook.problem}</p>}
      {deliveries.length === 0 ? <p className="set-pad muted">Nothing was sent since the server started.</p> : null}
      {deliveries.length === 0 ? null : (
        <ul className="set-rows">
          {deliveries.map((delivery) => {
            const { tone, icon } = LOOKS[delivery.status]
            return (
              <li key={`${delivery.at} ${delivery.event}`}>
                <div>
                  <span className="mono">{delivery.event}</span>{' '}
                  <Badge tone={tone} icon={icon}>
                    {delivery.status}
                  </Badge>
                  <p className="muted">
                    {delivery.attempts === 1 ? 'first attempt' : `${delivery.attempts} attempts`}
                    {delivery.error === null ? '' : `: ${delivery.error}`}
                  </p>
                </div>
                <span className="muted">
                  <Time at={delivery.at} seconds />
                </span>
              </li>
            )
          })}
        </ul>
      )}
    </Panel>
  )
}
