import type { ReactNode } from 'react'
import { type Preferences, setPreferences, usePreferences } from '../../app/preferences.js'
import { Segmented } from '../../ui/controls.js'
import { Panel } from '../../ui/layout-parts.js'

const THEMES: readonly { readonly value: Preferences['theme']; readonly name: string }[] = [
  { value: 'system', name: 'System' },
  { value: 'light', name: 'Light' },
  { value: 'dark', name: 'Dark' },
]

/** What this browser remembers: nothing of it is sent to the server. */
export function PreferenceSwitches(): ReactNode {
  const { theme, letterKeys } = usePreferences()
  return (
    <Panel title="This browser" sub="kept here only">
      <div className="stack">
        <div className="set-switch">
          <span>Theme</span>
          <Segmented
            label="Theme"
            value={theme}
            options={THEMES}
            onChange={(value) => setPreferences({ theme: value })}
          />
        </div>
        <label className="set-switch">
          <span>
            Single-letter keys
            <small className="muted">j, k, a, r, g i and others. Ctrl K and ? work either way.</small>
          </span>
          <input
            type="checkbox"
            checked={letterKeys}
            onChange={(event) => setPreferences({ letterKeys: event.target.checked })}
          />
        </label>
      </div>
    </Panel>
  )
}
