import type { ReactNode } from 'react'
import { Page } from '../../app/page.js'
import { LoadingState } from '../../ui/states.js'

export function CouncilPage(): ReactNode {
  return (
    <Page title="Council">
      <LoadingState what="the council" />
    </Page>
  )
}
