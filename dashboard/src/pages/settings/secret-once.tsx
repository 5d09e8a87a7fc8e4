import { type ReactNode, useState } from 'react'
import { Button } from '../../ui/button.js'
import { Note } from '../../ui/states.js'

/** A token that is shown once: the server keeps only its hash. */
export function SecretOnce({ title, secret }: { readonly title: string; readonly secret: string }): ReactNode {
  const [isCopied, setCopied] = useState(false)
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(secret)
    setCopied(true)
  }
  return (
    <div role="status">
      <Note
        tone="pending"
        icon="lock"
        title={title}
        actions={
          <Button icon={isCopied ? 'check' : 'copy'} onClick={() => void copy()}>
            {isCopied ? 'Copied' : 'Copy'}
          </Button>
        }
      >
        <code className="set-secret">{secret}</code> Copy it now: it is not shown again.
      </Note>
    </div>
  )
}
