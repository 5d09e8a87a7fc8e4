import type { ReactNode } from 'react'
import { Page } from '../../app/page.js'
import { LoadingState } from '../../ui/states.js'

export function ContractPage(): ReactNode {
  return (
    <Page title="Contract">
      <LoadingState what="the contract" />
    </Page>
  )
}
