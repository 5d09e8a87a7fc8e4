import type { ReactNode } from 'react'
import { Page } from '../../app/page.js'
import { LoadingState } from '../../ui/states.js'

export function InsightsPage(): ReactNode {
  return (
    <Page title="Insights">
      <LoadingState what="the insights" />
    </Page>
  )
}
