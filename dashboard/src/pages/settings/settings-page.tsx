import type { ReactNode } from 'react'
import { Page } from '../../app/page.js'
import { LoadingState } from '../../ui/states.js'

export function SettingsPage(): ReactNode {
  return (
    <Page title="Settings">
      <LoadingState what="the settings" />
    </Page>
  )
}
