import type { ReactNode } from 'react'
import { Page } from '../../app/page.js'
import { LoadingState } from '../../ui/states.js'

export function InboxPage(): ReactNode {
  return (
    <Page title="Inbox">
      <LoadingState what="what waits for you" />
    </Page>
  )
}
