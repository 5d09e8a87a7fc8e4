import { useQuery } from '@tanstack/react-query'
import { lazy, type ReactNode, Suspense } from 'react'
import { keys } from '../api/keys.js'
import { readSession, type Session } from '../api/session.js'
import { FailedState } from '../ui/states.js'
import { Layout } from './layout.js'
import { hasCode } from './login-code.js'

const LoginPage = lazy(() => import('../pages/login/login-page.js').then(({ LoginPage }) => ({ default: LoginPage })))

/** The page that was asked for, or the login page when nobody is logged in. */
export function Root(): ReactNode {
  const session = useQuery<Session | null>({ queryKey: keys.session, queryFn: readSession, staleTime: Infinity })
  if (session.data && !hasCode()) return <Layout session={session.data} />
  if (session.data === null || hasCode())
    return (
      <Suspense fallback={null}>
        <LoginPage />
      </Suspense>
    )
  if (session.error === null) return null
  return <FailedState what="The dashboard" error={session.error} onRetry={() => void session.refetch()} />
}
