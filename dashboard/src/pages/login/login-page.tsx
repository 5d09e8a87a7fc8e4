import { useQueryClient } from '@tanstack/react-query'
import { useRouter, useRouterState } from '@tanstack/react-router'
import { type ReactNode, useEffect, useState } from 'react'
import { getFarewell, logIn } from '../../api/session.js'
import { Brand } from '../../app/brand.js'
import { takeCode } from '../../app/login-code.js'
import { Button } from '../../ui/button.js'
import { Field } from '../../ui/controls.js'
import { ActionProblem, Note } from '../../ui/states.js'
import './login-page.css'

/** Takes a one-time code from the address, or an operator token that is pasted. */
export function LoginPage(): ReactNode {
  const client = useQueryClient()
  const router = useRouter()
  const address = useRouterState({ select: (state) => state.location.href })
  const [word, setWord] = useState('')
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<unknown>(null)
  const enter = async (secret: Parameters<typeof logIn>[0]): Promise<void> => {
    setBusy(true)
    setProblem(null)
    try {
      await logIn(secret)
      const back = takeBack()
      if (isLogin(address)) router.history.replace(back ?? '/')
    } catch (error) {
      setProblem(error)
      setWord('')
    }
    setBusy(false)
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: the code of the address is used once, when the page opens
  useEffect(() => {
    document.title = 'Log in · Phaselock'
    if (!isLogin(address)) sessionStorage.setItem(BACK, address)
    const code = takeCode()
    if (code !== null) void enter({ code })
  }, [client])
  return (
    <main className="login">
      <form
        className="login__box"
        onSubmit={(event) => {
          event.preventDefault()
          const given = word.trim()
          if (given !== '') void enter(given.startsWith('plop_') ? { operator_token: given } : { code: given })
        }}
      >
        <h1 className="login__brand h1">
          <Brand /> Phaselock
        </h1>
        <Farewell />
        <p className="soft">
          Open the link that <code className="in">phaselock login</code> prints, or paste its code or an operator token.
        </p>
        <Field
          label="Code or operator token"
          type="password"
          autoComplete="off"
          autoFocus
          value={word}
          onChange={(event) => setWord(event.target.value)}
        />
        <Button type="submit" look="primary" size="lg" wide busy={isBusy} disabled={word.trim() === ''}>
          Log in
        </Button>
        <ActionProblem error={problem} />
      </form>
    </main>
  )
}

// The link of `phaselock login` opens this page under its own address: what was asked for before it waits here.
const BACK = 'phaselock-back'

function takeBack(): string | null {
  const back = sessionStorage.getItem(BACK)
  sessionStorage.removeItem(BACK)
  return back
}

function isLogin(address: string): boolean {
  return /^\/login\b/.test(address)
}

function Farewell(): ReactNode {
  const farewell = getFarewell()
  if (farewell === null) return null
  return (
    <div role="status">
      {farewell === 'left' ? (
        <Note tone="neutral" icon="ok-circle" title="You are logged out" />
      ) : (
        <Note tone="pending" icon="clock" title="Your session has ended">
          It expired, was revoked, or was logged out elsewhere. Log in to go on where you were.
        </Note>
      )}
    </div>
  )
}
