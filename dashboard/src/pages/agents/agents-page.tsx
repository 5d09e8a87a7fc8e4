import type { ReactNode } from 'react'
import { Page } from '../../app/page.js'
import { LoadingState } from '../../ui/states.js'

export function AgentsPage(): ReactNode {
  return (
    <Page title="Agents">
      <LoadingState what="the agents" />
    </Page>
  )
}
