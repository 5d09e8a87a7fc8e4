import type { ReactNode } from 'react'
import { Page } from '../../app/page.js'
import { LoadingState } from '../../ui/states.js'

export function AgentPage(): ReactNode {
  return (
    <Page title="Agent">
      <LoadingState what="the agent" />
    </Page>
  )
}
