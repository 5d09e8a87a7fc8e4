import { createRootRoute, createRoute, createRouter, Link, lazyRouteComponent } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { toButtonClass } from '../ui/button.js'
import { EmptyState, FailedState } from '../ui/states.js'
import { Page } from './page.js'
import { Root } from './root.js'

const root = createRootRoute({ component: Root, notFoundComponent: NotFound, errorComponent: Broken })

const at = <P extends string>(path: P, load: () => Promise<Record<string, unknown>>, name: string) =>
  createRoute({
    getParentRoute: () => root,
    path,
    component: lazyRouteComponent(load as () => Promise<Record<string, () => ReactNode>>, name),
  })

/** Every page is loaded when it is opened for the first time. */
const routes = root.addChildren([
  at('/', () => import('../pages/inbox/inbox-page.js'), 'InboxPage'),
  at('/login', () => import('../pages/inbox/inbox-page.js'), 'InboxPage'),
  at('/board', () => import('../pages/board/board-page.js'), 'BoardPage'),
  at('/tasks/$id', () => import('../pages/task/task-page.js'), 'TaskPage'),
  at('/approvals/$id', () => import('../pages/approval/approval-page.js'), 'ApprovalPage'),
  at('/agents', () => import('../pages/agents/agents-page.js'), 'AgentsPage'),
  at('/agents/$id', () => import('../pages/agents/agent-page.js'), 'AgentPage'),
  at('/coordinations', () => import('../pages/councils/councils-page.js'), 'CouncilsPage'),
  at('/coordinations/$id', () => import('../pages/councils/council-page.js'), 'CouncilPage'),
  at('/contracts', () => import('../pages/contracts/contracts-page.js'), 'ContractsPage'),
  at('/contracts/$hash', () => import('../pages/contracts/contract-page.js'), 'ContractPage'),
  at('/audit', () => import('../pages/audit/audit-page.js'), 'AuditPage'),
  at('/insights', () => import('../pages/insights/insights-page.js'), 'InsightsPage'),
  at('/settings', () => import('../pages/settings/settings-page.js'), 'SettingsPage'),
])

export const router = createRouter({ routeTree: routes, defaultPreload: 'intent', scrollRestoration: true })

function NotFound(): ReactNode {
  return (
    <Page title="Not found">
      <EmptyState
        icon="search"
        title="There is no such page"
        actions={
          <Link className={toButtonClass({})} to="/">
            Open the inbox
          </Link>
        }
      >
        The address may be mistyped, or what it showed is gone. Press / to find something.
      </EmptyState>
    </Page>
  )
}

function Broken({ error, reset }: { readonly error: unknown; readonly reset: () => void }): ReactNode {
  return (
    <Page title="Error">
      <FailedState what="This page" error={error} onRetry={reset} />
    </Page>
  )
}
