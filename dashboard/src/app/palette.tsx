import type { ReactNode } from 'react'
import { Dialog } from '../ui/dialog.js'
import { closeOverlay } from './overlays.js'

export function Palette(): ReactNode {
  return (
    <Dialog title="Find or do" onClose={closeOverlay}>
      <p>Comes soon.</p>
    </Dialog>
  )
}
