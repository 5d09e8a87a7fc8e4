import type { ReactNode } from 'react'
import { Page } from '../../app/page.js'
import { LoadingState } from '../../ui/states.js'

export function BoardPage(): ReactNode {
  return (
    <Page title="Board">
      <LoadingState what="the board" />
    </Page>
  )
}
