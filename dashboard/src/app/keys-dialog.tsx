import type { ReactNode } from 'react'
import { Tick } from '../ui/controls.js'
import { Dialog } from '../ui/dialog.js'
import { closeOverlay } from './overlays.js'
import { setPreferences, usePreferences } from './preferences.js'
import { useAllShortcuts } from './shortcuts.js'

/** All keys that work on the page behind it. */
export function KeysDialog(): ReactNode {
  const shortcuts = useAllShortcuts()
  const { letterKeys } = usePreferences()
  const known = [...new Map(shortcuts.map((shortcut) => [shortcut.keys, shortcut])).values()]
  return (
    <Dialog title="Keys" wide onClose={closeOverlay}>
      <div className="keylist">
        {known.map(({ keys, does }) => (
          <div key={keys}>
            <span>{does}</span>
            <span className="nowrap">
              <Keys keys={keys} />
            </span>
          </div>
        ))}
        <div>
          <span>Close, leave a field</span>
          <kbd>Esc</kbd>
        </div>
      </div>
      <Tick checked={letterKeys} onChange={(checked) => setPreferences({ letterKeys: checked })}>
        Single letters are shortcuts
      </Tick>
    </Dialog>
  )
}

function Keys({ keys }: { readonly keys: string }): ReactNode {
  const [first, second] = keys.split(' ')
  return (
    <>
      <kbd>{first}</kbd>
      {second === undefined ? null : <kbd>{second}</kbd>}
    </>
  )
}
