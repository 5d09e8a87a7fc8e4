import type { ReactNode } from 'react'
import { Page } from '../../app/page.js'
import { LoadingState } from '../../ui/states.js'

export function AuditPage(): ReactNode {
  return (
    <Page title="Audit">
      <LoadingState what="the ledger" />
    </Page>
  )
}
