import type { ReactNode } from 'react'
import { Page } from '../../app/page.js'
import { LoadingState } from '../../ui/states.js'

export function TaskPage(): ReactNode {
  return (
    <Page title="Task">
      <LoadingState what="the task" />
    </Page>
  )
}
