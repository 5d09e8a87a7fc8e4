import type { ReactNode } from 'react'
import { Page } from '../../app/page.js'
import { LoadingState } from '../../ui/states.js'

export function ContractsPage(): ReactNode {
  return (
    <Page title="Contracts">
      <LoadingState what="the contracts" />
    </Page>
  )
}
