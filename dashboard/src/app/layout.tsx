import { Link, Outlet, useNavigate } from '@tanstack/react-router'
import { lazy, type ReactNode, Suspense, useEffect } from 'react'
import { ConfirmDialog } from '../api/confirm-dialog.js'
import { useInbox } from '../api/inbox.js'
import { keys } from '../api/keys.js'
import { queryClient, type Session } from '../api/session.js'
import { useRead } from '../api/use-api.js'
import { startConnection } from '../live/connection.js'
import { refreshOnEvents } from '../live/invalidate.js'
import { Icon } from '../ui/icon.js'
import { Avatar } from '../ui/marks.js'
import { ShortcutHint } from '../ui/shortcut-hint.js'
import { Brand } from './brand.js'
import { closeOverlay, openKeys, openPalette, useOverlay } from './overlays.js'
import { PAGES, type PageEntry } from './page-list.js'
import { startShortcuts, useShortcuts } from './shortcuts.js'

const Palette = lazy(() => import('./palette.js').then(({ Palette }) => ({ default: Palette })))
const KeysDialog = lazy(() => import('./keys-dialog.js').then(({ KeysDialog }) => ({ default: KeysDialog })))

/** The frame around all pages of somebody who is logged in. */
export function Layout({ session }: { readonly session: Session }): ReactNode {
  const overlay = useOverlay()
  const navigate = useNavigate()
  useEffect(() => {
    const stops = [startConnection(), refreshOnEvents(queryClient), startShortcuts()]
    return () => {
      closeOverlay()
      for (const stop of stops) stop()
    }
  }, [])
  useShortcuts([
    { keys: '?', does: 'Show all keys', run: openKeys },
    { keys: '/', does: 'Find or do', run: openPalette },
    { keys: 'Ctrl K', does: 'Find or do', run: openPalette },
    ...PAGES.map(({ letter, name, to }) => ({
      keys: `g ${letter}`,
      does: `Go to ${name}`,
      run: () => void navigate({ to }),
    })),
  ])
  return (
    <>
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <div className="app">
        <Side session={session} />
        <Suspense fallback={<div className="main" />}>
          <Outlet />
        </Suspense>
      </div>
      <BottomBar />
      <ConfirmDialog />
      <Suspense fallback={null}>
        {overlay === 'palette' ? <Palette /> : null}
        {overlay === 'keys' ? <KeysDialog /> : null}
      </Suspense>
    </>
  )
}

function Side({ session }: { readonly session: Session }): ReactNode {
  const { name, role } = session.operator
  return (
    <aside className="side" aria-label="Phaselock">
      <Link className="brand" to="/">
        <Brand />
        Phaselock
      </Link>
      <button type="button" className="find" onClick={openPalette}>
        <Icon name="search" />
        Find or do
        <ShortcutHint keys="Ctrl K" />
      </button>
      <nav className="nav" aria-label="Pages">
        <PageGroup label="Work" group="work" />
        <PageGroup label="Record" group="record" />
      </nav>
      <div className="side__foot">
        <ServerState />
        <nav className="nav" aria-label="Settings">
          <PageGroup group="settings" />
        </nav>
        <Link className="who" to="/settings">
          <Avatar name={name} person />
          <span>
            <b className="cut">{name}</b>
            <small>
              {role ?? 'operator'}
              {session.passkeys > 0 ? ', passkey' : ''}
            </small>
          </span>
        </Link>
      </div>
    </aside>
  )
}

function PageGroup({ label, group }: { readonly label?: string; readonly group: PageEntry['group'] }): ReactNode {
  return (
    <div>
      {label === undefined ? null : <p className="nav__label">{label}</p>}
      <ul>
        {PAGES.filter((page) => page.group === group).map(({ to, name, icon }) => (
          <li key={to}>
            <Link to={to} activeOptions={{ exact: to === '/' }} activeProps={{ 'aria-current': 'page' }}>
              <Icon name={icon} />
              {name}
              {to === '/' ? <Waiting className="nav__n nav__n--wait" /> : null}
            </Link>
          </li>
        ))}
      </ul>
    </div>
  )
}

function Waiting({ className }: { readonly className: string }): ReactNode {
  const { data } = useInbox()
  if (data === undefined || data.total === 0) return null
  return (
    <span className={className}>
      <span className="sr">waiting: </span>
      {data.total}
    </span>
  )
}

interface Health {
  readonly status: string
  readonly enforcement_mode: string
}

function ServerState(): ReactNode {
  const { data } = useRead<Health>(keys.status, '/health', { refetchInterval: 60_000 })
  if (data === undefined) return null
  const isIntact = data.status === 'ok'
  return (
    <div className="side__state">
      <span className={isIntact ? undefined : 'bad'}>
        <Icon name={isIntact ? 'audit' : 'warn'} size={14} />
        {isIntact ? 'Ledger intact' : 'Ledger broken'}
      </span>
      <span>
        <Icon name="shield" size={14} />
        Enforcement {data.enforcement_mode}
      </span>
    </div>
  )
}

const BOTTOM: readonly string[] = ['/', '/board', '/agents', '/insights']

function BottomBar(): ReactNode {
  return (
    <nav className="bottom" aria-label="Pages">
      {PAGES.filter(({ to }) => BOTTOM.includes(to)).map(({ to, name, icon }) => (
        <Link key={to} to={to} activeOptions={{ exact: to === '/' }} activeProps={{ 'aria-current': 'page' }}>
          <Icon name={icon} />
          {name}
          {to === '/' ? <Waiting className="nav__n--wait" /> : null}
        </Link>
      ))}
      <button type="button" onClick={openPalette}>
        <Icon name="more" />
        More
      </button>
    </nav>
  )
}
