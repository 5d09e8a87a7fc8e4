import { type ReactNode, useEffect, useId, useRef } from 'react'
import { Button } from './button.js'

interface Props {
  readonly title: string
  readonly onClose: () => void
  readonly wide?: boolean
  readonly footer?: ReactNode
  /** Called when the form in the dialog is sent; the footer has a button of type submit. */
  readonly onSubmit?: () => void
  readonly children: ReactNode
}

/** A field to write into has the focus at first; otherwise the button that closes has it. */
const FIRST_FIELD = '.dialog__body input:not([type=checkbox], [type=radio])'

/**
 * A modal dialog, shown while it is rendered. It is the browser's own: the rest of the page is inert, Escape closes it,
 * the focus returns, and no style has to be injected, which the page's policy would refuse.
 */
export function Dialog({ title, onClose, wide, footer, onSubmit, children }: Props): ReactNode {
  const ref = useRef<HTMLDialogElement>(null)
  const heading = useId()
  useEffect(() => {
    const dialog = ref.current
    const before = document.activeElement
    dialog?.showModal()
    dialog?.querySelector<HTMLElement>(FIRST_FIELD)?.focus()
    return () => {
      dialog?.close()
      if (before instanceof HTMLElement) before.focus()
    }
  }, [])
  return (
    <dialog
      ref={ref}
      className={wide === true ? 'dialog dialog--wide' : 'dialog'}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
    >
      <form
        method="dialog"
        onSubmit={(event) => {
          event.preventDefault()
          onSubmit?.()
        }}
      >
        <header className="dialog__head">
          <h2 id={heading} className="h2">
            {title}
          </h2>
          <Button look="ghost" icon="close" aria-label="Close" onClick={onClose} />
        </header>
        <div className="dialog__body">{children}</div>
        {footer === undefined ? null : <footer className="dialog__foot">{footer}</footer>}
      </form>
    </dialog>
  )
}
