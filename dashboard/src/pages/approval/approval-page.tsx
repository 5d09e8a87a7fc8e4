import type { ReactNode } from 'react'
import { Page } from '../../app/page.js'
import { LoadingState } from '../../ui/states.js'

export function ApprovalPage(): ReactNode {
  return (
    <Page title="Approval">
      <LoadingState what="the approval" />
    </Page>
  )
}
