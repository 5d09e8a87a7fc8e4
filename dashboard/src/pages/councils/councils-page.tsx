import type { ReactNode } from 'react'
import { Page } from '../../app/page.js'
import { LoadingState } from '../../ui/states.js'

export function CouncilsPage(): ReactNode {
  return (
    <Page title="Councils">
      <LoadingState what="the councils" />
    </Page>
  )
}
