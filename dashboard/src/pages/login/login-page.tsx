import { useQueryClient } from '@tanstack/react-query'
import { useNavigate, useRouterState } from '@tanstack/react-router'
import { type ReactNode, useEffect, useState } from 'react'
import { logIn } from '../../api/session.js'
import { Brand } from '../../app/brand.js'
import { takeCode } from '../../app/login-code.js'
import { Button } from '../../ui/button.js'
import { Field } from '../../ui/controls.js'
import { ActionProblem } from '../../ui/states.js'
import './login-page.css'

/** Takes a one-time code from the address, or an operator token that is pasted. */
export function LoginPage(): ReactNode {
  const client = useQueryClient()
  const navigate = useNavigate()
  const path = useRouterState({ select: (state) => state.location.pathname })
  const [word, setWord] = useState('')
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<unknown>(null)
  const enter = async (secret: Parameters<typeof logIn>[0]): Promise<void> => {
    setBusy(true)
    setProblem(null)
    try {
      await logIn(secret)
      if (path === '/login') await navigate({ to: '/', replace: true })
    } catch (error) {
      setProblem(error)
      setWord('')
    }
    setBusy(false)
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: the code of the address is used once, when the page opens
  useEffect(() => {
    document.title = 'Log in · Phaselock'
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
