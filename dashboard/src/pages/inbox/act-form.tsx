import { type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { Button, type ButtonProps } from '../../ui/button.js'
import { Note } from '../../ui/states.js'

interface Props {
  /** What the act will do, before it is done. */
  readonly says: ReactNode
  readonly field?: { readonly label: string; readonly placeholder?: string; readonly required?: boolean }
  readonly submit: string
  readonly look: ButtonProps['look']
  readonly busy: boolean
  readonly more?: ReactNode
  readonly onSubmit: (text: string) => void
  readonly onCancel: () => void
}

const TEXT_CHARS_MAX = 4000

/** Opens below the buttons of an item: says what will happen and asks for what the act needs. */
export function ActForm({ says, field, submit, look, busy, more, onSubmit, onCancel }: Props): ReactNode {
  const [text, setText] = useState('')
  const first = useRef<HTMLTextAreaElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  const id = useId()
  useEffect(() => (first.current ?? button.current)?.focus(), [])
  return (
    <form
      className="actform"
      onSubmit={(event) => {
        event.preventDefault()
        onSubmit(text.trim())
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape') onCancel()
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.requestSubmit()
      }}
    >
      <p className="soft">{says}</p>
      {more}
      {field === undefined ? null : (
        <label className="label" htmlFor={id}>
          {field.label}
          <textarea
            ref={first}
            id={id}
            className="field"
            rows={2}
            maxLength={TEXT_CHARS_MAX}
            required={field.required === true}
            placeholder={field.placeholder}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        </label>
      )}
      <div className="acts">
        <Button
          ref={button}
          type="submit"
          look={look}
          busy={busy}
          disabled={field?.required === true && text.trim() === ''}
        >
          {submit}
        </Button>
        <Button look="ghost" onClick={onCancel}>
          Cancel
        </Button>
      </div>
    </form>
  )
}

/** What an act did, in place of its buttons, until the item is gone. */
export function Done({ children }: { readonly children: string }): ReactNode {
  return (
    <div role="status">
      <Note tone="allowed" icon="check" title={children} />
    </div>
  )
}
