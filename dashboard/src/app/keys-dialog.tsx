import type { ReactNode } from 'react'
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
              {keys.split(' ').map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </span>
          </div>
        ))}
        <div>
          <span>Close, leave a field</span>
          <kbd>Esc</kbd>
        </div>
      </div>
      <label>
        <input
          type="checkbox"
          checked={letterKeys}
          onChange={(event) => setPreferences({ letterKeys: event.target.checked })}
        />{' '}
        Single letters are shortcuts
      </label>
    </Dialog>
  )
}
