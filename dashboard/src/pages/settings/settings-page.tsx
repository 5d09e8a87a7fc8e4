import { useNavigate, useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Page } from '../../app/page.js'
import { Tabs } from '../../ui/controls.js'
import { AgentTokens } from './agent-tokens.js'
import { DoctorChecks } from './doctor-checks.js'
import { OperatorList } from './operator-list.js'
import { PasskeyList } from './passkey-list.js'
import { PassphraseForm } from './passphrase-form.js'
import { PauseAgents } from './pause-agents.js'
import { PreferenceSwitches } from './preference-switches.js'
import { SessionList } from './session-list.js'
import { WebhookList } from './webhook-list.js'
import './settings.css'

const TABS = [
  {
    id: 'you',
    name: 'You',
    content: (
      <div className="set-columns">
        <div className="stack">
          <PasskeyList />
          <SessionList />
        </div>
        <div className="stack">
          <PassphraseForm />
          <PreferenceSwitches />
        </div>
      </div>
    ),
  },
  { id: 'operators', name: 'Operators', content: <OperatorList /> },
  {
    id: 'agents',
    name: 'Agents',
    content: (
      <div className="stack">
        <PauseAgents />
        <AgentTokens />
      </div>
    ),
  },
  { id: 'webhooks', name: 'Webhooks', content: <WebhookList /> },
  { id: 'server', name: 'Server', content: <DoctorChecks /> },
]

/** Who may do what here, what confirms a decision, and how the server is. */
export function SettingsPage(): ReactNode {
  const search = useSearch({ strict: false }) as { readonly tab?: unknown }
  const navigate = useNavigate()
  const tab = TABS.some(({ id }) => id === search.tab) ? String(search.tab) : 'you'
  return (
    <Page title="Settings">
      <Tabs
        label="Settings"
        value={tab}
        tabs={TABS}
        onChange={(id) => void navigate({ to: '/settings', search: { tab: id } as never, replace: true })}
      />
    </Page>
  )
}
