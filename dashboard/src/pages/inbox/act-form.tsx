import { type ReactNode, useEffect, useRef, useState } from 'react'
import { Button, type ButtonProps } from '../../ui/button.js'
import { describeExcess, TextArea } from '../../ui/controls.js'
import { Note } from '../../ui/states.js'

interface Props {
  /** What the act will do, before it is done. */
  readonly says: ReactNode
  readonly field?: { readonly label: string; readonly placeholder?: string; readonly required?: boolean }
  readonly submit: string
  readonly look: ButtonProps['look']
  readonly busy: boolean
  /** What the server takes as the text; a reason where nothing else is said. */
  readonly charsMax?: number
  readonly more?: ReactNode
  readonly onSubmit: (text: string) => void
  readonly onCancel: () => void
}

/** Opens below the buttons of an item: says what will happen and asks for what the act needs. */
export function ActForm({
  says,
  field,
  submit,
  look,
  busy,
  charsMax = 2000,
  more,
  onSubmit,
  onCancel,
}: Props): ReactNode {
  const [text, setText] = useState('')
  const first = useRef<HTMLTextAreaElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  const form = useRef<HTMLFormElement>(null)
  const isUsable = describeExcess(text, charsMax) === null && (field?.required !== true || text.trim() !== '')
  useEffect(() => {
    const row = form.current?.closest<HTMLElement>('[data-row]') ?? null
    ;(first.current ?? button.current)?.focus()
    return () => returnFocus(row, submit)
  }, [submit])
  return (
    <form
      ref={form}
      className="actform"
      onSubmit={(event) => {
        event.preventDefault()
        if (isUsable) onSubmit(text.trim())
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape') onCancel()
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.requestSubmit()
      }}
    >
      <p className="soft">{says}</p>
      {more}
      {field === undefined ? null : (
        <TextArea
          ref={first}
          label={field.label}
          rows={2}
          charsMax={charsMax}
          required={field.required === true}
          placeholder={field.placeholder}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      )}
      <div className="acts">
        <Button ref={button} type="submit" look={look} busy={busy} disabled={!isUsable}>
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

/** Gives the focus back to the button that opened the form, or to the title of the row, once the form is gone. */
function returnFocus(row: HTMLElement | null, submit: string): void {
  setTimeout(() => {
    if (row === null || !row.isConnected || document.activeElement !== document.body) return
    const buttons = [...row.querySelectorAll<HTMLElement>('.acts button')]
    const opener = buttons.find((button) => button.textContent?.startsWith(submit)) ?? buttons[0]
    ;(opener ?? row.querySelector<HTMLElement>('.item__title a'))?.focus()
  }, 0)
}
