import { Link, useRouterState } from '@tanstack/react-router'
import { type ReactNode, useEffect } from 'react'
import { useInbox } from '../api/inbox.js'
import { Button } from '../ui/button.js'
import { Brand } from './brand.js'
import { ConnectionMark } from './connection-mark.js'
import { ConnectionNote } from './connection-note.js'
import calmIcon from './icon.svg'
import waitingIcon from './icon-waiting.svg'
import { openKeys, openPalette } from './overlays.js'
import { switchTheme } from './preferences.js'

interface Props {
  /** The heading of the page, and the title of the tab. */
  readonly title: string
  /** The pages above this one. */
  readonly crumbs?: readonly { readonly name: string; readonly to: string }[]
  /** Main part and rail side by side. */
  readonly cols?: boolean
  readonly children: ReactNode
}

/** The frame of every page: top bar with heading and connection, then the content. */
export function Page({ title, crumbs = [], cols, children }: Props): ReactNode {
  useTitle(title)
  useFocusOnNewPage()
  return (
    <div className="main">
      <header className="top">
        <Link className="brand only-s" to="/" aria-label="Phaselock, inbox">
          <Brand />
        </Link>
        <div className="crumbs">
          {crumbs.map(({ name, to }) => (
            <span key={to} className="crumbs hide-s">
              <Link to={to}>{name}</Link> <span aria-hidden="true">/</span>
            </span>
          ))}
          <h1>{title}</h1>
        </div>
        <div className="top__end">
          <ConnectionMark />
          <span className="only-s">
            <Button look="ghost" icon="search" aria-label="Find or do" onClick={openPalette} />
          </span>
          <Button look="ghost" icon="theme" aria-label="Switch between light and dark" onClick={switchTheme} />
          <span className="hide-s">
            <Button
              look="ghost"
              className="btn--icon"
              aria-label="Show all keys"
              title="Show all keys"
              onClick={openKeys}
            >
              ?
            </Button>
          </span>
        </div>
      </header>
      <ConnectionNote />
      <main id="main" className={cols === true ? 'page page--cols' : 'page'} aria-label={title} tabIndex={-1}>
        {children}
      </main>
    </div>
  )
}

/** The title of the tab: how much waits, then where one is. Its icon has a dot while anything waits. */
export function useTitle(title: string): void {
  const { data } = useInbox()
  const waiting = data?.total ?? 0
  useEffect(() => {
    document.title = `${waiting === 0 ? '' : `(${waiting}) `}${title} · Phaselock`
    document.querySelector('link[rel=icon]')?.setAttribute('href', waiting === 0 ? calmIcon : waitingIcon)
  }, [title, waiting])
}

let shownPath: string | null = null

// What had the focus is gone with the page before, which may stay until the next one is loaded. Without this, Tab would
// begin at the top of the document again.
function useFocusOnNewPage(): void {
  const path = useRouterState({ select: (state) => state.location.pathname })
  useEffect(() => {
    const isMoved = shownPath !== null && (shownPath !== path || document.activeElement === document.body)
    if (isMoved) document.getElementById('main')?.focus({ preventScroll: true })
    shownPath = path
  }, [path])
}
